"""The dashboards as Grafana reads them, and their questions as Prometheus answers them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DASHBOARDS = Path(__file__).parent.parent / "dashboards"
VARIABLES = ("job", "instance", "network", "target", "field")

# What has no data on a healthy demo network within its first minutes, and why.
SILENT: dict[str, str] = {
    "Firing alerts": "no alert fires",
}


class Question(NamedTuple):
    """What a panel asks; of a table's columns and a graph's lines, each on its own."""

    dashboard: str
    panel: str
    expression: str


def boards() -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(DASHBOARDS.glob("*.json"))}


def panels(board: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the panels of a dashboard that show something, which rows do not."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def filled(expression: str, *, rate_interval: str = "1m", span: str = "5m") -> str:
    """Return an expression without Grafana's variables: with everything chosen."""
    for name, value in {"__rate_interval": rate_interval, "__range": span}.items():
        expression = expression.replace(f"${name}", value)
    for variable in VARIABLES:
        expression = expression.replace(f"${variable}", ".+")
    return expression


def questions(*, rate_interval: str = "1m", span: str = "5m") -> Iterator[Question]:
    """Give every question of every panel, as it can be put to Prometheus."""
    for board in boards().values():
        for panel in panels(board):
            for target in panel["targets"]:
                expression = filled(target["expr"], rate_interval=rate_interval, span=span)
                yield Question(board["title"], panel["title"], expression)
