"""Warnings of the configuration: what is allowed and hardly meant, each with where it is written."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from exporter.collectors import discover
from exporter.config.config_warnings import API_PATH, BEARER, NO_NAMESPACE, NO_PATH
from exporter.config.loader import load

SECRET = "hunter2"
VARIABLE = "environment variable CANTON_EXPORTER_"
Warnings = Callable[..., Sequence[str]]


@pytest.fixture
def warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warnings:
    """Return a function that gives the warnings of a text, without `exporter.yaml:`."""
    monkeypatch.chdir(tmp_path)

    def warnings(text: str, is_here: Callable[[str], bool] = lambda name: True) -> Sequence[str]:
        path = Path("exporter.yaml")
        path.write_text(text)
        return [each.removeprefix("exporter.yaml:") for each in load(path, discover(), is_here=is_here).warnings]

    return warnings


def node(written: str = "", url: str = "http://node", kind: str = "ledger") -> str:
    return f"targets:\n  a:\n    kind: {kind}\n    role: own\n    url: {url}\n    {written}\n"


def test_the_example_has_no_warning() -> None:
    assert load(Path(__file__).parents[2] / "exporter.example.yaml", discover()).warnings == ()


@pytest.mark.parametrize("word", ["Bearer", "bearer"])
def test_a_token_is_written_without_the_word_before_it(warnings: Warnings, word: str) -> None:
    assert warnings(node(f"auth: {{type: bearer, token: {word} {SECRET}}}")) == [f"6: targets.a.auth.token: {BEARER}"]


def test_what_the_defaults_have_is_reported_once_and_there(warnings: Warnings) -> None:
    text = """
        defaults: {auth: {type: bearer, token: Bearer x}}
        targets:
          a: {kind: ledger, url: http://a}
          b: {kind: ledger, url: http://b}
    """
    assert warnings(text) == [f"2: defaults.auth.token: {BEARER}"]


def test_a_warning_of_the_environment_names_the_variable(warnings: Warnings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__AUTH__TYPE", "bearer")
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__AUTH__TOKEN", "Bearer x")
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__COLLECTORS__LEDGER_COMPLETIONS__OPTIONS", '{"parties": ["x"]}')
    assert warnings(node("collectors: {ledger_completions: {options: {user: u, parties: [y]}}}")) == [
        f"{VARIABLE}TARGETS__A__AUTH__TOKEN: {BEARER}",
        f"{VARIABLE}TARGETS__A__COLLECTORS__LEDGER_COMPLETIONS__OPTIONS: "
        f"targets.a.collectors.ledger_completions.options.parties.0: {NO_NAMESPACE}",
    ]


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("http://node/v2/state", "v2"),
        ("http://node/v2", "v2"),
        ("http://node/api/scan/v0/dso/", "v0"),
        ("http://node/livez", "livez"),
        ("http://node/api/validator/readyz", "readyz"),
    ],
)
def test_a_url_ends_before_the_paths_of_the_api(warnings: Warnings, url: str, part: str) -> None:
    text = f"contains /{part}, where a path of the API begins; end the url before it"
    assert warnings(node(url=url)) == [f"5: targets.a.url: {text}"]


@pytest.mark.parametrize("url", ["http://node/api/json-api", "http://v2.node", "http://node/v2x", "http://node?v2"])
def test_any_other_path_is_fine(warnings: Warnings, url: str) -> None:
    assert warnings(node(url=url)) == []
    assert API_PATH


@pytest.mark.parametrize(
    ("url", "is_warned"),
    [
        ("https://scan.sv-1.global.canton.network.sync.global", True),
        ("https://scan.sv-1.example/", True),
        ("https://sv.sync.global", True),
        ("https://scan.sv-1.example/api/scan", False),
        ("http://scan-app.sv:5012", False),
        ("http://127.0.0.1:5012", False),
    ],
)
def test_a_public_scan_has_a_path(warnings: Warnings, url: str, is_warned: bool) -> None:
    assert warnings(node(url=url, kind="scan")) == ([f"5: targets.a.url: {NO_PATH}"] if is_warned else [])
    assert warnings(node(url=url, kind="validator")) == []


def pair(first: str, second: str) -> str:
    return f"targets:\n  a: {{{first}}}\n  b: {{{second}}}\n"


def test_two_targets_of_a_kind_have_one_url_each(warnings: Warnings) -> None:
    text = pair("kind: ledger, url: 'http://u:x@Node:80/'", "kind: participant, url: http://node")
    assert warnings(text) == [
        "3: targets.b.url: is also the url of the target a; each series of the node is there twice"
    ]


@pytest.mark.parametrize(
    "second",
    [
        "kind: validator, url: http://node",
        "kind: ledger, url: http://node/api",
        "kind: ledger, url: 'http://node?tenant=b'",
        "kind: ledger, url: http://node, headers: {host: b}",
    ],
)
def test_what_may_be_a_second_node_is_fine(warnings: Warnings, second: str) -> None:
    assert warnings(pair("kind: ledger, url: http://node", second)) == []


def test_a_party_has_a_namespace_in_whatever_option_it_stands(warnings: Warnings) -> None:
    text = """
        targets:
          a:
            kind: validator
            url: http://node
            collectors:
              ans_entries:
                options:
                  parties:
                    - alice::12
                    - bob
                    - "carol::"
              transfer_commands:
                options:
                  commands:
                    - sender: dave
                      nonce: 1
                    - sender: eve::12
    """
    assert warnings(text) == [
        f"11: targets.a.collectors.ans_entries.options.parties.1: {NO_NAMESPACE}",
        f"12: targets.a.collectors.ans_entries.options.parties.2: {NO_NAMESPACE}",
        f"16: targets.a.collectors.transfer_commands.options.commands.0.sender: {NO_NAMESPACE}",
    ]


# The demand for requests

FAST = "collectors: {health: {interval: 10ms}, ledger_offsets: {interval: 100ms}, ledger_info: {interval: 1s}}"
SCAN = "kind: scan, role: own, collectors: {rounds: {interval: 500ms}, feature_support: {interval: 1s}}"


def test_a_budget_that_runs_of_one_request_use_up_is_reported(warnings: Warnings) -> None:
    text = "and the collectors of the target a make at least 11; raise it, or their intervals"
    assert warnings(node(FAST)) == [f" budget.rate: allows 5 requests a second, {text}"]
    assert warnings(node(FAST) + "budget: {rate: 10}") == [f"7: budget.rate: allows 10 requests a second, {text}"]
    assert warnings(node(FAST) + "budget: {rate: 11}") == []


def test_scans_at_one_host_share_a_budget_and_ledgers_only_where_it_is_the_hosts(warnings: Warnings) -> None:
    off = "health: {enabled: false}, ledger_info: {enabled: false}"
    ledger = f"kind: ledger, collectors: {{{off}, ledger_offsets: {{interval: 300ms}}}}, url: 'http://node:"
    assert warnings(pair(f"{ledger}1'", f"{ledger}2'")) == []
    [warning] = warnings(pair(f"{ledger}1'", f"{ledger}2'") + "budget: {per: host}")
    assert "the collectors of the targets at node make at least 6.67;" in warning
    assert warnings(pair(f"{SCAN}, url: 'http://one'", f"{SCAN}, url: 'http://two'")) == []
    [warning] = warnings(pair(f"{SCAN}, url: 'http://one:1'", f"{SCAN}, url: 'http://one:2'"))
    assert "the collectors of the targets at one make at least 6" in warning


def test_a_shard_counts_its_own_targets(warnings: Warnings) -> None:
    text = pair(f"{SCAN}, url: 'http://one:1'", f"{SCAN}, url: 'http://one:2'")
    assert warnings(text, lambda name: name == "a") == []
