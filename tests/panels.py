"""The dashboards as Grafana reads them, and their questions as Prometheus answers them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dashboards.source.catalogue import names

DASHBOARDS = Path(__file__).parent.parent / "dashboards"
VARIABLES = ("job", "instance", "network", "target", "field")

# What may have no data on a healthy demo network in its first minutes: the panel, the name it asks for, and why.
SILENT: dict[tuple[str, str], str] = {
    ("Firing alerts", "ALERTS"): "no alert fires",
    ("The network goes on", "canton:network_advances"): "it looks back five minutes",
    ("The network goes on, over time", "canton:network_advances"): "it looks back five minutes",
    ("Stands still", "canton:ledger_stuck"): "it looks back 45 minutes",
    ("Next scheduled change", "canton_coin_rules_scheduled_change_timestamp_seconds"): "it is due after five minutes",
    ("Values that changed", "canton_coin_rules_config_value"): "the demo's rules change after five minutes",
    ("Last day to last week", "canton:acs_contracts"): "no template of the demo has more than 10000 contracts",
    ("Traffic lasts for", "canton:traffic_runway_seconds"): "it looks back an hour",
    ("Oldest transfer under way", "canton_transfer_command_oldest_timestamp_seconds"): "none is, but for moments",
    ("Oldest transfer under way, over time", "canton_transfer_command_oldest_timestamp_seconds"): "none is",
    ("Nodes", "canton_down_info"): "no node is down",
    ("Questions", "canton_collector_failure_info"): "no question fails",
    ("Failing questions, over time", "canton_collector_failure_info"): "no question fails",
    ("Failures by reason", "canton_collector_failures_total"): "no question has failed",
    ("Time left of certificates", "canton_target_certificate_expiry_timestamp_seconds"): "the demo has no TLS",
}


class PanelQuery(NamedTuple):
    """What a panel asks; of a table's columns and a graph's lines, each on its own."""

    dashboard: str
    panel: str
    expression: str

    @property
    def silence(self) -> str | None:
        """Why it may have no answer on the demo."""
        return SILENT.get((self.panel, names(self.expression)[0]))


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


def questions(*, rate_interval: str = "1m", span: str = "5m") -> Iterator[PanelQuery]:
    """Give every question of every panel, as it can be put to Prometheus."""
    for board in boards().values():
        for panel in panels(board):
            for target in panel["targets"]:
                expression = filled(target["expr"], rate_interval=rate_interval, span=span)
                yield PanelQuery(board["title"], panel["title"], expression)
