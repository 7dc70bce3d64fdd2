"""What holds of every dashboard, panel and question in it."""

import re
from datetime import timedelta
from itertools import combinations, pairwise
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client import REGISTRY

from dashboards.source.catalogue import OWN, RECORDED, names
from dashboards.source.thresholds import THRESHOLDS
from exporter.collectors import discover, metrics_of
from exporter.config.durations import read_duration
from tests.panels import DASHBOARDS, SILENT, VARIABLES, boards, filled, panels, questions

BOARDS = boards()
PANELS = [
    pytest.param(panel, id=f"{slug}: {panel['title']}") for slug, board in BOARDS.items() for panel in panels(board)
]
RATE_INTERVAL = timedelta(minutes=7)  # which no panel says of itself

TARGET = {"network", "role", "target"}
SCRAPE = {"job", "instance"}

COLLECTED = {metric.name: metric for name in discover() for metric in metrics_of(name)}
COLLECTOR = {metric.name: name for name in discover() for metric in metrics_of(name)}
LIBRARY = {sample.name for family in REGISTRY.collect() for sample in family.samples}
RULES = yaml.safe_load((DASHBOARDS / "rules.yaml").read_text())
RECORDING = {rule["record"]: rule["expr"] for group in RULES["groups"] for rule in group["rules"] if "record" in rule}

ALERTS = {"ALERTS", "ALERTS_FOR_STATE"}
"""Prometheus's own: it has the labels of the alerts' expressions, so it follows no job and no instance."""

OF_THE_NETWORK = {"canton_coin_rules_required_package_info"}
"""Facts of a network that are shown for each scan too."""

SLOWEST_SCRAPE = timedelta(minutes=1)
EACH_THREE_HOURS = {"canton:acs_contracts"}
"""Gauges that move with each new snapshot, whose growth over less than two of them is nothing and spikes."""

NOT_SHOWN: dict[str, str] = {}
"""Metrics that are on no dashboard, and why."""


def parsed(expression: str) -> promql_parser.Expr:
    return promql_parser.parse(filled(expression, rate_interval="7m"))


def nodes(expression: str, kind: type[Any]) -> list[Any]:
    found: list[Any] = []

    def visit(node: promql_parser.Expr) -> bool:
        found.extend([node] if isinstance(node, kind) else [])
        return True

    promql_parser.walk(parsed(expression), visit)
    return found


def selectors(expression: str) -> list[Any]:
    return nodes(expression, promql_parser.VectorSelector)


def labels_of(name: str) -> set[str]:
    if name in RECORDED:
        return set(RECORDED[name])
    if name in ALERTS:
        return {"alertname", "alertstate", "severity", "network", "target"}
    if name == "up" or name in LIBRARY:
        return SCRAPE
    if name in OWN:
        return {*OWN[name].labels, *SCRAPE, *(set() if name.startswith("canton_exporter_") else TARGET)}
    return {*COLLECTED[name].labels, *SCRAPE, *TARGET}


def expressions(panel: dict[str, Any]) -> list[str]:
    return [target["expr"] for target in panel["targets"]]


def shown() -> set[str]:
    asked = [expression for board in BOARDS.values() for panel in panels(board) for expression in expressions(panel)]
    return {selector.name for expression in asked for selector in selectors(expression)}


def test_every_dashboard_can_be_linked_to_and_is_found_beside_the_others() -> None:
    for slug, board in BOARDS.items():
        assert board["uid"] == f"canton-{slug}"
        assert board["title"].startswith("Canton / ")
        assert board["tags"] == ["canton"]
        assert board["editable"] is False
        assert board["graphTooltip"] == 1
        assert board["schemaVersion"] >= 39
        assert "__inputs" not in board
        assert "id" not in board
        [link] = board["links"]
        assert (link["type"], link["tags"]) == ("dashboards", ["canton"])
        assert link["keepTime"]
        assert link["includeVars"]


def test_variables_choose_the_data_source_the_exporter_the_network_and_the_target() -> None:
    for board in BOARDS.values():
        source, *rest = board["templating"]["list"]
        assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
        assert [variable["name"] for variable in rest][:4] == ["job", "instance", "network", "target"]
        assert {variable["name"] for variable in rest} <= set(VARIABLES)
        for variable in rest:
            assert variable["type"] == "query"
            assert variable["multi"]
            assert variable["includeAll"]
            assert variable["allValue"] == ".+"
            assert variable["refresh"] == 2
            assert variable["current"]["value"] == ["$__all"]


def test_each_variable_is_filtered_by_those_before() -> None:
    for board in BOARDS.values():
        before: list[str] = []
        for variable in board["templating"]["list"][1:]:
            for name in before:
                assert f'{name}=~"${name}"' in variable["query"], variable["name"]
            before.append(variable["name"])


