"""Configuration: YAML and the environment become settings, or one sentence for each thing that is wrong."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import Field, SecretStr

from exporter.collectors import discover
from exporter.config.defaults import DEFAULT_FILE
from exporter.config.loader import Settings, load
from exporter.config.models import BearerAuth, Budget, Kind, NoAuth, Strict
from exporter.config.sources import is_written, merge, nearest
from exporter.errors import WrongConfiguration

SECRET = "hunter2"
PREFIX = "CANTON_EXPORTER_"
NO_TARGETS = "exporter.yaml: targets: no node is configured; write its name, and below it kind and url"
NO_DURATION = "is not a duration; write one above zero as Prometheus does, such as 15s, 500ms or 1h30m"


class Lookback(Strict):
    lookback: int = 10_000


class Parties(Strict):
    parties: list[str] = Field(min_length=1)


@dataclass(frozen=True)
class FakeCollector:
    """A collector as far as settings know it."""

    name: str
    kinds: frozenset[Kind]
    options: type[Strict] = Strict
    interval: timedelta = timedelta(seconds=15)
    timeout: timedelta = timedelta(seconds=5)
    on_by_default: bool = True
    on_for_observed: bool = True


TAKEN = "this label name is reserved; choose another"

QUESTIONS: Mapping[str, FakeCollector] = {
    question.name: question
    for question in (
        FakeCollector("health", frozenset(Kind)),
        FakeCollector("features", frozenset({Kind.SCAN})),
        FakeCollector("counts", frozenset({Kind.SCAN}), on_for_observed=False),
        FakeCollector("offsets", frozenset({Kind.LEDGER}), Lookback),
        FakeCollector("costly", frozenset({Kind.LEDGER}), on_by_default=False),
        FakeCollector("names", frozenset({Kind.VALIDATOR}), Parties, timedelta(minutes=5), on_by_default=False),
    )
}

Read = Callable[[str], Settings]
Errors = Callable[[str], list[str]]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Return a function that gives the settings of a text, written into exporter.yaml."""
    monkeypatch.chdir(tmp_path)

    def read(text: str) -> Settings:
        path = Path("exporter.yaml")
        path.write_text(text, encoding="utf-8")
        flags = ["CANTON_EXPORTER_LOG__LEVEL"]
        return load(path, QUESTIONS, taken_labels=["target", "network", "role", "party"], flags=flags)

    return read


@pytest.fixture
def errors(read: Read) -> Errors:
    """Return a function that gives all that is wrong with a text; each error is one line."""

    def errors(text: str) -> list[str]:
        with pytest.raises(WrongConfiguration) as refused:
            read(text)
        assert refused.value.errors
        assert not [error for error in refused.value.errors if len(error.splitlines()) != 1]
        return list(refused.value.errors)

    return errors


def node(said: str = "", kind: str = "ledger") -> str:
    """Return a text with one target `a`, and what else it says in a YAML flow."""
    return f"targets: {{a: {{kind: {kind}, url: 'http://node', {said}}}}}\n"


def nodes(said: list[str]) -> str:
    """Return a text with a target for each of what is said: `t0`, `t1` and so on."""
    lines = [f"  t{number}: {{kind: ledger, url: 'http://node', {each}}}\n" for number, each in enumerate(said)]
    return "targets:\n" + "".join(lines)


# What is read


def test_a_target_needs_only_a_kind_and_a_url(read: Read) -> None:
    settings = read("targets:\n  my-node:\n    kind: ledger\n    url: http://node/\n")
    assert (settings.party_labels, settings.aliases, settings.budget) == ("full", {}, Budget(rate=5, burst=10))
    [(name, target)] = settings.targets.items()
    assert (name, target.kind, target.url) == ("my-node", Kind.LEDGER, "http://node")
    assert {name: (s.interval, s.timeout, s.max_series) for name, s in target.collector_configs.items()} == {
        "health": (timedelta(seconds=15), timedelta(seconds=5), 500),
        "offsets": (timedelta(seconds=15), timedelta(seconds=5), 500),
    }


def test_all_that_can_be_said_is_read(read: Read) -> None:
    settings = read(
        """
        party_labels: short
        aliases: {"alice::12": alice}
        budget: {rate: 2.5, burst: 3}
        targets:
          participant.1:
            kind: ledger
            url: https://node:5003/api/json-api/
            network: mainnet
            role: observed
            labels: {team: 7, zone: eu}
            auth: {type: bearer, token_file: /run/token}
            headers: {X-Key: 12, Y: b}
            timeout: 500ms
            collectors:
              health: {enabled: false}
              offsets:
                interval: 1m
                timeout: 2m
                stale_after: 1h
                max_series: 3
                options: {lookback: 5}
        """
    )
    assert (settings.party_labels, settings.aliases) == ("short", {"alice::12": "alice"})
    assert settings.budget == Budget(rate=2.5, burst=3)
    target = settings.targets["participant.1"]
    assert (target.url, target.network, target.role) == ("https://node:5003/api/json-api", "mainnet", "observed")
    assert (target.labels, target.timeout) == ({"team": "7", "zone": "eu"}, timedelta(milliseconds=500))
    assert target.auth == BearerAuth(type="bearer", token_file=Path("/run/token"))
    assert target.headers == {"X-Key": SecretStr("12"), "Y": SecretStr("b")}
    [(name, config)] = target.collector_configs.items()
    assert (name, config.interval, config.timeout) == ("offsets", timedelta(minutes=1), timedelta(minutes=2))
    assert (config.stale_after, config.max_series) == (timedelta(hours=1), 3)
    assert config.options == Lookback(lookback=5)


def test_a_targets_own_settings_win_over_the_defaults_key_by_key(read: Read) -> None:
    settings = read(
        """
        defaults:
          network: testnet
          timeout: 3s
          labels: {team: x, zone: eu}
          collectors:
            health: {interval: 30s, timeout: 20s}
            offsets: {options: {lookback: 7}}
        targets:
          a: {kind: ledger, url: http://a, network: mainnet, labels: {zone: us}, collectors: {health: {interval: 1m}}}
          b: {kind: scan, role: own, url: http://b}
        """
    )
    a, b = settings.targets["a"], settings.targets["b"]
    assert (a.network, b.network) == ("mainnet", "testnet")
    assert (a.timeout, b.timeout) == (timedelta(seconds=3), timedelta(seconds=3))
    assert (a.labels, b.labels) == ({"team": "x", "zone": "us"}, {"team": "x", "zone": "eu"})
    config = a.collector_configs["health"]
    assert (config.interval, config.timeout) == (timedelta(minutes=1), timedelta(seconds=20))
    assert a.collector_configs["offsets"].options == Lookback(lookback=7)
    assert sorted(b.collector_configs) == ["counts", "features", "health"]


