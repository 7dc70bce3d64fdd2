"""The rules: Prometheus takes them, alerts fire and keep silent where they have to, and each selects what there is."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.source import rules
from dashboards.source.thresholds import OFF_BY_DEFAULT, THRESHOLDS, Unit
from exporter.collectors import discover, metrics_of
from exporter.metrics import self_metrics
from tests.promql import result, selectors

ROOT = Path(__file__).parent.parent
PLAIN = ROOT / "dashboards/rules.yaml"
CASES = Path(__file__).parent / "rules"
TEMPLATE = rules.TEMPLATE.read_text()

Rule = dict[str, Any]

RULES: list[Rule] = [
    rule for group in yaml.safe_load(rules.rules(switched_on=True))["groups"] for rule in group["rules"]
]
ALERTS = [rule for rule in RULES if "alert" in rule]
RECORDS = {rule["record"]: rule["expr"] for rule in RULES if "record" in rule}
COLLECTOR_OF = {metric.name: name for name in discover() for metric in metrics_of(name)}
OF_TARGETS = {"target", "network", "role", "job", "instance"}

GIVEN_BY_OPERATORS = {"canton:template_backlog_limit_seconds": {"template"}}
"""Recorded by whoever sets limits: there are none by default."""

SEEN_AT_ONCE = {
    "CantonCoinRulesChanged": "tells of a change within the last hour",
    "CantonSvRewardWeightChanged": "tells of a change within the last hour",
    "CantonTransferCommandFailed": "tells of what was counted in the last quarter of an hour",
    "CantonUpgradeSoon": "a time that was announced for the freeze has come",
    "CantonWatchdog": "always fires",
}
"""Alerts without a `for`, and why."""

CRITICAL_FOR_ALL = {
    "CantonExporterDown": "the exporter is ours, and has no role",
    "CantonShardMissing": "the exporter is ours, and has no role",
    "CantonRoundOld": "of a network, wherever a scan of ours is on it",
}
"""Alerts that wake somebody and do not select role="own", and why."""

WHO = (
    "This node: ",
    "{{ if eq $labels.role `observed` }}Another's{{ else }}This{{ end }} node: ",
    "This node or the network: ",
    "This node or the exporter: ",
    "Another's node: ",
    "This scan: ",
    "This scan or the network: ",
    "The network: ",
    "A member: ",
    "{{ if eq $labels.role `observed` }}Another's{{ else }}This{{ end }} scan: ",
    "{{ if eq $labels.role `observed` }}Another's{{ else }}This{{ end }} scan or the network: ",
    "The network or an app: ",
    "The exporter: ",
    "The exporter's rules ",
    "The clock of ",
)

SOURCES = (
    "our choice",
    "ours to set",
    "common practice",
    "the network",
    "a scan allows",
    "misses confirmations",
    "commitments move",
    "a snapshot is taken",
    "renewal starts",
    "a fact",
    "off unless",
)
"""What a comment says of where a threshold is from."""


def key(rule: Rule) -> str:
    return f"{rule['alert']}-{rule['labels']['severity']}" if "alert" in rule else str(rule["record"])


each_alert = pytest.mark.parametrize("alert", ALERTS, ids=key)
each_rule = pytest.mark.parametrize("rule", RULES, ids=key)


# What Prometheus says


@pytest.fixture(scope="module")
def promtool() -> str:
    path = shutil.which("promtool")
    if path is None:
        pytest.skip("promtool, which comes with Prometheus, is not installed")
    return path


def check(promtool: str, path: Path) -> None:
    done = subprocess.run([promtool, "check", "rules", path], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_rules(promtool: str) -> None:
    check(promtool, PLAIN)


@pytest.mark.parametrize("scale", [7, 60, 3600])
def test_prometheus_takes_rules_in_compressed_time(promtool: str, tmp_path: Path, scale: float) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(rules.rules(scale=scale, switched_on=True))
    check(promtool, path)


def case_files() -> list[Path]:
    return sorted(CASES.rglob("*.yaml"))


SLOW = ("days", "ledger")
"""Cases that go over days, in steps of a minute."""


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[pytest.mark.slow] if file.stem in SLOW else []) for file in case_files()],
    ids=lambda path: path.stem,
)
def test_rules_fire_and_keep_silent_as_written(file: Path, promtool: str, tmp_path: Path) -> None:
    if file.parent != CASES:  # it is of rules that are off by default
        (tmp_path / "rules.yaml").write_text(rules.rules(switched_on=True))
        file = Path(shutil.copy(file, tmp_path))
    done = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


# What the cases hold

CASE_GROUPS: list[dict[str, Any]] = [
    group for file in case_files() for group in yaml.safe_load(file.read_text())["tests"]
]
LABEL = re.compile(r'(\w+)="([^"]*)"')


def fired(group: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the name and severity of each alert that a group of cases expects to fire."""
    for case in group.get("promql_expr_test", ()):
        for sample in case.get("exp_samples") or ():
            labels = dict(LABEL.findall(sample["labels"]))
            if "alertname" in labels:
                yield labels["alertname"], labels["severity"]
    for case in group.get("alert_rule_test", ()):
        for expected in case.get("exp_alerts", ()):
            yield case["alertname"], expected["exp_labels"]["severity"]


