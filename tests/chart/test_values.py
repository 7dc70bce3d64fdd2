"""What single values do: secrets, names, what repeats the chart's own, shards, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.collectors import discover
from exporter.config.loader import load
from exporter.scheduling.sharding import shard_of
from tests.chart.engine import (
    CHART,
    FULLNAME,
    KEY,
    NAMESPACE,
    NONE,
    ONE,
    SCAN,
    TOKEN,
    Object,
    Values,
    configuration,
    container,
    ledger,
    pod,
    refusal,
    render,
    targets,
    texts,
    the,
)


def variables(objects: list[Object]) -> dict[str, Any]:
    given = {each["name"]: each.get("value", each.get("valueFrom")) for each in container(objects)["env"]}
    assert given.pop("CANTON_EXPORTER_WEB__LISTEN_ADDRESS") == ":10066"
    return given


def test_without_values_it_watches_a_simulated_network_and_says_so() -> None:
    assert container(render({}))["args"][0] == "demo"
    assert "SIMULATED" in texts({})["NOTES.txt"]


@pytest.mark.parametrize("wire", ["serviceMonitor", "podMonitor", "probe", "prometheusRule"])
def test_a_simulated_network_alarms_nobody_unless_that_is_said(wire: str) -> None:
    assert "config.targets: there is no node to watch" in refusal({wire: {"enabled": True}})
    if wire != "probe":
        assert container(render({"demo": True, wire: {"enabled": True}}))["args"][0] == "demo"


def test_two_targets_with_one_secret_mount_it_once() -> None:
    objects = render(targets(one=ledger(auth=TOKEN), two=ledger(auth=TOKEN)))
    [volume] = [each for each in pod(objects)["volumes"] if each["name"] == "exporter-secrets"]
    [source] = volume["projected"]["sources"]
    items = [{"key": "token", "path": "participant-token/token"}]
    assert source["secret"] == {"name": "participant-token", "optional": True, "items": items}
    for target in configuration(objects)["targets"].values():
        assert target["auth"] == {
            "type": "bearer",
            "token_file": "/etc/canton-exporter/secrets/participant-token/token",
        }


def test_keys_of_one_secret_and_equal_keys_of_two_are_told_apart() -> None:
    other = {"type": "bearer", "secretKeyRef": {"name": "participant-token", "key": "other"}}
    third = {"type": "bearer", "secretKeyRef": {"name": "validator-token", "key": "token"}}
    objects = render(targets(one=ledger(auth=TOKEN), two=ledger(auth=other), three=ledger(auth=third)))
    [volume] = [each for each in pod(objects)["volumes"] if each["name"] == "exporter-secrets"]
    paths = [item["path"] for source in volume["projected"]["sources"] for item in source["secret"]["items"]]
    assert sorted(paths) == ["participant-token/other", "participant-token/token", "validator-token/token"]


def test_headers_and_addresses_that_are_secret_are_read_from_files_too() -> None:
    target = ledger(url={"secretKeyRef": {"name": "scan", "key": "url"}}, headers={"X-API-Key": KEY, "accept": "a"})
    objects = render(targets(my_node=target))
    assert configuration(objects)["targets"] == {
        "my-node": {
            "kind": "ledger",
            "url_file": "/etc/canton-exporter/secrets/scan/url",
            "headers": {"accept": "a"},
            "header_files": {"X-API-Key": "/etc/canton-exporter/secrets/gateway/api-key"},
        }
    }
    assert variables(objects) == {}
    [volume] = [each for each in pod(objects)["volumes"] if each["name"] == "exporter-secrets"]
    assert volume["projected"]["sources"] == [
        {"secret": {"name": name, "optional": True, "items": [{"key": key, "path": f"{name}/{key}"}]}}
        for name, key in (("gateway", "api-key"), ("scan", "url"))
    ]


def test_secrets_may_be_said_for_all_targets_at_once() -> None:
    defaults = {"auth": TOKEN, "headers": {"X-API-Key": KEY}, "header_files": {"X-Team": "/run/team"}}
    objects = render({"config": {"defaults": defaults, "targets": {"one": ledger()}}})
    told = configuration(objects)["defaults"]
    assert told["auth"]["token_file"].endswith("/participant-token/token")
    assert told["header_files"] == {"X-API-Key": "/etc/canton-exporter/secrets/gateway/api-key", "X-Team": "/run/team"}


def test_a_token_may_come_from_elsewhere() -> None:
    variable = {"name": "CANTON_EXPORTER_TARGETS__ONE__AUTH__TOKEN", "valueFrom": {"secretKeyRef": {}}}
    bearer = targets(one=ledger(auth={"type": "bearer"}))
    assert render(bearer | {"extraEnv": [variable]})
    assert render({"config": {**bearer["config"], "defaults": {"auth": TOKEN}}})


def test_all_targets_may_come_from_elsewhere() -> None:
    values = {"demo": False, "config": {"targets": None}, "extraEnvFrom": [{"secretRef": {"name": "targets"}}]}
    objects = render(values)
    assert "It watches what its variables say" in texts(values)["NOTES.txt"]
    assert "networkPolicy.egress.ports: name the targets' ports" in refusal(
        values | {"networkPolicy": {"enabled": True}}
    )
    assert configuration(objects) == {}
    assert container(objects)["args"][0] == "--config.file=/etc/canton-exporter/config/exporter.yaml"


def test_a_collector_may_be_switched_off_or_have_its_options_in_parts() -> None:
    shared = {"ledger_completions": {"enabled": False, "options": {"user": "u"}}, "traffic": {}}
    own = {"ledger_completions": {"enabled": True, "options": {"parties": ["p"]}}}
    assert render({"config": {"defaults": {"collectors": shared}, "targets": {"a": ledger(collectors=own)}}})
    assert render(targets(a=ledger(collectors={"ledger_completions": {"enabled": False}})))


def test_notes_tell_whose_nodes_get_the_token_of_all() -> None:
    two = {"mine": ledger(), "theirs": SCAN | {"role": "observed"}, "public": SCAN | {"role": "observed", "auth": NONE}}
    notes = texts({"config": {"defaults": {"auth": TOKEN}, "targets": two}})["NOTES.txt"]
    assert "The secrets of config.defaults are sent to theirs too" in notes
    assert "are sent to" not in texts({"config": {"targets": two}})["NOTES.txt"]
    both = {"config": {"defaults": {"headers": {"X-Api-Key": KEY}}, "targets": two}}
    assert "The secrets of config.defaults are sent to public, theirs too" in texts(both)["NOTES.txt"]


def test_what_is_empty_is_not_said() -> None:
    auth = {"type": "bearer", "token": "", "secretKeyRef": TOKEN["secretKeyRef"]}
    told = configuration(render(targets(one={"kind": "ledger", "url": "", "url_file": "/u", "auth": auth})))
    assert told["targets"]["one"].keys() == {"kind", "url_file", "auth"}
    assert "token" not in told["targets"]["one"]["auth"]


def test_a_grace_of_nothing_is_said() -> None:
    assert pod(render({"terminationGracePeriodSeconds": 0}))["terminationGracePeriodSeconds"] == 0


def test_what_repeats_an_own_variable_volume_or_mount_wins() -> None:
    own = "CANTON_EXPORTER_WEB__ROUTE_PREFIX"
    extra = {
        "extraEnv": [{"name": own, "value": "mine"}, {"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
        "extraVolumes": [{"name": "exporter-config", "emptyDir": {}}],
        "extraVolumeMounts": [{"name": "exporter-config", "mountPath": "/etc/canton-exporter/config"}],
    }
    objects = render(ONE | {"web": {"routePrefix": "/a"}} | extra)
    assert variables(objects) == {own: "mine", "A": "2"}
    assert container(objects)["env"][1:] == [{"name": own, "value": "mine"}, {"name": "A", "value": "2"}]
    assert pod(objects)["volumes"] == extra["extraVolumes"]
    assert container(objects)["volumeMounts"] == extra["extraVolumeMounts"]


def test_a_variable_may_use_one_before_it() -> None:
    env = [{"name": "HOST", "value": "a"}, {"name": "URL", "value": "http://$(HOST)"}]
    assert [each["name"] for each in container(render({"extraEnv": env}))["env"]][-2:] == ["HOST", "URL"]


def test_security_contexts_can_be_left_to_the_cluster() -> None:
    objects = render({"podSecurityContext": None, "securityContext": None})
    assert "securityContext" not in pod(objects)
    assert "securityContext" not in container(objects)
    assert "securityContext" not in the(objects, "Pod")["spec"]


def test_a_part_of_a_security_context_can_be_left_to_the_cluster() -> None:
    none = {"runAsUser": None, "runAsGroup": None, "fsGroup": None}
    context = pod(render({"podSecurityContext": none}))["securityContext"]
    assert context == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


@pytest.mark.parametrize("key", ["nameOverride", "fullnameOverride"])
def test_names_of_63_characters_leave_room_for_what_is_added(key: str) -> None:
    values = targets(one=ledger()) | {key: "n" * 63, "shards": 3, "probe": {"enabled": True}, "web": {"tlsSecret": "t"}}
    objects = render(values, release="r" * 53)
    names = [each["metadata"]["name"] for each in objects if each["kind"] not in ("ConfigMap", "Probe")]
    assert max(map(len, names)) <= 63
    statefulset = the(objects, "StatefulSet")
    # A pod's revision label is its StatefulSet's name and a hash of ten characters.
    assert len(statefulset["metadata"]["name"]) <= 52
    assert len({each["metadata"]["name"] for each in objects if each["kind"] == "Service"}) == 2


def test_service_links_cannot_become_settings() -> None:
    assert pod(render({}))["enableServiceLinks"] is False
    assert the(render({}), "Pod")["spec"]["enableServiceLinks"] is False


def test_no_pod_gets_a_token_of_the_cluster() -> None:
    objects = render({})
    assert pod(objects)["automountServiceAccountToken"] is False
    assert the(objects, "ServiceAccount")["automountServiceAccountToken"] is False


def test_a_single_pod_is_replaced_and_never_doubled() -> None:
    spec = the(render(ONE), "Deployment")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


@pytest.mark.parametrize("strategy", [{"type": "RollingUpdate"}, {"type": None}, None])
def test_another_strategy_never_doubles_it_either(strategy: Values | None) -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    assert the(render({"strategy": strategy}), "Deployment")["spec"]["strategy"] == rolling


def test_a_strategy_of_ones_own_is_taken_as_it_is() -> None:
    own = {"type": None, "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    assert the(render({"strategy": own}), "Deployment")["spec"]["strategy"] == own | {"type": "RollingUpdate"}


def test_a_name_that_is_cut_at_hyphens_ends_in_none() -> None:
    objects = render(ONE | {"shards": 2}, release=f"{'a' * 50}---b")
    assert not [each for each in objects if each["metadata"]["name"].endswith("-")]


def test_shards_know_their_number_by_their_name() -> None:
    objects = render(ONE | {"shards": 3})
    statefulset = the(objects, "StatefulSet")
    assert statefulset["spec"]["replicas"] == 3
    assert statefulset["spec"]["serviceName"] == f"{FULLNAME}-shards"
    assert variables(objects) == {
        "CANTON_EXPORTER_SHARD": {"fieldRef": {"fieldPath": "metadata.name"}},
        "CANTON_EXPORTER_TOTAL_SHARDS": "3",
    }
    assert not [each for each in objects if each["kind"] == "Deployment"]


def test_each_shard_is_probed_for_its_own_targets() -> None:
    names = [f"node-{number}" for number in range(20)]
    values = {"config": {"targets": dict.fromkeys(names, SCAN)}, "shards": 4, "probe": {"enabled": True}}
    asked = {}
    for each in render(values):
        if each["kind"] == "Probe":
            for target in each["spec"]["targets"]["staticConfig"]["static"]:
                asked[target] = each["spec"]["prober"]["url"]
    assert asked == {name: f"{FULLNAME}-{shard_of(name, 4)}.{FULLNAME}-shards.{NAMESPACE}.svc:10066" for name in names}


def test_the_exporters_own_example_of_every_setting_is_a_value(tmp_path: Path) -> None:
    example = yaml.safe_load((CHART.parents[1] / "exporter.example.yaml").read_text())
    file = tmp_path / "exporter.yaml"
    file.write_text(yaml.safe_dump(configuration(render({"config": example}))))
    assert load(file, discover()) == load(CHART.parents[1] / "exporter.example.yaml", discover())


def test_the_configuration_is_a_template() -> None:
    objects = render(targets(one=ledger(url="http://{{ .Release.Name }}.{{ .Release.Namespace }}:7575")))
    assert configuration(objects)["targets"]["one"]["url"] == "http://watch.canton:7575"


def test_large_numbers_and_odd_texts_arrive_as_they_are() -> None:
    aliases = {"bank::1220abcd": "yes", "other: party": "1e3", "Ünïcode::1220": "08"}
    target = ledger(collectors={"ledger_updates": {"max_series": 10_000_000}})
    objects = render({"config": {"aliases": aliases, "targets": {"one": target}}})
    assert configuration(objects) == {"aliases": aliases, "targets": {"one": target}}


def test_a_change_of_the_configuration_restarts_nothing_unless_that_is_wanted() -> None:
    def annotations(**more: Any) -> Any:
        return the(render(targets(one=ledger(**more)) | reload), "Deployment")["spec"]["template"]["metadata"][
            "annotations"
        ]

    reload: dict[str, Any] = {}
    assert annotations() == annotations(network="mainnet")
    reload = {"autoReload": {"enabled": False}}
    assert annotations() != annotations(network="mainnet")


def test_with_a_certificate_everything_speaks_https() -> None:
    values = ONE | {"web": {"tlsSecret": "tls"}, "serviceMonitor": {"enabled": True}, "probe": {"enabled": True}}
    objects = render(values)
    assert container(objects)["livenessProbe"]["httpGet"]["scheme"] == "HTTPS"
    [endpoint] = the(objects, "ServiceMonitor")["spec"]["endpoints"]
    assert (endpoint["scheme"], endpoint["tlsConfig"]) == ("https", {"insecureSkipVerify": True})
    assert the(objects, "Probe")["spec"]["prober"]["scheme"] == "https"
    assert the(objects, "Pod")["spec"]["containers"][0]["args"][1].startswith("https://")
    assert variables(objects)["CANTON_EXPORTER_WEB__CONFIG__FILE"] == "/etc/canton-exporter/web/web-config.yml"


def allowed_hosts(values: Values) -> list[str]:
    args = container(render({**ONE, **values}))["args"]
    return [each.partition("=")[2] for each in args if each.startswith("--web.allowed-host=")]


def test_the_status_page_is_shown_under_the_names_of_ingress_and_route_and_those_that_are_allowed() -> None:
    hosts = ["tools.example", "{{ .Release.Namespace }}.example"]
    route = {"enabled": True, "parentRefs": [{"name": "gateway"}], "hostnames": ["tools.example", "*.lab.example"]}
    assert allowed_hosts({}) == []
    assert allowed_hosts({"ingress": {"hosts": hosts}}) == []
    assert allowed_hosts({"ingress": {"enabled": True, "hosts": hosts}, "web": {"allowedHosts": ["a.example"]}}) == [
        "a.example",
        "tools.example",
        "canton.example",
    ]
    assert allowed_hosts({"httpRoute": route}) == ["tools.example", "*.lab.example"]


def test_a_prefix_is_before_every_path() -> None:
    values = ONE | {
        "web": {"routePrefix": "canton/", "telemetryPath": "/m"},
        "podMonitor": {"enabled": True},
        "probe": {"enabled": True},
        "ingress": {"enabled": True},
    }
    objects = render(values)
    assert container(objects)["readinessProbe"]["httpGet"]["path"] == "/canton/-/ready"
    assert the(objects, "PodMonitor")["spec"]["podMetricsEndpoints"][0]["path"] == "/canton/m"
    assert the(objects, "Probe")["spec"]["prober"]["path"] == "/canton/probe"
    assert the(objects, "Ingress")["spec"]["rules"][0]["http"]["paths"][0]["path"] == "/canton"


def test_a_probe_of_ones_own_replaces_the_charts_handler() -> None:
    own = {"livenessProbe": {"tcpSocket": {"port": "http"}, "failureThreshold": 9}}
    assert container(render(own))["livenessProbe"] == {
        "tcpSocket": {"port": "http"},
        "periodSeconds": 15,
        "timeoutSeconds": 5,
        "failureThreshold": 9,
    }


def test_the_network_policy_opens_the_ports_of_the_targets() -> None:
    named = targets(
        one=ledger(),
        two=ledger(url="https://b.example/api"),
        three=ledger(url="http://[2001:db8::1]:08080/api"),
        four=ledger(url="http://user.example"),
    )
    objects = render(named | {"networkPolicy": {"enabled": True, "egress": {"ports": [3128]}}})
    dns, asked = the(objects, "NetworkPolicy")["spec"]["egress"]
    assert {port["port"] for port in dns["ports"]} == {53, 5353}
    assert {port["port"] for port in asked["ports"]} == {7575, 443, 8080, 80, 3128}
    assert "to" not in asked


def test_a_secret_that_is_missing_is_no_fault_of_the_configuration(tmp_path: Path) -> None:
    values = targets(one=ledger(url={"secretKeyRef": {"name": "a", "key": "b"}}, auth=TOKEN), two=ledger())
    file = tmp_path / "exporter.yaml"
    file.write_text(yaml.safe_dump(configuration(render(values))))
    assert list(load(file, discover()).targets) == ["one", "two"]


def test_notes_make_each_secret_with_one_command() -> None:
    key = {"secretKeyRef": {"name": "participant-token", "key": "api-key"}}
    notes = texts(targets(one=ledger(auth=TOKEN, headers={"X-API-Key": key}), two=ledger(auth=TOKEN)))["NOTES.txt"]
    [command] = [line for line in notes.splitlines() if "create secret" in line]
    assert command.strip() == (
        f"kubectl -n {NAMESPACE} create secret generic participant-token"
        " --from-file=api-key=FILE --from-file=token=FILE"
    )


def test_the_path_of_the_external_address_is_before_every_path_too() -> None:
    objects = render(
        ONE | {"web": {"externalUrl": "https://tools.example/canton"}, "serviceMonitor": {"enabled": True}}
    )
    assert container(objects)["livenessProbe"]["httpGet"]["path"] == "/canton/-/healthy"
    assert the(objects, "ServiceMonitor")["spec"]["endpoints"][0]["path"] == "/canton/metrics"


@pytest.mark.parametrize("own", [{"ca": {}, "insecureSkipVerify": False}, {"serverName": "a"}], ids=str)
def test_what_an_operator_says_of_tls_is_not_weakened(own: Values) -> None:
    monitor = {"enabled": True, "endpoint": {"tlsConfig": own}}
    probe = {"enabled": True, "spec": {"tlsConfig": own}}
    objects = render(ONE | {"web": {"tlsSecret": "t"}, "serviceMonitor": monitor, "probe": probe})
    assert the(objects, "ServiceMonitor")["spec"]["endpoints"][0]["tlsConfig"] == own
    assert the(objects, "Probe")["spec"]["tlsConfig"] == own


def test_a_probe_tells_prometheus_nothing_that_would_alarm_twice() -> None:
    spec = the(render(ONE | {"probe": {"enabled": True}}), "Probe")["spec"]
    assert spec["metricRelabelings"] == [{"sourceLabels": ["__name__"], "regex": "probe_.+", "action": "keep"}]


@pytest.mark.parametrize("release", ["123", "1e3", "yes", "null", "my.release"])
def test_names_that_look_like_something_else_stay_names(release: str) -> None:
    everything = {"shards": 2, "serviceAccount": {"name": "123"}, "ingress": {"enabled": True, "className": "on"}}
    for each in render(ONE | everything, release=release):
        assert isinstance(each["metadata"]["name"], str)
        assert each["metadata"]["labels"]["app.kubernetes.io/instance"] == release
        if each["kind"] == "Service":
            assert each["spec"]["selector"]["app.kubernetes.io/instance"] == release
            assert "." not in each["metadata"]["name"]
    assert pod(render(ONE | everything, release=release))["serviceAccountName"] == "123"


def test_what_is_in_a_namespace_of_others_has_the_releases_own_in_its_name() -> None:
    elsewhere = {"enabled": True, "namespace": "monitoring"}
    objects = render(ONE | {"serviceMonitor": elsewhere, "prometheusRule": elsewhere, "dashboards": elsewhere})
    foreign = [each for each in objects if each["metadata"]["namespace"] == "monitoring"]
    assert len(foreign) == 8
    assert all(each["metadata"]["name"].startswith(f"{NAMESPACE}-{FULLNAME}") for each in foreign)


def test_the_pod_of_helm_test_is_none_of_the_exporters_and_may_ask_it() -> None:
    policy = {"enabled": True, "ingress": {"from": [{"podSelector": {"matchLabels": {"app": "prometheus"}}}]}}
    objects = render(ONE | {"networkPolicy": policy, "podDisruptionBudget": {"enabled": True}})
    labels = the(objects, "Pod")["metadata"]["labels"]
    for kind in ("Service", "PodDisruptionBudget", "NetworkPolicy"):
        spec = the(objects, kind)["spec"]
        chosen = spec.get("podSelector", spec.get("selector"))
        assert not chosen.get("matchLabels", chosen).items() <= labels.items()
    peers = the(objects, "NetworkPolicy")["spec"]["ingress"][0]["from"]
    assert [each["podSelector"]["matchLabels"].items() <= labels.items() for each in peers] == [False, True]


def test_a_spread_with_a_selector_of_its_own_keeps_it() -> None:
    own = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
    assert pod(render({"topologySpreadConstraints": [own]}))["topologySpreadConstraints"] == [own]


def test_options_may_be_said_for_all_targets_and_the_interval_for_one() -> None:
    options = {"collectors": {"acs": {"options": {"templates": ["a:B:C"]}}}}
    render({"config": {"defaults": options, "targets": {"scan": SCAN | {"collectors": {"acs": {"interval": "1h"}}}}}})


def test_the_chart_can_be_a_part_of_another_that_switches_it() -> None:
    assert render({"enabled": True, "global": {"imageRegistry": "", "other": {"things": 1}}})


@pytest.mark.parametrize(
    "taken",
    [
        {"image": {"tag": None, "registry": None}},
        {"web": {"tlsSecret": None, "routePrefix": None, "scheme": None}},
        {"nameOverride": None, "resources": None, "extraEnv": None, "commonLabels": None, "livenessProbe": None},
        {"global": {"imagePullSecrets": None, "imageRegistry": None}, "imagePullSecrets": None, "strategy": None},
        {"config": {"targets": None}, "existingConfig": {"configMap": None, "secret": None}},
    ],
    ids=str,
)
def test_a_default_can_be_taken_away(taken: Values) -> None:
    assert render(taken)
