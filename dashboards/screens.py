"""The dashboards: a file each."""

from dashboards.exporter_itself import exporter_itself
from dashboards.governance import governance
from dashboards.ledger import ledger
from dashboards.overview import overview
from dashboards.scan_and_contracts import scan_and_contracts
from dashboards.transfers_and_names import transfers_and_names

SCREENS = (overview, ledger, scan_and_contracts, governance, transfers_and_names, exporter_itself)


def dashboards() -> dict[str, str]:
    """Return each dashboard's file and text."""
    screens = [screen() for screen in SCREENS]
    return {f"{screen.slug}.json": screen.text_of_file() for screen in screens}