def is_watched_whole(group: dict[str, Any]) -> bool:
    """Tell whether a group's last word is on every alert, and not only on some."""
    whole = ("ALERTS{alertstate=", "ALERTS)")
    return any(part in case["expr"] for case in group.get("promql_expr_test", ()) for part in whole)


def read_by(expression: str) -> set[str]:
    """Return the metrics an expression reads, through records too."""
    names: set[str] = set()
    waiting = [expression]
    while waiting:
        for selector in selectors(waiting.pop()):
            if selector.name in RECORDS and selector.name not in names:
                waiting.append(RECORDS[selector.name])
            names.add(selector.name)
    return names


def given(group: dict[str, Any]) -> set[str]:
    return {series["series"].partition("{")[0] for series in group["input_series"]}


@each_alert
def test_an_alert_has_a_case_that_fires(alert: Rule) -> None:
    wanted = (alert["alert"], alert["labels"]["severity"])
    assert any(wanted in fired(group) for group in CASE_GROUPS)


@each_alert
def test_an_alert_has_a_case_in_which_its_metrics_are_there_and_it_keeps_silent(alert: Rule) -> None:
    wanted = (alert["alert"], alert["labels"]["severity"])
    if alert["alert"] == "CantonWatchdog":
        return  # which never does
    read = read_by(alert["expr"]) - {"canton_target_info", "canton_exporter_build_info", "canton_up", "canton:up"}
    silent = [group for group in CASE_GROUPS if is_watched_whole(group) and wanted not in set(fired(group))]
    assert any((read or read_by(alert["expr"])) & given(group) for group in silent)


@pytest.mark.parametrize("group", CASE_GROUPS, ids=lambda group: group["name"][:60])
def test_a_case_is_a_sentence_with_series_that_exist(group: dict[str, Any]) -> None:
    assert group["name"][0].isupper()
    assert group["name"].endswith(".")
    for series in group["input_series"]:
        name, _, rest = series["series"].partition("{")
        own_labels = {label for label, _ in LABEL.findall(rest)} - {"team"}
        assert own_labels <= labels_of(name), series["series"]


# What an alert says


@each_alert
def test_an_alert_says_how_grave_it_is_who_is_broken_and_what_to_do(alert: Rule) -> None:
    annotations = alert["annotations"]
    assert alert["labels"]["severity"] in ("critical", "warning", "info")
    assert annotations["summary"].startswith(WHO)
    assert annotations["summary"].endswith(".")
    assert annotations["description"].strip().endswith(".")
    assert annotations["runbook_url"].endswith(f"docs/runbooks/{alert['alert']}.md")


@pytest.mark.parametrize("name", sorted({alert["alert"] for alert in ALERTS}))
def test_an_alert_has_its_page(name: str) -> None:
    assert (ROOT / f"docs/runbooks/{name}.md").exists()


@pytest.mark.parametrize("name", sorted({alert["alert"] for alert in ALERTS}))
def test_a_comment_says_where_the_threshold_of_an_alert_is_from(name: str) -> None:
    block = next(block for block in TEMPLATE.split("\n\n") if f"- alert: {name}\n" in block)
    comment = " ".join(line.strip(" #") for line in block.splitlines() if line.strip().startswith("#"))
    assert any(source in comment.lower() for source in SOURCES), comment