def test_authorization_can_be_a_default(read: Read) -> None:
    assert read(node() + "defaults: {auth: {type: bearer, token: t}}").targets["a"].auth.type == "bearer"


def test_a_target_can_do_without_the_default_authorization(read: Read) -> None:
    settings = read(node("auth: {type: none}") + "defaults: {auth: {type: bearer, token: t}}")
    assert settings.targets["a"].auth == NoAuth()


def test_a_target_that_says_bearer_and_no_more_gets_the_default_token(read: Read) -> None:
    settings = read(node("auth: {type: bearer}") + "defaults: {auth: {type: bearer, token_file: /t}}")
    assert settings.targets["a"].auth == BearerAuth(type="bearer", token_file=Path("/t"))


def test_a_targets_own_token_wins_over_the_default_one(read: Read) -> None:
    settings = read(node("auth: {type: bearer, token: t}") + "defaults: {auth: {type: bearer, token_file: /t}}")
    assert settings.targets["a"].auth == BearerAuth(type="bearer", token=SecretStr("t"))


def test_a_collector_that_needs_an_option_is_off_until_it_has_it(read: Read) -> None:
    assert list(read(node(kind="validator")).targets["a"].collector_configs) == ["health"]
    target = read(node("collectors: {names: {options: {parties: [p]}}}", "validator")).targets["a"]
    assert target.collector_configs["names"].options == Parties(parties=["p"])
    assert target.collector_configs["names"].interval == timedelta(minutes=5)


def test_a_collector_that_is_switched_off_needs_no_option(read: Read, errors: Errors) -> None:
    off = "collectors: {names: {enabled: false, interval: 5s}}"
    assert list(read(node(off, "validator")).targets["a"].collector_configs) == ["health"]
    assert errors(node("collectors: {names: {enabled: false, intervl: 5s}}", "validator")) == [
        "exporter.yaml:1: targets.a.collectors.names.intervl: no such setting; did you mean interval?"
    ]


def test_it_may_get_the_option_from_the_defaults(read: Read) -> None:
    text = "defaults: {collectors: {names: {options: {parties: [p]}}}}\n"
    assert "names" in read(text + node(kind="validator")).targets["a"].collector_configs
    assert "names" not in read(text + node()).targets["a"].collector_configs


def test_targets_that_differ_in_their_collectors_only_are_the_same_target(read: Read) -> None:
    one = read(node("collectors: {health: {interval: 1s}}")).targets["a"]
    other = read(node("timeout: 9s")).targets["a"]
    assert one.target_config == other.target_config
    assert one != other
    assert one.target_config != read(node("timeout: 11s")).targets["a"].target_config


def test_a_collector_that_is_off_is_turned_on_by_being_mentioned(read: Read) -> None:
    assert "costly" not in read(node()).targets["a"].collector_configs
    assert "costly" in read(node("collectors: {costly: {}}")).targets["a"].collector_configs
    assert "costly" not in read(node("collectors: {costly: {enabled: false}}")).targets["a"].collector_configs


def test_numbers_are_fine_where_names_are_wanted(read: Read) -> None:
    assert list(read("targets: {1: {kind: scan, role: own, url: 'http://node', network: 5}}").targets) == ["1"]


def test_anchors_and_merge_keys_are_yaml(read: Read) -> None:
    settings = read(
        """
        targets:
          a: &a {kind: scan, role: own, url: http://a}
          b: {<<: *a, url: http://b}
          c: *a
        """
    )
    assert {name: target.url for name, target in settings.targets.items()} == {
        "a": "http://a",
        "b": "http://b",
        "c": "http://a",
    }


# What is refused


