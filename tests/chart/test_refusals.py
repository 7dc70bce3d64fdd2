"""What the chart refuses, each in one sentence, and what it does not take for a secret."""

import pytest

from tests.chart.engine import KEY, ONE, SCAN, TOKEN, Values, configuration, ledger, refusal, render, targets

REFUSED: dict[str, tuple[Values, str]] = {
    "a typo": ({"podSecurityContex": {}}, "additional properties 'podSecurityContex' not allowed"),
    "a typo deep inside": (
        targets(a=ledger(collectors={"ledger_offsets": {"intervall": "3s"}})),
        "at '/config/targets/a/collectors/ledger_offsets': additional properties 'intervall' not allowed",
    ),
    "a collector of another kind": (
        targets(a=ledger(collectors={"acs": {}})),
        "at '/config/targets/a/collectors': additional properties 'acs' not allowed",
    ),
    "a kind that is none": (
        targets(a={"kind": "leger", "url": "http://a"}),
        "at '/config/targets/a/kind': value must be",
    ),
    "no kind": (targets(a={"url": "http://a"}), "at '/config/targets/a': missing property 'kind'"),
    "no address": (targets(a={"kind": "scan"}), "config.targets.a.url: it is missing"),
    "a number for a duration": (
        targets(a=ledger(timeout=3)),
        "at '/config/targets/a/timeout': got number, want string",
    ),
    "a duration that is none": (
        targets(a=ledger(timeout="3 seconds")),
        "at '/config/targets/a/timeout': '3 seconds' does not match pattern",
    ),
    "a token in the open": (
        targets(a=ledger(auth={"type": "bearer", "token": "abc"})),
        "config.targets.a.auth.token: everybody who can read the ConfigMap could read it",
    ),
    "a secret without its key": (
        targets(a=ledger(auth={"type": "bearer", "secretKeyRef": {"name": "a"}})),
        "at '/config/targets/a/auth/secretKeyRef': missing property 'key'",
    ),
    "a secret of no name": (
        targets(a=ledger(auth={"type": "bearer", "secretKeyRef": {"name": "A b", "key": "k"}})),
        "at '/config/targets/a/auth/secretKeyRef/name': 'A b' does not match pattern",
    ),
    "a key that is a path": (
        targets(a=ledger(headers={"X-Key": {"secretKeyRef": {"name": "a", "key": "../k"}}})),
        "at '/config/targets/a/headers/X-Key/secretKeyRef/key': '../k' does not match pattern",
    ),
    "two tokens": (
        targets(a=ledger(auth=TOKEN | {"token_file": "/t"})),
        "config.targets.a.auth: it has a secretKeyRef and a token_file; keep one of them",
    ),
    "a token twice": (
        targets(a=ledger(auth=TOKEN, headers={"Authorization": KEY})),
        "config.targets.a.auth: the header Authorization is sent too; keep one of them",
    ),
    "a header twice": (
        targets(a=ledger(headers={"X-Key": KEY, "x-key": KEY})),
        "config.targets.a.headers.x-key: the same header is there as X-Key; keep one of them",
    ),
    "a header in the open": (
        targets(a=ledger(headers={"Authorization": "Bearer abc"})),
        "config.targets.a.headers.Authorization: everybody who can read the ConfigMap could read it",
    ),
    "a password in an address": (
        targets(a=ledger(url="http://me:secret@node")),
        "config.targets.a.url: everybody who can read the ConfigMap could read it",
    ),
    "a password with a slash in an address": (
        targets(a=ledger(url="http://me:se/cret@node")),
        "config.targets.a.url: everybody who can read the ConfigMap could read it",
    ),
    "a port that is none": (targets(a=ledger(url="http://node:75750")), "config.targets.a.url: there is no port 75750"),
    "a bearer of nothing for all": (
        {"config": {"defaults": {"auth": {"type": "bearer"}}, "targets": {"a": ledger(auth=TOKEN)}}},
        "config.defaults.auth: a bearer needs its token",
    ),
    "an address without http": (
        targets(a=ledger(url="participant:7575")),
        "config.targets.a.url: it is not an address of a node; write http://host:port/path",
    ),
    "a label that others lack": (
        targets(a=ledger(labels={"team": "ops"}), b=ledger()),
        "config.targets.b.labels: the label team is missing; a has it, and all targets need the same",
    ),
    "a label of the exporter's own": (
        targets(a=ledger(labels={"party": "ops"})),
        "config.targets.a.labels.party: this label name is reserved",
    ),
    "a collector without its options": (
        targets(a=ledger(collectors={"ledger_completions": {}})),
        "config.targets.a.collectors.ledger_completions.options.parties: it is missing",
    ),
    "a collector without its options for all": (
        {"config": {"defaults": {"collectors": {"traffic": {"enabled": True}}}, "targets": {"a": SCAN}}},
        "config.targets.a.collectors.traffic.options.members: it is missing; docs/collectors/traffic.md says",
    ),
    "a token twice by the defaults": (
        {"config": {"defaults": {"headers": {"authorization": KEY}}, "targets": {"a": ledger(auth=TOKEN)}}},
        "config.targets.a.auth: the header authorization is sent too; keep one of them",
    ),
    "a header in a file and a Secret": (
        targets(a=ledger(headers={"X-Key": KEY}, header_files={"x-key": "/k"})),
        "config.targets.a.headers.X-Key: the same header is there as x-key; keep one of them",
    ),
    "an address in two places": (
        targets(a=ledger(url={"secretKeyRef": {"name": "a", "key": "b"}}, url_file="/u")),
        "config.targets.a.url: there is a url_file too; keep one of them",
    ),
    "no token, beside a variable of something else": (
        targets(a=ledger(auth={"type": "bearer"})) | {"extraEnv": [{"name": "HTTPS_PROXY", "value": "http://p"}]},
        "config.targets.a.auth: a bearer needs its token",
    ),
    "a secret whose name a template spoils": (
        targets(a=ledger(url={"secretKeyRef": {"name": '{{ "../a" }}', "key": "k"}})),
        "config.targets.a.url.secretKeyRef: with its templates filled in it names no key of a Secret",
    ),
    "no address, beside a variable for something else": (
        targets(a={"kind": "ledger"}) | {"extraEnv": [{"name": "CANTON_EXPORTER_DEFAULTS__NETWORK", "value": "m"}]},
        "config.targets.a.url: it is missing",
    ),
    "settings for nobody": ({"config": {"party_labels": "short"}}, "config.targets: there is no node to watch"),
    "targets among the variables": (
        {"extraEnv": [{"name": "CANTON_EXPORTER_TARGETS__A__KIND", "value": "scan"}]},
        "config.targets: there is no node to watch; if variables name the targets, set demo to false",
    ),
    "a page where another is": (
        ONE | {"web": {"telemetryPath": "/probe"}},
        "web.telemetryPath: /probe is already used",
    ),
    "a certificate without TLS": (
        ONE | {"web": {"tlsSecret": "a", "scheme": "http"}},
        "web.scheme: with a tlsSecret it speaks https",
    ),
    "an external path that no address has": (
        ONE | {"web": {"externalUrl": "https://a//b"}},
        "at '/web/externalUrl'",
    ),
    "a time of nothing": (targets(a=ledger(timeout="0s")), "at '/config/targets/a/timeout'"),
    "an address with a part that is never asked": (
        targets(a=ledger(url="http://node/#part")),
        "config.targets.a.url: it is not an address of a node; write http://host:port/path",
    ),
    "a bearer without a token": (
        targets(a=ledger(auth={"type": "bearer"})),
        "config.targets.a.auth: a bearer needs its token",
    ),
    "a token that is not sent": (
        targets(a=ledger(auth=TOKEN | {"type": "none"})),
        "config.targets.a.auth: it has a token and says type: none; write type: bearer",
    ),
    "a target with a space in its name": ({"config": {"targets": {"a b": SCAN}}}, "a b"),
    "a demo beside nodes": (ONE | {"demo": True}, "demo: nodes are configured, which a demo does not watch"),
    "settings beside another's": (
        {"existingConfig": {"secret": "b"}, "config": {"party_labels": "short"}},
        "config: an existingConfig is used instead; put party_labels there",
    ),
    "a probe of nobody": (
        ONE | {"probe": {"enabled": True, "targets": ["scna"]}},
        "probe.targets: no target is called scna in config.targets; there are scan",
    ),
    "a route to nowhere": ({"httpRoute": {"enabled": True}}, "httpRoute.parentRefs: name a gateway"),
    "a number for a variable": ({"extraEnv": [{"name": "A", "value": 1}]}, "at '/extraEnv/0/value': got number"),
    "a path that is another's": ({"web": {"routePrefix": "a b"}}, "at '/web/routePrefix'"),
    "a threshold that was taken away": (
        {"prometheusRule": {"thresholds": {"packagesIgnored": None}}},
        "missing property 'packagesIgnored'",
    ),
    "a threshold that is none": (
        {"prometheusRule": {"thresholds": {"ledgerLag": 3}}},
        "at '/prometheusRule/thresholds': additional properties 'ledgerLag' not allowed",
    ),
    "a threshold in words": (
        {"prometheusRule": {"thresholds": {"ledgerLagHigh": "60s"}}},
        "at '/prometheusRule/thresholds/ledgerLagHigh': got string, want number",
    ),
    "an alert that is none": (
        {"prometheusRule": {"alerts": {"CantonNodeDow": False}}},
        "at '/prometheusRule/alerts': additional properties 'CantonNodeDow' not allowed",
    ),
    "two monitors": (
        ONE | {"serviceMonitor": {"enabled": True}, "podMonitor": {"enabled": True}},
        "at '/podMonitor/enabled': value must be false",
    ),
    "no shard": ({"shards": 0}, "at '/shards': minimum: got 0, want 1"),
    "shards of a demo": ({"shards": 2}, "shards: a demo is one pod"),
    "two configurations": (
        {"existingConfig": {"configMap": "a", "secret": "b"}},
        "existingConfig: it names a configMap and a secret; keep one of them",
    ),
    "a configuration beside another's": (
        ONE | {"existingConfig": {"secret": "b"}},
        "config.targets: an existingConfig is used instead; keep one of them",
    ),
    "ports that nobody knows": (
        {"existingConfig": {"secret": "b"}, "networkPolicy": {"enabled": True}},
        "networkPolicy.egress.ports: name the targets' ports, as an existingConfig does not tell them",
    ),
    "targets that nobody knows": (
        {"existingConfig": {"secret": "b"}, "probe": {"enabled": True}},
        "probe.targets: name the targets to be asked",
    ),
    "a label that is a number": ({"commonLabels": {"a": 1}}, "at '/commonLabels/a': got number, want string"),
    "a section that was taken away": ({"service": None}, "missing property 'service'"),
    "a broken template": (targets(a=ledger(url="http://{{ .Releas.Name }}")), "Releas"),
}