@each_alert
def test_only_what_is_ours_wakes_somebody(alert: Rule) -> None:
    if alert["labels"]["severity"] == "critical" and alert["alert"] not in CRITICAL_FOR_ALL:
        assert 'role="own"' in alert["expr"]


@each_alert
def test_an_alert_waits_for_two_runs_of_what_it_reads(alert: Rule) -> None:
    if "for" not in alert:
        assert alert["alert"] in SEEN_AT_ONCE
        return
    collectors = {COLLECTOR_OF[name] for name in read_by(alert["expr"]) if name in COLLECTOR_OF}
    collectors |= set(re.findall(r'collector="(\w+)"', alert["expr"]))
    for name in collectors:
        assert seconds(alert["for"]) >= 2 * discover()[name].interval.total_seconds(), name


# What a rule reads


def labels_of(name: str) -> set[str]:
    """Return the labels a metric, or what is recorded under a name, can have."""
    if name in RECORDS:
        return recorded_labels(RECORDS[name])
    if name in GIVEN_BY_OPERATORS:
        return GIVEN_BY_OPERATORS[name]
    if name == "up":
        return {"job", "instance"}
    metric = next(
        metric
        for metric in [*self_metrics.ALL, *(each for collector in discover() for each in metrics_of(collector))]
        if metric.name == name
    )
    return OF_TARGETS | set(metric.labels)


def recorded_labels(expression: str) -> set[str]:
    """Return the labels of a record: what it is aggregated by, or what the record that it reads has."""
    origin = result(expression)[0]
    return set(origin.kept) if origin.kept is not None else labels_of(origin.selector.name)


@each_rule
def test_a_rule_selects_metrics_that_exist_by_labels_that_they_have(rule: Rule) -> None:
    for selector in selectors(rule["expr"]):
        assert set(selector.labels) <= labels_of(selector.name), selector


@each_rule
def test_a_rule_names_no_job(rule: Rule) -> None:
    assert not re.search(r"\b(job|instance)\s*(=|!)", str(rule))


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_what_is_recorded_outlasts_the_exporter_s_pod(name: str) -> None:
    assert not {"job", "instance"} & labels_of(name)


# What is filled in


def test_every_threshold_is_used_and_every_token_known() -> None:
    body = TEMPLATE.partition("groups:\n")[2]
    assert set(rules.TOKEN.findall(body)) == set(THRESHOLDS)
    assert not rules.TOKEN.search(rules.rules(switched_on=True))


def test_the_alerts_that_are_off_are_only_in_what_is_switched_on() -> None:
    plain = rules.rules()
    for name in OFF_BY_DEFAULT:
        assert f"alert: {name}\n" not in plain
        assert f"alert: {name}\n" in rules.rules(switched_on=True)


def test_compressed_time_divides_every_duration_and_every_threshold_in_seconds() -> None:
    scale = 60
    scaled = [
        rule
        for group in yaml.safe_load(rules.rules(scale=scale, switched_on=True))["groups"]
        for rule in group["rules"]
    ]
    assert len(scaled) == len(RULES)
    for rule, quick in zip(RULES, scaled, strict=True):
        if "for" in rule:
            assert seconds(quick["for"]) == pytest.approx(seconds(rule["for"]) / scale, abs=0.001), rule
        times, quick_times = (list(map(seconds, durations(each["expr"]))) for each in (rule, quick))
        assert quick_times == pytest.approx([time / scale for time in times], abs=0.001), rule
    for threshold in THRESHOLDS.values():
        if threshold.unit is Unit.SECONDS:
            written = rules.write(threshold.name, threshold.default, scale)
            factor = 1 if threshold.is_wall_clock else scale
            assert float(written) == pytest.approx(float(threshold.default) / factor)


def test_a_value_takes_the_place_of_a_default() -> None:
    assert "> 33\n" in rules.rules({"ledgerLagHigh": 33})


def durations(expression: str) -> list[str]:
    """Return every duration in an expression, as in [5m], [45m:1m] and offset 1h."""
    return re.findall(r"(?<![\w:.])\d+(?:ms|[smhdwy])\b|(?<=:)\d+(?:ms|[smhdwy])(?=\])", expression)


def seconds(duration: str) -> float:
    number, unit = re.fullmatch(r"(\d+)(ms|[smhd])", duration).groups()  # type: ignore[union-attr]
    return int(number) * {"ms": 0.001, **rules.SECONDS}[unit]