def test_says_all_that_is_wrong_at_once(errors: Errors) -> None:
    assert errors(
        """
        party_lables: short
        budget: {rate: 0, rates: 1}
        defaults:
          kind: scan
          role: own
          timeout: 3
          collectors:
            helth: {}
            offsets: {options: {lookbak: 3}}
        targets:
          a:
            kind: ledger
            url: ftp://node
            urll: x
            rol: own
            auth: {type: bearer, token: x, tokenfile: y}
            labels: {te-am: x}
            collectors:
              helth: {}
              features: {}
              health: {intervl: 15s, interval: 3, max_series: 0}
              offsets: {options: {lookback: x}}
          b: {kind: lager, url: node, network: []}
          c: {kind: validator, collectors: {names: {interval: 3s}}}
        """
    ) == [
        "exporter.yaml:3: budget.rate: must be more than 0",
        "exporter.yaml:3: budget.rates: no such setting; did you mean rate?",
        "exporter.yaml:2: party_lables: no such setting; did you mean party_labels?",
        f"exporter.yaml:7: defaults.timeout: {NO_DURATION}",
        "exporter.yaml:10: defaults.collectors.offsets.options.lookbak: no such setting; did you mean lookback?",
        "exporter.yaml:9: defaults.collectors.helth: no such collector; did you mean health?",
        "exporter.yaml:5: defaults.kind: set it in each target, not in defaults",
        "exporter.yaml:14: targets.a.url: is not an address of a node; write one as https://host[:port][/path]",
        "exporter.yaml:18: targets.a.labels.te-am: is not a label name; "
        "use letters, digits and _; it must not begin with __ or a digit",
        "exporter.yaml:17: targets.a.auth.tokenfile: no such setting; did you mean token_file?",
        f"exporter.yaml:22: targets.a.collectors.health.interval: {NO_DURATION}",
        "exporter.yaml:22: targets.a.collectors.health.max_series: must be 1 or more",
        "exporter.yaml:22: targets.a.collectors.health.intervl: no such setting; did you mean interval?",
        "exporter.yaml:23: targets.a.collectors.offsets.options.lookback: must be a whole number",
        "exporter.yaml:15: targets.a.urll: no such setting; did you mean url?",
        "exporter.yaml:16: targets.a.rol: no such setting; did you mean role?",
        "exporter.yaml:20: targets.a.collectors.helth: no such collector; did you mean health?",
        "exporter.yaml:21: targets.a.collectors.features: works only with targets of kind scan; this one is a ledger",
        "exporter.yaml:24: targets.b.kind: must be one of scan, ledger, validator, participant (the same as ledger)",
        "exporter.yaml:24: targets.b.url: is not an address of a node; write one as https://host[:port][/path]",
        "exporter.yaml:24: targets.b.network: must be text",
        "exporter.yaml:25: targets.c.url: is missing; write url or url_file",
        "exporter.yaml:25: targets.c.collectors.names.options.parties: is missing",
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", NO_TARGETS),
        ("# nothing yet\n", NO_TARGETS),
        ("targets: {}", NO_TARGETS.replace("yaml:", "yaml:1:")),
        ("targets: {a: }", "exporter.yaml:1: targets.a: is not a mapping; write kind and url below it"),
        ("targets: {a: [x]}", "exporter.yaml:1: targets.a: is not a mapping; write kind and url below it"),
        (
            "targets: {a: {kind: [x], url: 'http://n'}}",
            "exporter.yaml:1: targets.a.kind: must be one of scan, ledger, validator, participant (the same as ledger)",
        ),
        (
            "targets: {a: {url: 'http://n'}}",
            "exporter.yaml:1: targets.a.kind: is missing; "
            "write one of scan, ledger, validator, participant (the same as ledger)",
        ),
        ("- targets", "exporter.yaml: must be a mapping of settings, such as targets:"),
        ("targets", "exporter.yaml: must be a mapping of settings, such as targets:"),
        ("a: 1\na: 2", "exporter.yaml:2: the key a appears twice"),
        (
            "targets:\n  a:\n    kind: scan\n    kind: scan\n",
            "exporter.yaml:4: the key kind appears twice",
        ),
        ("targets: {1: {}, '1': {}}", "exporter.yaml:1: the key 1 appears twice"),
        ("a: 1\n---\nb: 2", "exporter.yaml:2: is not YAML: but found another document"),
        ("a:\n\tb: 1", "exporter.yaml:2: is not YAML: found character '\\t' that cannot start any token"),
        (node("auth: {type: basic}"), "exporter.yaml:1: targets.a.auth: needs a type: none or bearer"),
        (node("auth: {token: t}"), "exporter.yaml:1: targets.a.auth: needs a type: none or bearer"),
        (
            node("auth: {type: bearer}"),
            "exporter.yaml:1: targets.a.auth: needs exactly one of token and token_file",
        ),
        (
            node("header_files: {X: 5}"),
            "exporter.yaml:1: targets.a.header_files.X: must be the path of a file",
        ),
        (
            node('header_files: {X: "a\\0b"}'),
            "exporter.yaml:1: targets.a.header_files.X: must be the path of a file",
        ),
        (
            node('header_files: {X: "a\\nb"}'),
            "exporter.yaml:1: targets.a.header_files.X: must be the path of a file",
        ),
        (
            node(
                "auth: {type: bearer, token: t}, headers: {Authorization: a, X: b}, header_files: {x: /c}, url_file: /d"
            ),
            "exporter.yaml:1: targets.a: needs exactly one of url and url_file; has more than one authorization; "
            "keep one of auth, a user in the url, the header Authorization; has the header x 2 times; keep one",
        ),
        (node("timeout: 15"), f"exporter.yaml:1: targets.a.timeout: {NO_DURATION}"),
        (node("timeout: 1:30"), f"exporter.yaml:1: targets.a.timeout: {NO_DURATION}"),
        (node("timeout: "), f"exporter.yaml:1: targets.a.timeout: {NO_DURATION}"),
        (node("network: true"), "exporter.yaml:1: targets.a.network: must be text"),
        (
            node("labels: {party: x}"),
            f"exporter.yaml:1: targets.a.labels.party: {TAKEN}",
        ),
        (
            node("collectors: {names: {options: {parties: [p]}}}"),
            "exporter.yaml:1: targets.a.collectors.names: "
            "works only with targets of kind validator; this one is a ledger",
        ),
        (
            node("collectors: {names: {}}", "validator"),
            "exporter.yaml:1: targets.a.collectors.names.options.parties: is missing",
        ),
        (
            node("collectors: {health: {options: {x: 1}}}"),
            "exporter.yaml:1: targets.a.collectors.health.options.x: no such setting",
        ),
        (
            "targets: {a b: {kind: scan, role: own, url: 'http://n'}}",
            "exporter.yaml:1: targets.a b: is not a valid name; use only letters, digits and - _ . :",
        ),
    ],
)
def test_says_where_and_what_would_be_right(errors: Errors, text: str, error: str) -> None:
    assert errors(text) == [error]


def test_what_the_defaults_are_at_fault_for_is_said_once(errors: Errors) -> None:
    targets = "targets: {a: {kind: validator, url: 'http://a'}, b: {kind: ledger, url: 'http://b', timeout: 3s}}\n"
    assert errors(targets + "defaults: {timeout: 3}") == [f"exporter.yaml:2: defaults.timeout: {NO_DURATION}"]


def test_all_targets_have_the_same_labels(errors: Errors) -> None:
    assert errors(
        """
        targets:
          a: {kind: scan, role: own, url: http://a, labels: {team: x, zone: eu}}
          b: {kind: scan, role: own, url: http://b, labels: {team: y}}
        """
    ) == [
        "exporter.yaml:4: targets.b.labels: "
        "the label zone is missing; other targets have it, and all need the same names"
    ]


def test_what_a_target_has_wrong_hides_nothing_of_the_defaults(errors: Errors) -> None:
    targets = "targets: {a: {kind: validator, url: 'http://a', network: []}}\n"
    assert errors(targets + "defaults: {collectors: {names: {}}}") == [
        "exporter.yaml:1: targets.a.network: must be text",
        "exporter.yaml:2: targets.a.collectors.names.options.parties: is missing",
    ]


def test_labels_may_come_from_the_defaults(read: Read) -> None:
    assert read(node("labels: {team: x}") + "defaults: {labels: {zone: eu}}").targets["a"].labels == {
        "zone": "eu",
        "team": "x",
    }


def test_a_misspelt_collector_of_another_kind_is_told_as_such(errors: Errors) -> None:
    assert errors(node("role: own, collectors: {feature: {}}", "scan")) == [
        "exporter.yaml:1: targets.a.collectors.feature: no such collector; did you mean features?"
    ]


def test_a_target_that_is_authorized_twice_is_refused(errors: Errors) -> None:
    assert errors(node("auth: {type: bearer, token: t}, headers: {Authorization: Basic x}")) == [
        "exporter.yaml:1: targets.a: has more than one authorization; "
        "keep one of auth, a user in the url, the header Authorization"
    ]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("team: team", "targets.a.team: no such setting"),
        ("ledger: x", "targets.a.ledger: no such setting; did you mean headers?"),
        ("timeout: timeout", f"targets.a.timeout: {NO_DURATION}"),
        ("role: role", "targets.a.role: must be own or observed"),
        ("auth: {type: bearer, token: t, bearer: x}", "targets.a.auth.bearer: no such setting"),
    ],
)
def test_a_key_that_is_also_a_value_is_found_all_the_same(errors: Errors, said: str, error: str) -> None:
    assert errors(node(said)) == [f"exporter.yaml:1: {error}"]