def test_everything_asks_the_chosen_data_source() -> None:
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    for board in BOARDS.values():
        for panel in panels(board):
            assert panel["datasource"] == chosen
            assert all(target["datasource"] == chosen for target in panel["targets"])
        asked = [*board["templating"]["list"][1:], *board["annotations"]["list"]]
        assert all(each["datasource"] == chosen for each in asked)


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    for slug, board in BOARDS.items():
        ids = [panel["id"] for panel in board["panels"]]
        assert len(ids) == len(set(ids))
        for one, other in combinations([panel["gridPos"] for panel in board["panels"]], 2):
            beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
            below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
            assert beside or below, f"{slug}: {one} {other}"
        assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in board["panels"])


def test_titles_are_unique_within_a_dashboard() -> None:
    for board in BOARDS.values():
        titles = [panel["title"] for panel in panels(board)]
        assert len(titles) == len(set(titles))


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_says_what_it_shows_in_words(panel: dict[str, Any]) -> None:
    defaults = panel["fieldConfig"]["defaults"]
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["description"].count(". ") >= 1, "what it means, what is normal, when to worry"
    assert len(panel["description"]) < 500
    assert defaults["unit"] or defaults["mappings"]
    assert panel["targets"]
    assert defaults["noValue"]


@pytest.mark.parametrize("panel", PANELS)
def test_a_value_that_is_not_known_is_called_so(panel: dict[str, Any]) -> None:
    fields = [panel["fieldConfig"]["defaults"]]
    fields += [{p["id"]: p["value"] for p in each["properties"]} for each in panel["fieldConfig"]["overrides"]]
    for field in fields:
        if "mappings" not in field or field.get("custom.cellOptions") == {"type": "color-text"}:
            continue  # words have colours only
        special = [each["options"] for each in field["mappings"] if each["type"] == "special"]
        # A stat without series shows its own text, which a word for null would hide.
        assert special[0]["match"] == ("nan" if panel["type"] == "stat" else "null+nan")
        assert special[0]["result"]["text"] == "unknown"


def is_state(name: str) -> bool:
    metric = OWN.get(name) or COLLECTED.get(name)
    return metric is not None and metric.help.startswith(("0 if", "1 if"))


@pytest.mark.parametrize("panel", PANELS)
def test_zero_and_one_that_stand_for_a_state_have_words(panel: dict[str, Any]) -> None:
    titles: dict[str, str] = {}
    for step in panel.get("transformations", []):
        titles |= step["options"].get("renameByName", {})
    by_title = {each["matcher"]["options"]: each["properties"] for each in panel["fieldConfig"]["overrides"]}
    for target in panel["targets"]:
        if not re.fullmatch(r"(?:max|min) by \([^)]*\) \(\w+\{[^}]*\}\)", target["expr"]):
            continue
        [selector] = selectors(target["expr"])
        if not is_state(selector.name):
            continue
        mappings = panel["fieldConfig"]["defaults"]["mappings"]
        if panel["type"] == "table":
            title = titles.get(f"Value #{target['refId']}")
            mappings = next(p["value"] for p in by_title[title] if p["id"] == "mappings")
        said = {value for each in mappings if each["type"] == "value" for value in each["options"]}
        assert {"0", "1"} <= said, selector.name


@pytest.mark.parametrize("panel", PANELS)
def test_every_question_is_promql_about_metrics_and_labels_that_there_are(panel: dict[str, Any]) -> None:
    known = {*OWN, *COLLECTED, *LIBRARY, *RECORDING, *ALERTS, "up"}
    for expression in expressions(panel):
        assert "$__interval" not in expression
        for selector in selectors(expression):
            assert selector.name in known
            asked = {matcher.name for matcher in selector.matchers.matchers}
            assert asked <= labels_of(selector.name), selector.name


@pytest.mark.parametrize("panel", PANELS)
def test_every_selector_follows_the_variables(panel: dict[str, Any]) -> None:
    for expression in expressions(panel):
        for selector in nodes_of_text(expression):
            name = selector.split("{")[0]
            if name in ALERTS:
                assert 'network=~"$network|",target=~"$target|"' in selector  # empty where it is of no node
                continue
            for variable in ("job", "instance", "network"):
                is_asked = f'{variable}=~"${variable}"' in selector
                assert is_asked == (variable in labels_of(name)), selector


