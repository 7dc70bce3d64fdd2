"""The alerts' pages: one for each, in one shape, naming only what there is."""

import re
import subprocess
from functools import cache
from pathlib import Path

import promql_parser
import pytest
import yaml

from dashboards.source.rules import TEMPLATE, TOKEN, rules
from dashboards.source.thresholds import OFF_BY_DEFAULT, THRESHOLDS
from exporter.collectors import discover, metrics_of
from exporter.metrics import self_metrics

ROOT = Path(__file__).parent.parent
RUNBOOKS = ROOT / "docs/runbooks"
PAGES = sorted(path for path in RUNBOOKS.glob("*.md") if path.name != "README.md")
TOLD = [*PAGES, RUNBOOKS / "README.md", ROOT / "docs/alerts.md"]
SECTIONS = ["Severity", "Us or the network?", "Check", "Do", "Harmless when", "Threshold"]
ORDER = ["critical", "warning", "info"]

METRICS = {
    metric.name: metric
    for metric in [
        *self_metrics.ALL,
        *(metric for name in discover() for metric in metrics_of(name)),
    ]
}
GIVEN_BY_USERS = {"canton:template_backlog_limit_seconds"}
COMMON_LABELS = {"target", "network", "role", "job", "instance"}

PLACEHOLDER = re.compile(r"(?<![\w%])\$?[A-Z][A-Z_]+(?!\w)")
"""A name in capitals; what follows a percent sign is a format of `date`."""
MEANT_AS_WRITTEN = {"ALERTS", "DEPRECATED_API_DISABLED", "GET", "NOT_SERVING", "POST", "SSL_CERT_FILE"}
INTRODUCTION = re.compile(r"^What to put in for (.+): \[placeholders\]\(README\.md#placeholders\)\.\n", re.MULTILINE)


@cache
def groups() -> list[dict[str, list[dict[str, str]]]]:
    """Return the groups of all rules, those too that are off by default."""
    found: list[dict[str, list[dict[str, str]]]] = yaml.safe_load(rules(switched_on=True))["groups"]
    return found


def alerts() -> dict[str, set[str]]:
    """Return the severities of each alert, in the order of the rules."""
    severities: dict[str, set[str]] = {}
    for rule in (rule for group in groups() for rule in group["rules"] if "alert" in rule):
        severities.setdefault(rule["alert"], set()).add(yaml.safe_load(str(rule["labels"]))["severity"])
    return severities


def recorded() -> set[str]:
    return {rule["record"] for group in groups() for rule in group["rules"] if "record" in rule}


def tokens(alert: str) -> set[str]:
    """Return the thresholds that an alert's expressions and texts name."""
    blocks = (block for block in TEMPLATE.read_text().split("\n\n") if f"- alert: {alert}\n" in block)
    return {token for block in blocks for token in TOKEN.findall(block)} - {"runbooks"}