@pytest.mark.parametrize(
    "text",
    [
        node("collectors: {health: }"),
        node("auth: "),
        node() + "defaults:",
        node() + "budget:",
        "targets: [a]",
    ],
)
def test_a_section_without_content_is_told_in_words_of_yaml(errors: Errors, text: str) -> None:
    assert not [error for error in errors(text) if "dictionary" in error or "instance of" in error]


# Files that are none


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(WrongConfiguration) as refused:
        load(path, QUESTIONS)
    assert refused.value.errors == (
        f"{path}: cannot be read (No such file or directory); name the file with --config.file",
    )


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(WrongConfiguration) as refused:
        load(tmp_path, QUESTIONS)
    assert refused.value.errors == (f"{tmp_path}: cannot be read (Is a directory); name the file with --config.file",)


def test_a_pipe_is_no_configuration_and_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(WrongConfiguration) as refused:
        load(path, QUESTIONS)
    assert refused.value.errors == (
        f"{path}: cannot be read (it is not a regular file); name the file with --config.file",
    )


def test_a_huge_file_is_no_configuration_and_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    path.write_text(PLAIN)
    os.truncate(path, 2**40)
    with pytest.raises(WrongConfiguration) as refused:
        load(path, QUESTIONS)
    said = "cannot be read (it is larger than 1048576 bytes); name the file with --config.file"
    assert refused.value.errors == (f"{path}: {said}",)


def test_a_file_of_other_bytes_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "exporter.yaml"
    path.write_bytes(b"targets: \xff\xfe")
    with pytest.raises(WrongConfiguration) as refused:
        load(path, QUESTIONS)
    assert refused.value.errors == (f"{path}: is not UTF-8 text",)


def bomb(levels: int) -> str:
    lines = ["x0: &x0 {k: v}"]
    for level in range(1, levels):
        lines.append(f"x{level}: &x{level} {{" + ", ".join(f"k{key}: *x{level - 1}" for key in range(9)) + "}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "a: {",
        "a: 'b",
        "a: *b",
        "a: &a {k: *a}",
        "targets: &a {a: *a}",
        "defaults: &a {collectors: *a}",
        "a: !foo x",
        "a: !!python/object/apply:os.system [id]",
        "a: !!python/name:os.system x",
        "a: !!binary é",
        "!!set {a, b}",
        "targets: !!set {a, b}",
        "targets: !!omap [a: {}]",
        "a: =",
        "<<: [1]",
        "a: {<<: {x: 1}, <<: {y: 2}}",
        "[" * 500,
        "{a: " * 500,
        bomb(12),
        "%YAML 3.0\n---\na: 1",
        'a: "\0"',
        "\ufefftargets: {}",
        "a\u2028b: 1",
        "targets: [[a]]",
        "targets: text",
        "targets: false",
        "targets: {null: {}}",
        "targets: {2020-01-01: {}}",
        "targets: {'': {}}",
        "model_config: 1",
        "_x: 1",
        node() + "defaults: [a]",
        node() + "defaults: {1: 2}",
        node() + "defaults: {collectors: {1: 2}}",
        node() + "budget: [1]",
        node() + "budget: {rate: .nan}",
        node() + "aliases: [1]",
        node() + "party_labels: [full]",
    ],
    ids=lambda text: repr(text[:30]),
)
def test_whatever_was_written_is_answered_in_sentences(errors: Errors, text: str) -> None:
    assert all(error.startswith(("exporter.yaml: ", "exporter.yaml:")) for error in errors(text))


ODD = [
    "model_fields: 1, collector_configs: 2, target: 3",
    "collectors: {model_fields: {}, copy: {}}",
    "collectors: {1: {}}",
    "collectors: [health]",
    "collectors: {health: true}",
    "collectors: {health: {max_series: .inf}}",
    "collectors: {health: {max_series: 1e400}}",
    "headers: {true: x}",
    "labels: {'[key]': x}",
    "auth: {type: {a: b}}",
    "auth: [bearer]",
    "timeout: {a: b}",
]


def test_each_odd_target_is_answered_in_sentences(errors: Errors) -> None:
    told = errors(nodes(ODD))
    for number in range(len(ODD)):
        assert any(error.startswith(f"exporter.yaml:{number + 2}: targets.t{number}.") for error in told), ODD[number]


@pytest.mark.parametrize("text", ["? [a, b]\n: 1", "{[a]: 1}", "targets: {{a: b}: {}}", "a: !!map [b]"])
def test_a_key_that_is_no_scalar_is_answered_in_a_sentence(errors: Errors, text: str) -> None:
    assert errors(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "9" * 5000,
        "a: 2020-99-99",
        "a: 0x_",
        "a: !!int x",
        "a: !!int ''",
        "a: !!float x",
        "a: !!bool x",
        "a: !!timestamp x",
    ],
    ids=lambda text: repr(text[:30]),
)
def test_a_value_that_yaml_cannot_make_is_answered_in_a_sentence(errors: Errors, text: str) -> None:
    assert errors(text)


@pytest.mark.parametrize("text", [node() + "1: 2", node() + "on: 2"])
def test_a_key_at_the_top_that_is_no_text_is_answered_in_a_sentence(errors: Errors, text: str) -> None:
    assert len(errors(text)) == 1


@pytest.mark.parametrize("text", ["targets: 3", "targets: true"])
def test_targets_that_are_a_number_are_answered_in_a_sentence(errors: Errors, text: str) -> None:
    assert errors(text)


def test_mappings_that_hold_themselves_are_answered_in_a_sentence(errors: Errors) -> None:
    assert errors("defaults: {labels: &a {x: *a}}\n" + node("labels: &b {x: *b}"))


@pytest.mark.parametrize(
    "text",
    [
        r'"a\nforged": 1',
        r'targets: {"a\nforged": {}}',
        r'targets: {"a\L": {}}',
        r'"a\e[2J": 1',
        r'{"a\nb": 1, "a\nb": 2}',
    ],
)
def test_a_key_can_forge_no_error(errors: Errors, text: str) -> None:
    assert all(error.isprintable() for error in errors(text))


@pytest.mark.parametrize("said", [r'network: "\ud800"', r'labels: {team: "\ud800"}'])
def test_a_label_that_no_page_can_hold_is_refused(errors: Errors, said: str) -> None:
    assert len(errors(node(said))) == 1