@pytest.mark.parametrize(("values", "words"), [pytest.param(*each, id=name) for name, each in REFUSED.items()])
def test_what_cannot_be_is_refused_in_one_sentence(values: Values, words: str) -> None:
    assert words in refusal(values)


@pytest.mark.parametrize(
    "header",
    [
        "Accept",
        "X-Request-Id",
        "X-Team-Monkey",
        "X-Keyspace",
        "X-Author",
        "Sec-CH-UA",
        "X-Canary",
        "X-Turnkey",
        "X-Path",
    ],
)
def test_a_header_that_is_no_secret_may_be_written(header: str) -> None:
    assert configuration(render(targets(one=ledger(headers={header: "a"}))))["targets"]["one"]["headers"] == {
        header: "a"
    }


@pytest.mark.parametrize(
    "header",
    [
        *("authorization", "Proxy-Authorization", "Cookie", "X-API-Key", "apikey", "x_api_key", "X-Functions-Key"),
        *("Ocp-Apim-Subscription-Key", "X-Auth-Token", "X-Auth", "Api-Secret", "Key", "CF-Access-Client-Secret"),
        *("XApiKey", "X-API-Key-V2", "X.API.Key", "XAuthorization", "Cookie2", "X-Session-Id", "X-Private-Key"),
        *("X-Key", "X-AuthToken", "X-ClientSecret", "X-Passwd", "X-Api-Pass", "X-Bearer", "X-Pat"),
        *("X-Iap-Jwt-Assertion", "X-Jwt"),
    ],
)
def test_a_header_that_looks_like_a_secret_is_refused(header: str) -> None:
    said = refusal(targets(one=ledger(headers={header: "a"})))
    assert f"config.targets.one.headers.{header}: everybody who can read the ConfigMap could read it" in said


@pytest.mark.parametrize(
    "value",
    ["participant:S3CR3T@host:7575", "ftp://u:S3CR3T@h", "http://u:S3CR3T@h/{{ 1 }}", "S3CR3T", "http://S3CR3T b"],
)
def test_an_address_that_is_refused_is_not_repeated(value: str) -> None:
    assert "S3CR3T" not in refusal(targets(a=ledger(url=value)))


@pytest.mark.parametrize(
    "said",
    [
        {"auth": {"type": "bearer", "token": "S3CR3T{{"}},
        {"headers": {"X-API-Key": "S3CR3T"}, "network": "{{ bad"},
        {"url": "http://u:S3CR3T@h/{{ bad"},
    ],
)
def test_a_secret_is_refused_before_a_wrong_template_could_repeat_it(said: Values) -> None:
    assert "S3CR3T" not in refusal(targets(a=ledger(**said)))