def sections(page: Path) -> dict[str, str]:
    """Return the text of a page's sections by their titles."""
    parts = re.split(r"^## (.+)\n", page.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def code(text: str) -> str:
    """Return what stands between backticks, blocks and spans alike."""
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^ *```\w*\n.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return "\n".join([*blocks, *re.findall(r"`([^`]+)`", rest)])


def placeholders(text: str) -> set[str]:
    """Return the names in capitals that a reader has to replace or set, but those that a command itself sets."""
    written = code(text)
    set_there = re.findall(r"^ *([A-Z_]+)=", written, re.MULTILINE)
    return set(PLACEHOLDER.findall(written)) - MEANT_AS_WRITTEN - set(set_there)


def explained() -> set[str]:
    """Return the placeholders that the list of runbooks explains."""
    text = sections(RUNBOOKS / "README.md")["Placeholders"]
    rows = re.findall(r"^\| (`.+?) \|", text, re.MULTILINE)
    replaced = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    return replaced | {f"${name}" for name in re.findall(r"^([A-Z_]+)=.+ # .+$", text, re.MULTILINE)}


def test_every_alert_has_a_page_and_every_page_an_alert() -> None:
    assert {page.stem for page in PAGES} == set(alerts())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_its_sections_in_order_and_is_short(page: Path) -> None:
    text = page.read_text()
    title, _, first = text.split("\n", 3)[:3]
    assert title == f"# {page.stem}"
    assert first
    assert list(sections(page)) == SECTIONS
    assert all(body.strip() for body in sections(page).values())
    assert 25 <= text.count("\n") <= 60
    assert "*Canton / Overview*" in sections(page)["Us or the network?"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_the_severities_of_its_alert(page: Path) -> None:
    assert set(re.findall(r"^- \*\*(\w+)\*\*:", sections(page)["Severity"], re.MULTILINE)) == alerts()[page.stem]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_the_thresholds_of_its_alert(page: Path) -> None:
    named = set(re.findall(r"`([a-z]+[A-Z]\w+)`", sections(page)["Threshold"]))
    assert named <= set(THRESHOLDS)
    assert tokens(page.stem) <= named


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.stem)
def test_a_page_names_only_metrics_that_there_are(page: Path) -> None:
    named = set(re.findall(r"\bcanton[_:]\w+(?::\w+)*", code(page.read_text())))
    assert named <= set(METRICS) | recorded() | GIVEN_BY_USERS


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.stem)
def test_a_page_selects_only_by_labels_that_there_are(page: Path) -> None:
    for name, selectors in re.findall(r"\b(canton_\w+)\{([^}]*)\}", code(page.read_text())):
        assert set(re.findall(r"(\w+)\s*[=!]", selectors)) <= {*METRICS[name].labels, *COMMON_LABELS}, name


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.stem)
def test_a_query_of_a_page_is_one(page: Path) -> None:
    for block in re.findall(r"^ *```promql\n(.*?)^ *```$", page.read_text(), re.MULTILINE | re.DOTALL):
        for query in block.strip().splitlines():
            promql_parser.parse(query.strip())


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.stem)
def test_a_link_of_a_page_leads_somewhere(page: Path) -> None:
    for link, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text()):
        assert (page.parent / link).exists(), link
        if heading:
            titles = re.findall(r"^#+ (.+)$", (page.parent / link).read_text(), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_introduces_its_placeholders_before_their_use_and_they_are_explained(page: Path) -> None:
    text = page.read_text()
    introduction = INTRODUCTION.search(text)
    before, named, after = (
        (text[: introduction.start()], introduction[1], text[introduction.end() :]) if introduction else (text, "", "")
    )
    used = placeholders(before + after)
    assert used <= explained()
    assert set(re.findall(r"`([^`]+)`", named)) == used
    assert not introduction or not placeholders(before)


def test_no_placeholder_is_explained_that_no_page_uses() -> None:
    assert explained() <= set().union(*(placeholders(page.read_text()) for page in PAGES))


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.stem)
def test_a_command_of_a_page_is_one_for_any_shell(page: Path) -> None:
    for block in re.findall(r"^ *```sh\n(.*?)^ *```$", page.read_text(), re.MULTILINE | re.DOTALL):
        assert "<<<" not in block, "a word as input is known to bash only"
        subprocess.run(["/bin/sh", "-n"], input=block, text=True, check=True, timeout=10)


def test_the_table_lists_every_alert_with_its_severities_in_the_order_of_the_rules() -> None:
    rows = re.findall(
        r"^\| \[(\w+)\]\((\w+)\.md\) \| ([\w, ]+) \| (.+) \|$", (RUNBOOKS / "README.md").read_text(), re.MULTILINE
    )
    assert [(name, link, severities) for name, link, severities, _ in rows] == [
        (name, name, ", ".join(sorted(severities, key=ORDER.index))) for name, severities in alerts().items()
    ]
    off = {name for name, _, _, said in rows if "off unless switched on" in said}
    assert off == set(OFF_BY_DEFAULT)


def test_every_recorded_series_is_explained() -> None:
    explained = re.findall(r"^\| `(canton:[\w:]+)`", (ROOT / "docs/alerts.md").read_text(), re.MULTILINE)
    assert explained == sorted(recorded())


def test_every_threshold_that_alerts_name_outside_of_pages_is_one() -> None:
    text = (ROOT / "docs/alerts.md").read_text()
    assert set(re.findall(r'"([a-z]+[A-Z]\w+)":', text)) <= set(THRESHOLDS)
