"""What the tests of scans have in common: the ACS operations of each dialect, and a walk through all pages."""

from typing import Any

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from tests.simulator.conftest import Client, StandingClock

RELEASES = [dialect for dialect in Dialect if dialect is not Dialect.DOCUMENT]
VERSIONS = {
    Dialect.DOCUMENT: [0, 2],
    Dialect.V0_5_10: [0],
    Dialect.V0_5: [0],
    Dialect.V0_6: [0, 1],
    Dialect.V0_7_5: [0, 1, 2],
    Dialect.V0_9: [2],
}
OPERATIONS = [(dialect, version) for dialect, versions in VERSIONS.items() for version in versions]

AMULET = "splice-amulet:Splice.Amulet:Amulet"
LATEST: dict[str, Any] = {"migration_id": 4, "record_time": "2026-11-21T06:00:00Z", "record_time_match": "at_or_before"}


def scans(clock: StandingClock, **settings: Any) -> Network:
    """A scan in every dialect, named for it."""
    return Network([NodeSpec(dialect, Kind.SCAN, dialect) for dialect in Dialect], clock=clock, **settings)


async def page(client: Client, network: Network, dialect: str, version: int, **body: Any) -> dict[str, Any]:
    answer = await client.ask(network[dialect], f"/v{version}/state/acs", LATEST | {"page_size": 1000} | body)
    assert answer.status == 200, answer.text
    assert isinstance(answer.json, dict)
    return answer.json


async def pages(
    client: Client, network: Network, dialect: str, version: int, **body: Any
) -> list[list[dict[str, Any]]]:
    """The contracts of each page, to the last page."""
    found, after = [], None
    while True:
        answer = await page(client, network, dialect, version, **body, after=after)
        found.append(answer["created_events"])
        after = answer.get("next_page_token")
        if after is None:
            return found
