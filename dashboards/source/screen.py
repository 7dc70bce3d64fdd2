"""What every dashboard has: variables, links to the others, and panels in sections."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.source.grafana import JSONEncoder, build, model
from dashboards.source.panels import SOURCE, Made

TAG = "canton"
EVERYTHING = ".+"

VARIABLES = {
    "job": "label_values(canton_exporter_build_info, job)",
    "instance": 'label_values(canton_exporter_build_info{job=~"$job"}, instance)',
    "network": 'label_values(canton_target_info{job=~"$job",instance=~"$instance"}, network)',
    "target": 'label_values(canton_target_info{job=~"$job",instance=~"$instance",network=~"$network"}, target)',
}


@dataclass(frozen=True)
class Section:
    title: str
    panels: Sequence[Made]


@dataclass(frozen=True)
class Screen:
    """One dashboard. `slug` is its file and its lasting address, `since` from when on it shows first."""

    slug: str
    title: str
    text: str
    sections: Sequence[Section]
    since: str = "now-6h"
    variables: dict[str, str] | None = None
    annotations: Sequence[build.AnnotationQuery] = ()

    def text_of_file(self) -> str:
        return json.dumps(self.dashboard(), cls=JSONEncoder, indent=2) + "\n"

    def dashboard(self) -> model.Dashboard:
        made = build.Dashboard(f"Canton / {self.title}").uid(f"canton-{self.slug}").description(self.text)
        made.tags([TAG]).readonly().tooltip(model.DashboardCursorSync.CROSSHAIR).timezone("browser")
        made.time(self.since, "now").refresh("1m").link(others()).annotations(list(self.annotations))
        made.with_variable(build.DatasourceVariable("datasource").label("Data source").type("prometheus"))
        for name, asked in (VARIABLES | (self.variables or {})).items():
            made.with_variable(variable(name, asked))
        for section in self.sections:
            made.with_row(build.Row(section.title))
            for panel in section.panels:
                made.with_panel(panel)
        board = made.build()
        for number, each in enumerate(board.panels or [], start=1):
            each.id_val = number
        return tidied(board)


def tidied(board: model.Dashboard) -> model.Dashboard:
    """Leave out what the kit says unasked and Grafana does not know there."""
    for variable in board.templating.list_val or []:
        variable.auto = variable.auto_min = variable.auto_count = None
    for link in board.links or []:
        link.placement = None  # type: ignore[assignment] # it would hide the links in a menu
    return board


def variable(name: str, asked: str) -> build.QueryVariable:
    everything = model.VariableOption(selected=True, text=["All"], value=["$__all"])
    made = build.QueryVariable(name).label(name.capitalize()).datasource(SOURCE).query(asked).definition(asked)
    made.multi(True).include_all(True).all_value(EVERYTHING).current(everything)
    made.refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
    return made.sort(model.VariableSort.ALPHABETICAL_ASC)


def others() -> build.DashboardLink:
    """Lead to every dashboard of the tag, with the same time and variables."""
    made = build.DashboardLink("Canton").type(model.DashboardLinkType.DASHBOARDS).tags([TAG])
    return made.as_dropdown(False).keep_time(True).include_vars(True)


def annotation(name: str, expression: str, title: str, text: str) -> build.AnnotationQuery:
    """Mark the moments that a series has as its values, in milliseconds."""
    made = build.AnnotationQuery().name(name).datasource(SOURCE).enable(True).icon_color("purple").expr(expression)
    return made.title_format(title).text_format(text).step("1m").use_value_for_time(True)
