"""How a panel is made: the one place that knows what every stat, graph, timeline and table has in common."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TypeVar

from dashboards.source import catalogue
from dashboards.source.grafana import (
    PromQueryFormat,
    build,
    common,
    model,
    options,
    prometheus,
    stat,
    statetimeline,
    table,
    timeseries,
)
from dashboards.source.looks import BLUE, Look

SOURCE = options.DataSourceRef(type_val="prometheus", uid="${datasource}")
GROUPED = re.compile(r"\bby \(([^)]*)\)")

TITLES = {
    "alertname": "Alert",
    "synchronizer_prefix": "Synchronizer",
    "pythonversion": "Python",
    "sv": "Super validator",
}

Made = stat.Panel | timeseries.Panel | statetimeline.Panel | table.Panel
Some = TypeVar("Some", stat.Panel, timeseries.Panel, statetimeline.Panel, table.Panel)


@dataclass(frozen=True)
class Column:
    """A query of a table, and the column its values become. Without a title only its labels are shown."""

    title: str
    expression: str
    look: Look | None = None


def dress(
    panel: Some, title: str, text: str, expressions: Sequence[str], look: Look, *, size: tuple[int, int], none: str
) -> Some:
    """Give a panel what each has. `none` is what to show instead of nothing, where nothing is good news."""
    width, height = size
    steps = build.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(look.thresholds())
    panel.title(title).description(text).datasource(SOURCE).span(width).height(height)
    panel.unit(look.unit).mappings(look.mappings(is_stat=isinstance(panel, stat.Panel))).thresholds(steps)
    panel.no_value(none or catalogue.nothing(expressions))
    if look.decimals is not None:
        panel.decimals(look.decimals)
    return panel


def query(index: int, expression: str, legend: str = "") -> prometheus.Dataquery:
    """Make a target; without a legend of its own it is named by what it is grouped by."""
    made = prometheus.Dataquery().ref_id(ascii_uppercase[index]).expr(expression).datasource(SOURCE)
    return made.interval(catalogue.step(expression)).legend_format(legend or by_labels(expression))


def by_labels(expression: str) -> str:
    grouped = GROUPED.search(expression)
    if grouped is None:
        raise ValueError(f"is not grouped, and so needs a legend: {expression}")
    return " ".join(f"{{{{{label.strip()}}}}}" for label in grouped[1].split(","))


def number(
    title: str,
    text: str,
    expressions: str | Sequence[tuple[str, str]],
    look: Look,
    *,
    width: int = 6,
    height: int = 5,
    legend: str = "",
    none: str = "",
    looks: Mapping[str, Look] | None = None,
) -> stat.Panel:
    """Make a panel of the newest values, large. `looks` says which legend has a look of its own."""
    asked = [(expressions, legend)] if isinstance(expressions, str) else list(expressions)
    panel = dress(stat.Panel(), title, text, [each for each, _ in asked], look, size=(width, height), none=none)
    panel.targets([query(index, expression, name).instant() for index, (expression, name) in enumerate(asked)])
    for name, own in (looks or {}).items():
        steps = {"mode": "absolute", "steps": own.thresholds()}
        panel.override_by_name(name, [model.DynamicConfigValue("thresholds", steps)])
    panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    panel.text_mode(options.BigValueTextMode.VALUE_AND_NAME).graph_mode(options.BigValueGraphMode.NONE)
    coloured = options.BigValueColorMode.BACKGROUND if look.words else options.BigValueColorMode.VALUE
    return panel.color_mode(coloured).color_scheme(by_threshold())


def graph(
    title: str,
    text: str,
    expressions: str | Sequence[tuple[str, str]],
    look: Look,
    *,
    width: int = 12,
    height: int = 8,
    bars: bool = False,
    log: bool = False,
    none: str = "",
) -> timeseries.Panel:
    """Make a panel of values over time, of one expression or of several with their legends."""
    asked = [(expressions, "")] if isinstance(expressions, str) else list(expressions)
    each = [expression for expression, _ in asked]
    panel = dress(timeseries.Panel(), title, text, each, look, size=(width, height), none=none)
    panel.targets([query(index, expression, legend).range() for index, (expression, legend) in enumerate(asked)])
    panel.legend(legend_below())
    panel.tooltip(common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI).sort(options.SortOrder.DESCENDING))
    panel.color_scheme(build.FieldColor().mode(model.FieldColorModeId.PALETTE_CLASSIC_BY_NAME))
    panel.draw_style(options.GraphDrawStyle.BARS if bars else options.GraphDrawStyle.LINE)
    panel.fill_opacity(80 if bars else 8).line_width(1).show_points(options.VisibilityMode.AUTO)
    if log:
        panel.scale_distribution(common.ScaleDistributionConfig().type(options.ScaleDistribution.LOG).log(10))
    if len(look.steps) > 1:
        line = common.GraphThresholdsStyleConfig().mode(options.GraphThresholdsStyleMode.DASHED)
        panel.thresholds_style(line)
    return panel


def timeline(
    title: str,
    text: str,
    expression: str,
    look: Look,
    *,
    width: int = 12,
    height: int = 8,
    legend: str = "",
    none: str = "",
) -> statetimeline.Panel:
    """Make a panel of states over time."""
    panel = dress(statetimeline.Panel(), title, text, [expression], look, size=(width, height), none=none)
    panel.targets([query(0, expression, legend).range()])
    panel.merge_values(True).show_value(options.VisibilityMode.AUTO).row_height(0.8).fill_opacity(80).line_width(0)
    panel.legend(legend_below().show_legend(False))
    panel.tooltip(common.VizTooltipOptions().mode(options.TooltipDisplayMode.SINGLE).sort(options.SortOrder.NONE))
    return panel.color_scheme(by_threshold())


def grid(
    title: str,
    text: str,
    columns: Sequence[Column],
    *,
    width: int = 24,
    height: int = 8,
    links: dict[str, list[tuple[str, str]]] | None = None,
    colors: dict[str, dict[str, str]] | None = None,
    none: str = "",
) -> table.Panel:
    """Make a table: a row for each combination of the labels that all queries have, a column for each query.

    `links` says where a label's values lead to, as titles and addresses, and `colors` which of them has which colour.
    """
    asked = [column.expression for column in columns]
    panel = dress(table.Panel(), title, text, asked, Look("none"), size=(width, height), none=none)
    panel.targets(
        [
            query(index, column.expression).instant().format(PromQueryFormat.TABLE)
            for index, column in enumerate(columns)
        ]
    )
    panel.mappings([*Look("none").mappings(), empty()])
    panel.transformations([model.DataTransformerConfig("merge", options={}), arranged(columns)])
    panel.color_scheme(by_threshold()).filterable(True).show_header(True).cell_height(options.TableCellHeight.SM)
    for column in columns:
        if column.title and column.look:
            panel.override_by_name(column.title, cells(column.look))
    for label, leads in (links or {}).items():
        found = [{"title": name, "url": url} for name, url in leads]
        panel.override_by_name(words(label), [model.DynamicConfigValue("links", found)])
    for label, colored in (colors or {}).items():
        results = {value: model.ValueMappingResult(color=color) for value, color in colored.items()}
        cell = model.DynamicConfigValue("custom.cellOptions", {"type": "color-text"})
        panel.override_by_name(words(label), [model.DynamicConfigValue("mappings", [model.ValueMap(results)]), cell])
    return panel


def empty() -> model.SpecialValueMap:
    """Return a dash for a label that is empty, where the text for a table without any line would stand."""
    result = model.ValueMappingResult(text="-")
    return model.SpecialValueMap(model.DashboardSpecialValueMapOptions(model.SpecialValueMatch.EMPTY, result))


def arranged(columns: Sequence[Column]) -> model.DataTransformerConfig:
    """Name columns, put them in order, and leave out times and the values of those without a title."""
    order = list(dict.fromkeys(label for column in columns for label in grouped_by(column.expression)))
    renamed = {label: words(label) for label in order}
    hidden = {"Time": True}
    for index, column in enumerate(columns):
        # A table of a single query has no letter in it.
        for value in [f"Value #{ascii_uppercase[index]}", *(["Value"] if len(columns) == 1 else [])]:
            if column.title:
                renamed[value] = column.title
                order.append(value)
            else:
                hidden[value] = True
    arrangement = {
        "excludeByName": hidden,
        "indexByName": {name: index for index, name in enumerate(order)},
        "renameByName": renamed,
    }
    return model.DataTransformerConfig("organize", options=arrangement)


def grouped_by(expression: str) -> list[str]:
    grouped = GROUPED.search(expression)
    return [label.strip() for label in grouped[1].split(",")] if grouped else []


def words(label: str) -> str:
    """Return a label as a column's title."""
    return TITLES.get(label) or label.replace("_", " ").capitalize()


def cells(look: Look) -> list[model.DynamicConfigValue]:
    is_coloured = bool(look.words) or look.steps != ((None, BLUE),)
    given = [
        model.DynamicConfigValue("unit", look.unit),
        model.DynamicConfigValue("mappings", look.mappings()),
        model.DynamicConfigValue("thresholds", {"mode": "absolute", "steps": look.thresholds()}),
        model.DynamicConfigValue("custom.cellOptions", {"type": "color-background" if is_coloured else "auto"}),
    ]
    return given if look.decimals is None else [*given, model.DynamicConfigValue("decimals", look.decimals)]


def legend_below() -> common.VizLegendOptions:
    made = common.VizLegendOptions().show_legend(True).placement(options.LegendPlacement.BOTTOM)
    return made.display_mode(options.LegendDisplayMode.LIST).calcs([])


def by_threshold() -> build.FieldColor:
    return build.FieldColor().mode(model.FieldColorModeId.THRESHOLDS)