@pytest.mark.parametrize("panel", PANELS)
def test_a_fact_of_the_network_does_not_vanish_with_the_choice_of_another_target(panel: dict[str, Any]) -> None:
    """Variables are kept between dashboards: a ledger that was chosen has none of the facts that a scan tells."""
    for expression in expressions(panel):
        for selector, around in summed(expression):
            name = selector.partition("{")[0]
            if name in ALERTS:
                continue
            of_network = ["network" in labels and "target" not in labels for labels in around]
            if "target" not in labels_of(name) or name in OF_THE_NETWORK or of_network[-1:] == [True]:
                assert "$target" not in selector
            # What is counted of a network from each of its targets may follow the choice, or not.
            elif not any(of_network):
                assert 'target=~"$target"' in selector


def summed(expression: str) -> list[tuple[str, list[set[str]]]]:
    """Return each selector as it is written, and by what each aggregation around it sums up, from the outermost."""
    written = iter(nodes_of_text(expression))
    around: list[set[str]] = []
    found: list[tuple[str, list[set[str]]]] = []

    def enter(node: promql_parser.Expr) -> bool:
        if isinstance(node, promql_parser.AggregateExpr) and node.modifier:
            around.append(set(node.modifier.labels))
        if isinstance(node, promql_parser.VectorSelector):
            found.append((next(written), list(around)))
            assert found[-1][0].startswith(f"{node.name}{{")
        return True

    def leave(node: promql_parser.Expr) -> bool:
        if isinstance(node, promql_parser.AggregateExpr) and node.modifier:
            around.pop()
        return True

    promql_parser.walk(parsed(expression), enter, leave)
    return found


def nodes_of_text(expression: str) -> list[str]:
    """Return the selectors of an expression as they are written, variables and all."""
    found = re.findall(r"[\w:]+\{[^}]*\}", expression)
    assert len(found) == len(selectors(expression)), "every selector has braces"
    return found


@pytest.mark.parametrize("panel", PANELS)
def test_what_is_grouped_by_is_there(panel: dict[str, Any]) -> None:
    for expression in expressions(panel):
        for aggregate in nodes(expression, promql_parser.AggregateExpr):
            if aggregate.modifier is None:
                continue
            inner = selectors(str(aggregate.expr))
            there = set().union(*(labels_of(selector.name) for selector in inner))
            assert set(aggregate.modifier.labels) <= there, str(aggregate)


@pytest.mark.parametrize("panel", PANELS)
def test_a_second_exporter_of_the_same_nodes_doubles_nothing(panel: dict[str, Any]) -> None:
    for expression in expressions(panel):
        depth = 0

        def enter(node: promql_parser.Expr) -> bool:
            nonlocal depth
            if isinstance(node, promql_parser.AggregateExpr):
                depth += 1
                by = set(node.modifier.labels) if node.modifier else set()
                is_of_nodes = any("target" in labels_of(each.name) for each in selectors(str(node.expr)))
                is_of_exporters = str(node).startswith("count")  # how many targets it has is its own fact
                assert is_of_exporters or not (is_of_nodes and by & SCRAPE)
            if isinstance(node, promql_parser.VectorSelector) and node.name not in ALERTS:
                assert depth, f"not aggregated: {node}"
            return True

        def leave(node: promql_parser.Expr) -> bool:
            nonlocal depth
            depth -= isinstance(node, promql_parser.AggregateExpr)
            return True

        promql_parser.walk(parsed(expression), enter, leave)


@pytest.mark.parametrize("panel", PANELS)
def test_only_counters_have_a_rate_and_over_grafanas_own_interval(panel: dict[str, Any]) -> None:
    for expression in expressions(panel):
        for call in nodes(expression, promql_parser.Call):
            if call.func.name in ("rate", "increase", "irate"):
                [inner] = call.args
                name = inner.vector_selector.name
                assert name.endswith("_total") or OWN[name].type == "summary"
                assert inner.range == RATE_INTERVAL
            if call.func.name == "delta":
                [inner] = call.args
                assert inner.vector_selector.name in EACH_THREE_HOURS
                assert inner.range >= timedelta(hours=6)
            if call.func.name in ("idelta", "resets"):
                pytest.fail(f"{call.func.name} is of no use here")
            if call.func.name == "deriv":
                name = call.args[0].vector_selector.name
                assert not name.endswith("_total")
                assert COLLECTED[name].name == name
                assert discover()[COLLECTOR[name]].interval < timedelta(minutes=15), "use delta of what is recorded"


@pytest.mark.parametrize("panel", PANELS)
def test_a_moment_is_shown_as_an_age_or_as_a_date(panel: dict[str, Any]) -> None:
    for expression in expressions(panel):
        moments = [each.name for each in selectors(expression) if each.name.endswith("_timestamp_seconds")]
        is_difference = len(moments) > 1 and " - " in expression
        is_change = "changes(" in expression
        assert not moments or "time()" in expression or "* 1000" in expression or is_difference or is_change


