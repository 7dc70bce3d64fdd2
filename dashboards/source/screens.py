"""The dashboards: a file each."""

from dashboards.source.exporter_itself import exporter_itself
from dashboards.source.governance import governance
from dashboards.source.ledger import ledger
from dashboards.source.overview import overview
from dashboards.source.scan_and_contracts import scan_and_contracts
from dashboards.source.transfers_and_names import transfers_and_names

SCREENS = (overview, ledger, scan_and_contracts, governance, transfers_and_names, exporter_itself)


def dashboards() -> dict[str, str]:
    """Return each dashboard's file and text."""
    screens = [screen() for screen in SCREENS]
    return {f"{screen.slug}.json": screen.text_of_file() for screen in screens}
