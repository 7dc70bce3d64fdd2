"""The rules that the chart gives to Prometheus: those of the plain file, with an operator's thresholds and switches."""

from typing import Any

import yaml

from dashboards.source.rules import plain, rules
from dashboards.source.thresholds import OFF_BY_DEFAULT
from tests.chart.engine import CHART, ONE, Values, render, the
from tools.chart import RUNBOOKS


def groups(**rule: Any) -> Any:
    values: Values = ONE | {"prometheusRule": {"enabled": True, **rule}}
    return the(render(values), "PrometheusRule")["spec"]["groups"]


def alerts(of: Any) -> set[str]:
    return {rule["alert"] for group in of for rule in group["rules"] if "alert" in rule}


def test_with_default_values_they_are_the_plain_file() -> None:
    assert groups() == yaml.safe_load(plain())["groups"]


def test_with_every_alert_on_they_are_the_whole_template() -> None:
    assert groups(alerts=dict.fromkeys(OFF_BY_DEFAULT, True)) == yaml.safe_load(rules(switched_on=True))["groups"]


def test_thresholds_reach_every_rule_that_has_them() -> None:
    changed: dict[str, int | float | str] = {
        "ledgerQuietAfter": "20m",
        "ledgerLagHigh": 45,
        "ansEntryWarning": 2_592_000,
        "acsGrowthRatio": 1.25,
    }
    page = "https://wiki.example/canton"
    expected = rules({**changed, RUNBOOKS: page})
    assert groups(thresholds=changed, runbookUrl=f"{page}/") == yaml.safe_load(expected)["groups"]


def test_an_alert_that_is_switched_off_is_gone_with_all_its_severities() -> None:
    assert alerts(groups()) - alerts(groups(alerts={"CantonNodeDown": False})) == {"CantonNodeDown"}


def test_a_group_without_rules_is_left_out() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    off = dict.fromkeys(values["prometheusRule"]["alerts"], False)
    kept = groups(alerts=off)
    assert alerts(kept) == set()
    assert all(group["rules"] for group in kept)
    assert "canton-transfers" not in {group["name"] for group in kept}


def test_labels_and_annotations_go_to_alerts_and_not_to_what_is_recorded() -> None:
    for group in groups(alertLabels={"team": "canton"}, alertAnnotations={"board": "https://a.example"}):
        for rule in group["rules"]:
            assert (rule.get("labels", {}).get("team") == "canton") == ("alert" in rule)
            assert (rule.get("annotations", {}).get("board") is not None) == ("alert" in rule)


def test_labels_and_annotations_of_an_operator_win_over_the_alerts_own() -> None:
    changed = [
        rule
        for group in groups(alertLabels={"severity": "page"}, alertAnnotations={"summary": "{{ $labels.target }}"})
        for rule in group["rules"]
        if "alert" in rule
    ]
    assert {rule["labels"]["severity"] for rule in changed} == {"page"}
    assert {rule["annotations"]["summary"] for rule in changed} == {"{{ $labels.target }}"}


def test_limits_of_templates_are_recorded() -> None:
    name = "splice-amulet:Splice.Amulet:AppRewardCoupon"
    assert groups(backlogLimits={name: 1_728_000})[-1] == {
        "name": "canton-limits",
        "rules": [
            {"record": "canton:template_backlog_limit_seconds", "labels": {"template": name}, "expr": "vector(1728000)"}
        ],
    }


def test_groups_of_ones_own_come_last() -> None:
    own = {"name": "own", "rules": [{"record": "own:up", "expr": "up"}]}
    assert groups(extraGroups=[own])[-1] == own