@pytest.mark.parametrize("panel", PANELS)
def test_what_is_drawn_over_time_has_a_legend_of_labels_that_are_left(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        said = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        if panel["type"] in ("timeseries", "state-timeline"):
            assert target["legendFormat"]
            assert target["range"]
        else:
            assert target["instant"]
        grouped = nodes(target["expr"], promql_parser.AggregateExpr)
        assert said <= set().union(*(each.modifier.labels for each in grouped if each.modifier))


def collectors_of(expression: str, seen: frozenset[str] = frozenset()) -> set[str]:
    found: set[str] = set()
    for selector in selectors(expression):
        if selector.name in COLLECTOR:
            found.add(COLLECTOR[selector.name])
        elif selector.name in RECORDING and selector.name not in seen:
            found |= collectors_of(RECORDING[selector.name], seen | {selector.name})
    return found


@pytest.mark.parametrize("panel", PANELS)
def test_nothing_is_asked_for_more_often_than_it_is_read(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        asked = collectors_of(target["expr"]) or set(discover())
        shortest = min(discover()[name].interval for name in asked)
        if "$__rate_interval" in target["expr"]:
            # It is four of these steps, in which a Prometheus that scrapes each minute has to have two values.
            shortest = max(shortest, SLOWEST_SCRAPE)
        assert read_duration(target["interval"]) == shortest


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_changes_its_colour_where_an_alert_fires(panel: dict[str, Any]) -> None:
    alerts = {threshold.default for threshold in THRESHOLDS.values()} | {1}  # one of what should not be
    steps = [panel["fieldConfig"]["defaults"]["thresholds"]["steps"]]
    for override in panel["fieldConfig"]["overrides"]:
        steps += [each["value"]["steps"] for each in override["properties"] if each["id"] == "thresholds"]
    for each in steps:
        values = [step["value"] for step in each[1:]]
        assert each[0]["value"] is None
        assert {abs(value) for value in values} <= alerts
        assert all(low < high for low, high in pairwise(values))


@pytest.mark.parametrize("panel", PANELS)
def test_where_an_optional_collector_is_off_the_panel_says_which(panel: dict[str, Any]) -> None:
    asked = [collectors_of(expression) for expression in expressions(panel)]
    off = {name for name in set().union(*asked) if not discover()[name].on_by_default}
    if off and all(each & off for each in asked):
        assert any(name in panel["fieldConfig"]["defaults"]["noValue"] for name in off)
    elif off:
        # What is shown without it is missing for another reason.
        assert not any(name in panel["fieldConfig"]["defaults"]["noValue"] for name in off)


@pytest.mark.parametrize("panel", PANELS)
def test_where_nothing_is_good_news_it_is_said_that_it_may_be_no_news(panel: dict[str, Any]) -> None:
    said = panel["fieldConfig"]["defaults"]["noValue"]
    if re.match(r"(No|None|Nothing)\b(?! data)", said) and "over https" not in said and "has a token" not in said:
        assert ", or " in said, "what nothing shows is either not there or not known"


@pytest.mark.parametrize("panel", PANELS)
def test_fifty_targets_can_be_read(panel: dict[str, Any]) -> None:
    if panel["type"] != "timeseries":
        return
    for target in panel["targets"]:
        said = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        if "template" in said or ("target" in said and said & {"collector", "route", "reason", "code"}):
            assert "topk(20, " in target["expr"], "there is a line for each target and each of these"


def test_every_metric_is_on_a_dashboard() -> None:
    assert {*OWN, *COLLECTED} - shown() == set(NOT_SHOWN)


def test_the_recorded_names_are_those_of_the_rules_with_their_labels() -> None:
    assert set(RECORDED) == set(RECORDING)
    for name, expression in RECORDING.items():
        whole = promql_parser.parse(expression)
        if isinstance(whole, promql_parser.AggregateExpr):
            assert whole.modifier is not None
            assert set(whole.modifier.labels) == set(RECORDED[name])


def test_nothing_needs_kubernetes_or_a_fixed_job() -> None:
    for slug in BOARDS:
        text = (DASHBOARDS / f"{slug}.json").read_text()
        assert not re.search(r"\b(namespace|pod|container|cluster|node|service)\s*=", text)
        assert not re.search(r"\b(job|instance)=(?!~\\?\"\$)", text)
        assert "histogram" not in text


def test_annotations_ask_promql_that_follows_the_variables() -> None:
    for board in BOARDS.values():
        for annotation in board["annotations"]["list"]:
            assert annotation["useValueForTime"]
            for selector in nodes_of_text(annotation["expr"]):
                assert 'network=~"$network"' in selector


def test_what_has_no_data_on_the_demo_is_asked_for() -> None:
    asked = {(question.panel, names(question.expression)[0]) for question in questions()}
    assert set(SILENT) <= asked