# The environment


def test_the_environment_is_laid_over_the_file(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS__A__TIMEOUT", "3s")
    monkeypatch.setenv(PREFIX + "TARGETS__A__LABELS__ZONE", "eu")
    monkeypatch.setenv(PREFIX + "TARGETS__A__COLLECTORS__OFFSETS__OPTIONS__LOOKBACK", "5")
    monkeypatch.setenv(PREFIX + "DEFAULTS__NETWORK", "testnet")
    monkeypatch.setenv(PREFIX + "BUDGET__BURST", "4")
    monkeypatch.setenv(PREFIX + "PARTY_LABELS", "short")
    monkeypatch.setenv(PREFIX + "ALIASES", '{"alice::12": "alice"}')
    settings = read(node("timeout: 9s, labels: {team: x}"))
    target = settings.targets["a"]
    assert (target.timeout, target.network) == (timedelta(seconds=3), "testnet")
    assert target.labels == {"team": "x", "zone": "eu"}
    assert target.collector_configs["offsets"].options == Lookback(lookback=5)
    assert (settings.budget, settings.party_labels) == (Budget(rate=5, burst=4), "short")
    assert settings.aliases == {"alice::12": "alice"}


def test_the_environment_mends_what_the_file_has_wrong(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS__A__TIMEOUT", "3s")
    assert read(node("timeout: 9")).targets["a"].timeout == timedelta(seconds=3)


def test_the_environment_alone_is_enough(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS__MAIN__KIND", "validator")
    monkeypatch.setenv(PREFIX + "TARGETS__MAIN__URL", "http://node")
    monkeypatch.setenv(PREFIX + "TARGETS__MAIN__COLLECTORS", '{"names": {"options": {"parties": ["p"]}}}')
    assert sorted(read("").targets["main"].collector_configs) == ["health", "names"]


def test_a_whole_mapping_may_be_written_as_json(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS", '{"b": {"kind": "scan", "role": "own", "url": "http://b"}}')
    assert sorted(read(node()).targets) == ["a", "b"]


@pytest.mark.parametrize("name", ["MY_NODE_1", "my-node-1"])
def test_a_target_is_found_by_what_a_shell_can_write(read: Read, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"{PREFIX}TARGETS__{name}__AUTH", f'{{"type": "bearer", "token": "{SECRET}"}}')
    settings = read("targets: {My-node_1: {kind: scan, role: own, url: 'http://node'}}")
    assert list(settings.targets) == ["My-node_1"]
    assert settings.targets["My-node_1"].auth == BearerAuth(type="bearer", token=SecretStr(SECRET))


def test_lower_case_names_count_as_well(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("canton_exporter_targets__a__timeout", "3s")
    assert read(node()).targets["a"].timeout == timedelta(seconds=3)


def test_what_kubernetes_injects_is_passed_over(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "PORT_10066_TCP", "PORT_10066_TCP_ADDR", "SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP"):
        monkeypatch.setenv(PREFIX + name, "tcp://10.0.0.1:10066")
    assert read(node())


def test_flags_and_other_programs_settings_are_passed_over(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "LOG__LEVEL", "debug")
    monkeypatch.setenv("CANTON_TARGETS", "x")
    monkeypatch.setenv("TARGETS", "x")
    assert read(node())


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("PARTY_LABLES", "x", "PARTY_LABLES: no such setting; did you mean CANTON_EXPORTER_PARTY_LABELS?"),
        ("LOG__LEVLE", "x", "LOG__LEVLE: no such setting; did you mean CANTON_EXPORTER_LOG__LEVEL?"),
        ("party_lables", "x", "party_lables: no such setting; did you mean CANTON_EXPORTER_PARTY_LABELS?"),
        ("PARTY_LABELS", "x", "PARTY_LABELS: must be full or short"),
        ("TARGETS__A__TIMEOT", "3s", "TARGETS__A__TIMEOT: no such setting; did you mean timeout?"),
        ("TARGETS__A__TIMEOUT", "3", f"TARGETS__A__TIMEOUT: {NO_DURATION}"),
        ("DEFAULTS__TIMEOUT", "3", f"DEFAULTS__TIMEOUT: {NO_DURATION}"),
        ("BUDGET__RATES", "3", "BUDGET__RATES: no such setting; did you mean rate?"),
        ("TARGETS__A__LABELS__PARTY", "x", f"TARGETS__A__LABELS__PARTY: {TAKEN}"),
        (
            "TARGETS__A__COLLECTORS__HELTH",
            "{}",
            "TARGETS__A__COLLECTORS__HELTH: no such collector; did you mean health?",
        ),
        (
            "TARGETS",
            f"{{{SECRET}",
            "TARGETS: is not JSON; write a JSON mapping, or one variable for each key",
        ),
    ],
)
def test_an_error_of_the_environment_names_the_variable(
    errors: Errors, monkeypatch: pytest.MonkeyPatch, name: str, text: str, error: str
) -> None:
    monkeypatch.setenv(PREFIX + name, text)
    assert errors(node()) == [f"environment variable {PREFIX}{error}"]


def test_a_variable_that_is_no_json_hides_no_misspelled_one(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "BUDGET", "abc")
    monkeypatch.setenv(PREFIX + "PARTY_LABLES", "x")
    assert errors(node()) == [
        f"environment variable {PREFIX}BUDGET: is not JSON; write a JSON mapping, or one variable for each key",
        f"environment variable {PREFIX}PARTY_LABLES: no such setting; did you mean {PREFIX}PARTY_LABELS?",
    ]


def test_no_variable_is_meant_where_none_is_near(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "QQQ", "x")
    assert errors(node()) == [f"environment variable {PREFIX}QQQ: no such setting"]


def test_errors_of_file_and_environment_are_told_together(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "BUDGE", "x")
    monkeypatch.setenv(PREFIX + "TARGETS__A__TIMEOUT", "3")
    assert errors(node("role: x")) == [
        f"environment variable {PREFIX}BUDGE: no such setting; did you mean {PREFIX}BUDGET?",
        "exporter.yaml:1: targets.a.role: must be own or observed",
        f"environment variable {PREFIX}TARGETS__A__TIMEOUT: {NO_DURATION}",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", "x"),
        ("_", "x"),
        ("TARGETS__", "x"),
        ("TARGETS", ""),
        ("TARGETS", "3"),
        ("TARGETS", "[]"),
        ("TARGETS__A", "x"),
        ("TARGETS__A__B__C__D", "x"),
        ("TARGETS__A__COLLECTORS", "null"),
        ("TARGETS__A__COLLECTORS__HEALTH", "[1]"),
        ("TARGETS__A__TIMEOUT__X", "3s"),
        ("TARGETS__A__MAX", "9" * 5000),
        ("TARGETS", "9" * 5000),
        ("DEFAULTS", "3"),
        ("BUDGET", "3"),
        ("BUDGET", "{"),
        ("ALIASES", "[1]"),
        ("MODEL_CONFIG", "x"),
        ("SERVICE", "x"),
    ],
)
def test_whatever_the_environment_holds_is_answered_in_sentences(
    errors: Errors, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(PREFIX + name, text)
    assert errors(node())


@pytest.mark.parametrize("name", ["TARGETS", "TARGETS__A__NETWORK", "DEFAULTS__HEADERS"])
def test_json_without_end_is_answered_in_a_sentence(errors: Errors, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(PREFIX + name, "[" * 100_000)
    assert errors(node())


def test_a_variable_that_spoils_what_the_file_has_right_is_named(
    errors: Errors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS__A__TIMEOUT", "3")
    assert errors(node("timeout: 3s")) == [f"environment variable {PREFIX}TARGETS__A__TIMEOUT: {NO_DURATION}"]


def test_a_variable_is_named_as_it_was_set(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS__MY_NODE__TIMEOUT", "3")
    assert errors("targets: {my-node: {kind: scan, role: own, url: 'http://node'}}") == [
        f"environment variable {PREFIX}TARGETS__MY_NODE__TIMEOUT: {NO_DURATION}"
    ]


@pytest.mark.parametrize("text", ["1e5", "true", "null", '"quoted"'])
def test_a_token_from_the_environment_is_taken_as_it_is(read: Read, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS__A__AUTH__TYPE", "bearer")
    monkeypatch.setenv(PREFIX + "TARGETS__A__AUTH__TOKEN", text)
    assert read(node()).targets["a"].auth == BearerAuth(type="bearer", token=SecretStr(text))


def test_a_variable_that_may_mean_two_targets_is_refused(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS__A_B__TIMEOUT", "3s")
    assert errors(
        "targets: {a-b: {kind: scan, role: own, url: 'http://a'}, a_b: {kind: scan, role: own, url: 'http://b'}}"
    )


# The source that is at fault


ALL = """
defaults:
  timeout: 3s
  collectors:
    names:
      interval: 1m
targets:
  a: &a
    kind: ledger
    url: http://node
    labels: {team: x}
  b:
    <<: *a
    labels:
      team: [x]
"""


@pytest.mark.parametrize(
    ("old", "new", "errors_"),
    [
        ("timeout: 3s", "timeout: 3", [f"exporter.yaml:3: defaults.timeout: {NO_DURATION}"]),
        ("  interval: 1m", "  intervl: 1m", ["exporter.yaml:6: defaults.collectors.names.intervl: no such setting; "
         "did you mean interval?"]),
        ("url: http://node", "urll: http://node", [
            "exporter.yaml:8: targets.a.url: is missing; write url or url_file",
            "exporter.yaml:10: targets.a.urll: no such setting; did you mean url?",
            "exporter.yaml:12: targets.b.url: is missing; write url or url_file",
            "exporter.yaml:10: targets.b.urll: no such setting; did you mean url?",
        ]),
        ("kind: ledger", "kind: validator", ["exporter.yaml:5: targets.a.collectors.names.options.parties: is missing",
         "exporter.yaml:5: targets.b.collectors.names.options.parties: is missing"]),
        ("a: &a", "a: &a 5 #", None),
    ],
)  # fmt: skip
def test_each_error_has_the_line_of_what_is_wrong(
    errors: Errors, old: str, new: str, errors_: list[str] | None
) -> None:
    found = errors(ALL.replace(old, new))
    if errors_ is None:
        assert all(re.match("exporter.yaml:[0-9]+: ", error) for error in found)
    else:
        label = "exporter.yaml:15: targets.b.labels.team: must be text"
        assert sorted(found) == sorted([*errors_, label])


def test_a_value_that_is_not_one_has_a_line(errors: Errors) -> None:
    assert errors("a: 1\nb: 2020-99-99") == [
        "exporter.yaml:2: a value looks like a date, a number or a tag, and is not a valid one; quote it"
    ]


@pytest.mark.parametrize(
    ("text", "variables", "error"),
    [
        ("", {"TARGETS__A__KIND": "ledger"}, "TARGETS__A__URL: is missing; write url or url_file"),
        ("", {"TARGETS": '{"a": {"kind": "ledger"}}'}, "TARGETS: targets.a.url: is missing; write url or url_file"),
        (
            node(),
            {"TARGETS__A": '{"timeout": 3, "network": "x"}'},
            f"TARGETS__A: targets.a.timeout: {NO_DURATION}",
        ),
        (
            node("headers: {Authorization: x}"),
            {"TARGETS__A__AUTH": '{"type": "bearer", "token": "t"}'},
            "TARGETS__A__AUTH: has more than one authorization; "
            "keep one of auth, a user in the url, the header Authorization",
        ),
        (
            node("auth: {token_file: /t}"),
            {"TARGETS__A__AUTH__TYPE": "bearer", "TARGETS__A__HEADERS__AUTHORIZATION": "x"},
            "TARGETS__A__*: has more than one authorization; "
            "keep one of auth, a user in the url, the header Authorization",
        ),
        (
            node(kind="validator"),
            {"DEFAULTS__COLLECTORS__NAMES__INTERVAL": "1m"},
            "TARGETS__A__COLLECTORS__NAMES__OPTIONS__PARTIES: is missing",
        ),
    ],
)
def test_an_error_that_the_file_alone_does_not_have_is_the_environments(
    errors: Errors, monkeypatch: pytest.MonkeyPatch, text: str, variables: Mapping[str, str], error: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(PREFIX + name, value)
    assert errors(text) == [f"environment variable {PREFIX}{error}"]


def test_an_error_that_the_file_has_too_is_the_files(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "TARGETS__A__TIMEOUT", "3s")
    assert errors("targets:\n  a:\n    kind: ledger") == [
        "exporter.yaml:2: targets.a.url: is missing; write url or url_file"
    ]


# Secrets


LEAKS = [
    f"url2: 'http://me:{SECRET}@node'",
    f"headers: {{X-Key: [{SECRET}]}}",
    f'headers: {{X-Key: "{SECRET}\\n"}}',
    f"headers: [{SECRET}]",
    f"headers: {SECRET}",
    f"auth: {SECRET}",
    f"auth: {{type: {SECRET}}}",
    f"auth: {{type: bearer, token: {{a: {SECRET}}}}}",
    f'auth: {{type: bearer, token: "{SECRET}\\n"}}',
    f"auth: {{type: bearer, token: {SECRET}, token_file: x}}",
    f"auth: {{type: none, token: {SECRET}}}",
    f"aut: {{token: {SECRET}}}",
    f"network: [{SECRET}]",
    f"timeout: {SECRET}",
]


def test_no_error_repeats_what_may_be_a_secret(errors: Errors) -> None:
    told = errors(nodes(LEAKS))
    assert SECRET not in repr(told)
    for number in range(len(LEAKS)):
        assert any(error.startswith(f"exporter.yaml:{number + 2}: targets.t{number}.") for error in told), LEAKS[number]


@pytest.mark.parametrize(
    "said",
    [
        f"auth: {{type: bearer, token: '{SECRET}",
        f"auth: {{type: bearer, token: {SECRET}: x: y}}",
    ],
)
def test_no_error_of_the_writing_repeats_what_may_be_a_secret(errors: Errors, said: str) -> None:
    assert SECRET not in repr(errors(node(said)))


@pytest.mark.parametrize("text", [f"!{SECRET}", f"*{SECRET}"])
def test_a_secret_that_was_not_quoted_is_not_repeated(errors: Errors, text: str) -> None:
    assert SECRET not in repr(errors(node(f"auth: {{type: bearer, token: {text} }}")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TARGETS", f'{{"a": "{SECRET}'),
        ("TARGETS__A", SECRET),
        ("TARGETS__A__AUTH", SECRET),
        ("TARGETS__A__AUTH", f'{{"type": "bearer", "token": "{SECRET}"'),
        ("TARGETS__A__AUTH__TOKEN", SECRET),
        ("TARGETS__A__HEADERS", f'{{"X-Key": "{SECRET}"'),
        ("TARGETS__A__URL", f"ftp://me:{SECRET}@node"),
    ],
)
def test_no_error_repeats_a_secret_of_the_environment(
    errors: Errors, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(PREFIX + name, text)
    assert SECRET not in repr(errors(node()))


def test_settings_do_not_show_secrets(read: Read) -> None:
    settings = read(node(f"auth: {{type: bearer, token: {SECRET}}}, headers: {{X-Key: {SECRET}}}"))
    assert SECRET not in repr(settings)
    assert SECRET not in repr(settings.targets["a"].target_config)


# How sources are put together


def test_merging_lays_mappings_over_each_other_and_takes_the_rest_whole() -> None:
    below = {"a": {"x": 1, "y": {"z": 1}}, "b": [1, 2], "c": {"x": 1}, "d": 1}
    above = {"a": {"y": {"w": 2}}, "b": [3], "c": None, "d": {"x": 1}, "e": 5}
    assert merge(below, above) == {
        "a": {"x": 1, "y": {"z": 1, "w": 2}},
        "b": [3],
        "c": None,
        "d": {"x": 1},
        "e": 5,
    }
    assert below["a"] == {"x": 1, "y": {"z": 1}}
    assert above["a"] == {"y": {"w": 2}}


@pytest.mark.parametrize(
    ("place", "is_there"),
    [((), True), (("a",), True), (("a", "b"), True), (("a", "c"), False), (("a", "b", "c"), False)],
)
def test_knows_what_a_tree_holds(place: tuple[str, ...], is_there: bool) -> None:
    assert is_written({"a": {"b": None}}, place) is is_there


@pytest.mark.parametrize(
    ("key", "said"),
    [("helth", "; did you mean health?"), ("health", ""), ("q", ""), ("", "")],
)
def test_names_the_nearest_neighbour_if_one_is_near(key: str, said: str) -> None:
    assert nearest(key, ["health", "offsets"]) == said


# What users of Kubernetes and of the environment alone met with


def loaded(folder: Path, text: str | None = None) -> Settings:
    path = folder / "exporter.yaml"
    if text is not None:
        path.write_text(text)
    return load(path, discover())


PLAIN = "targets: {a: {kind: ledger, url: 'http://node', auth: {type: bearer, token_file: token}}}"


@pytest.mark.parametrize(
    "name",
    ["SERVICE_HOST", "PORT", "PORT_10066_TCP", "SERVICE_PORT_METRICS", "TESTNET_SERVICE_HOST", "TESTNET_SERVICE_PORT",
     "TESTNET_PORT", "TESTNET_PORT_10066_TCP_ADDR", "A_B_SERVICE_PORT_HTTP"],
)  # fmt: skip
def test_what_kubernetes_sets_for_a_service_of_such_a_name_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"CANTON_EXPORTER_{name}", "tcp://10.0.0.1:10066")
    assert loaded(tmp_path, PLAIN).targets


def test_a_token_file_is_looked_for_beside_the_file_that_names_it(tmp_path: Path) -> None:
    auth = loaded(tmp_path, PLAIN).targets["a"].auth
    assert isinstance(auth, BearerAuth)
    assert auth.token_file == tmp_path / "token"


def test_every_file_of_a_secret_is_looked_for_beside_the_file_that_names_it(tmp_path: Path) -> None:
    text = """
        defaults: {header_files: {X-Team: team, X-Other: /run/other}}
        targets: {a: {kind: ledger, url_file: keys/url, header_files: {X-Key: keys/header}}}
    """
    target = loaded(tmp_path, text).targets["a"]
    assert target.url_file == tmp_path / "keys/url"
    assert target.files() == {
        "header X-Team": tmp_path / "team",
        "header X-Other": Path("/run/other"),
        "header X-Key": tmp_path / "keys/header",
    }


def test_where_a_node_is_is_no_default(errors: Errors) -> None:
    assert errors(node() + "defaults: {url_file: /run/url, url: 'http://a'}") == [
        "exporter.yaml:2: defaults.url: set it in each target, not in defaults",
        "exporter.yaml:2: defaults.url_file: set it in each target, not in defaults",
    ]


@pytest.mark.parametrize("named", ["url_file: [x]", "auth: 5", "header_files: x", "header_files: {X: [y]}"])
def test_a_file_that_is_named_in_an_odd_way_is_an_error_and_not_a_crash(errors: Errors, named: str) -> None:
    assert len(errors(node(named))) == 1


@pytest.mark.parametrize(
    ("own", "headers", "files"),
    [
        ("headers: {x-key: own}", ["x-key"], []),
        ("header_files: {X-KEY: /own}", [], ["X-KEY"]),
        ("headers: {Other: own}", ["Other"], ["X-Key"]),
    ],
)
def test_a_header_takes_the_place_of_the_default_in_whatever_way_both_are_given(
    read: Read, own: str, headers: list[str], files: list[str]
) -> None:
    target = read(node(own) + "defaults: {header_files: {X-Key: /default}}").targets["a"]
    assert ([*target.headers], [*target.header_files]) == (headers, files)


@pytest.mark.parametrize(
    ("written", "variable", "told"),
    [
        ("url: 'http://a'", "URL_FILE", (None, Path("/new"))),
        ("url_file: /a", "URL", ("http://new", None)),
    ],
)
def test_the_environment_may_say_where_a_node_is_in_the_other_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, variable: str, told: tuple[str | None, Path | None]
) -> None:
    monkeypatch.setenv(f"{PREFIX}TARGETS__A__{variable}", "http://new" if variable == "URL" else "/new")
    target = loaded(tmp_path, f"targets: {{a: {{kind: ledger, {written}}}}}").targets["a"]
    assert (target.url, target.url_file) == told


def test_a_token_from_the_environment_takes_the_place_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}TARGETS__A__AUTH__TOKEN", "t")
    assert loaded(tmp_path, PLAIN).targets["a"].auth == BearerAuth(type="bearer", token=SecretStr("t"))


def test_the_type_of_auth_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}TARGETS__A__AUTH__TYPE", "bearer")
    written = "targets: {a: {kind: ledger, url: 'http://a', auth: {token_file: /t}}}"
    assert loaded(tmp_path, written).targets["a"].auth == BearerAuth(type="bearer", token_file=Path("/t"))


def test_targets_may_be_called_as_settings_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("headers", "header_files", "url", "url_file", "auth")
    for name in names:
        monkeypatch.setenv(f"{PREFIX}TARGETS__{name.upper()}__URL", f"http://{name}")
    written = ", ".join(f"{name}: {{kind: ledger, headers: {{X-Key: a}}}}" for name in names)
    targets = loaded(tmp_path, f"targets: {{{written}}}").targets
    assert {name: target.url for name, target in targets.items()} == {name: f"http://{name}" for name in names}


def test_a_header_from_the_environment_takes_the_place_of_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__HEADERS__X_API_KEY", "s")
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__B__HEADER_FILES__X_API_KEY", "/key")
    text = "targets: {a: {kind: ledger, url: 'http://a', headers: {X-API-Key: t}}, b: {kind: ledger, url: 'http://b'}}"
    targets = loaded(tmp_path, text).targets
    assert targets["a"].headers == {"x-api-key": SecretStr("s")}
    assert targets["b"].header_files == {"x-api-key": Path("/key")}


def test_a_header_from_the_environment_has_hyphens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__HEADERS__X_Api_Key", "s")
    monkeypatch.setenv("CANTON_EXPORTER_DEFAULTS__HEADERS", '{"X_Kept": "s"}')
    assert sorted(loaded(tmp_path, PLAIN).targets["a"].headers) == ["X_Kept", "x-api-key"]


def test_a_header_and_an_option_for_all_targets_may_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANTON_EXPORTER_DEFAULTS__HEADERS__X_API_KEY", "s")
    monkeypatch.setenv("CANTON_EXPORTER_DEFAULTS__COLLECTORS__HEALTH__INTERVAL", "20s")
    target = loaded(tmp_path, PLAIN).targets["a"]
    assert list(target.headers) == ["x-api-key"]
    assert target.collector_configs["health"].interval == timedelta(seconds=20)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_break_at_the_end_of_a_variable_is_not_a_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__HEADERS__X_API_KEY", f"s{end}")
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__URL", f"http://other{end}")
    target = loaded(tmp_path, PLAIN).targets["a"]
    assert (target.headers["x-api-key"].get_secret_value(), target.url) == ("s", "http://other")


def test_the_default_file_need_not_be_there_where_the_environment_names_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongConfiguration, match="cannot be read"):
        load(DEFAULT_FILE, discover())
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__KIND", "ledger")
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__URL", "http://node")
    assert list(load(DEFAULT_FILE, discover()).targets) == ["a"]
    with pytest.raises(WrongConfiguration, match="cannot be read"):
        load(tmp_path / "named.yaml", discover())


# Whose node it is


def test_a_scan_is_somebodys(read: Read, errors: Errors) -> None:
    sentence = "is missing; write own for a scan that you run, observed for one that others run"
    assert errors("targets: {a: {kind: scan, url: 'http://a'}}") == [f"exporter.yaml:1: targets.a.role: {sentence}"]
    assert read("targets: {a: {kind: scan, role: own, url: 'http://a'}}").targets["a"].role == "own"
    assert read("{defaults: {role: observed}, targets: {a: {kind: scan, url: 'http://a'}}}").targets["a"]
    assert read("targets: {a: {kind: ledger, url: 'http://a'}}").targets["a"].role == "own"


@pytest.mark.parametrize(
    ("role", "written", "runs"),
    [
        ("own", "", True),
        ("observed", "", False),
        ("observed", "collectors: {features: {}}", False),
        ("observed", "collectors: {counts: {}}", True),
        ("observed", "collectors: {counts: {interval: 1h}}", True),
        ("observed", "collectors: {counts: {enabled: false}}", False),
    ],
)
def test_what_costs_more_than_a_guest_should_take_runs_on_somebody_elses_node_only_where_it_is_written(
    read: Read, role: str, written: str, runs: bool
) -> None:
    target = f"kind: scan, url: 'http://a', role: {role}"
    assert ("counts" in read(f"targets: {{a: {{{target}, {written}}}}}").targets["a"].collector_configs) is runs


@pytest.mark.parametrize(
    ("role", "written", "runs"),
    [
        ("own", "{interval: 1h}", True),
        ("observed", "{}", False),
        ("observed", "{interval: 1h}", False),
        ("observed", "{enabled: true}", True),
    ],
)
def test_of_the_defaults_only_what_enables_it_reaches_somebody_elses_node(
    read: Read, role: str, written: str, runs: bool
) -> None:
    target = f"{{kind: scan, url: 'http://a', role: {role}}}"
    tree = f"{{defaults: {{collectors: {{counts: {written}}}}}, targets: {{a: {target}}}}}"
    assert ("counts" in read(tree).targets["a"].collector_configs) is runs


def test_a_participant_is_a_ledger(read: Read) -> None:
    target = read("targets: {a: {kind: participant, url: 'http://a', collectors: {offsets: {}}}}").targets["a"]
    assert target.kind is Kind.LEDGER
    assert "offsets" in target.collector_configs
