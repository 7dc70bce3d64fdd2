"""A page of the active contracts: which of them, how they look, and the token that leads on from there."""

import asyncio
import base64
from itertools import islice
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import brief_moment
from exporter.simulator.nodes.scan_acs_request import AcsRequest
from exporter.simulator.nodes.splice_request import bad_request, not_found
from exporter.simulator.world.acs_contracts import Contract
from exporter.simulator.world.acs_snapshots import Snapshot
from exporter.simulator.world.world import World

# Contracts are rows of a table that has others before them. A token is the row after which the next page begins.
FIRST_ROW = 5_000_000_000

# In the document a page may be of any size, but that many at most are given at once.
LARGEST_PAGE = 2_000

# Other requests are served meanwhile: every so many contracts looked at, and every so many written.
LOOKS = 2_000
WRITES = 200


class AcsPages:
    def __init__(self, world: World) -> None:
        self._world = world

    async def page(self, request: AcsRequest, version: int, dialect: Dialect) -> dict[str, Any]:
        snapshot = self._snapshot(request)
        size = min(request.page_size, LARGEST_PAGE)
        first = 0 if request.after is None else read_token(request.after, snapshot) + 1
        indices = await self._matching(request, first, snapshot.count, size)
        created = []
        for number, index in enumerate(indices):
            created.append(element_json(self._world.contracts.contract(index), version, dialect))
            if number % WRITES == WRITES - 1:
                await asyncio.sleep(0)
        return {
            # The document promises the time of the request, whichever snapshot it is that was found.
            "record_time": brief_moment(snapshot.time) if dialect.is_network else request.record_time,
            "migration_id": request.migration_id,
            "created_events": created,
            # A full page may be the last: nobody looks whether there is more.
            "next_page_token": write_token(indices[-1], snapshot, version) if len(indices) == size else None,
        }

    def _snapshot(self, request: AcsRequest) -> Snapshot:
        snapshot = self._world.snapshots.newest(request.migration_id, request.time)
        if request.is_exact and (snapshot is None or snapshot.time != request.time):
            asked = f"migration id {request.migration_id} at {request.record_time}"
            raise not_found(f"Failed to find ACS snapshot for {asked}")
        if snapshot is None:
            raise not_found(f"No snapshots found before {request.record_time}")
        return snapshot

    async def _matching(self, request: AcsRequest, first: int, end: int, size: int) -> list[int]:
        """The numbers of the first contracts that are asked for, as many as a page holds."""
        contracts = self._world.contracts
        numbers = contracts.of(request.templates, first, end) if request.templates else iter(range(first, end))
        if not request.parties or self._world.dso_party in request.parties:
            return list(islice(numbers, size))
        if request.parties.isdisjoint(contracts.parties):
            return []
        found: list[int] = []
        while len(found) < size and (batch := list(islice(numbers, LOOKS))):
            found += (index for index in batch if not request.parties.isdisjoint(contracts.stakeholders(index)))
            await asyncio.sleep(0)
        return found[:size]


def element_json(contract: Contract, version: int, dialect: Dialect) -> dict[str, Any]:
    event = {
        "contract_id": contract.contract_id,
        "template_id": contract.template.spelt(dialect, contract.version),
        "package_name": contract.template.package,
        "create_arguments": contract.arguments,
        "created_at": contract.created_at,
        "signatories": contract.signatories,
        "observers": contract.observers,
    }
    if version == 0:
        return {"event_type": "created_event", "event_id": f"{contract.created_in}:0"} | event
    # Of the migrations before, the updates are not known.
    return {"created_in_update_id": None if contract.is_imported else contract.created_in} | event


def write_token(index: int, snapshot: Snapshot, version: int) -> int | str:
    row = FIRST_ROW + index
    if version < 2:
        return row
    return base64.urlsafe_b64encode(f"{snapshot.migration.id}/{snapshot.time}/{row}".encode()).decode().rstrip("=")


def read_token(token: int | str, snapshot: Snapshot) -> int:
    """The number of the last contract of the page before."""
    try:
        row = token if isinstance(token, int) else int(base64.urlsafe_b64decode(token + "==").decode().split("/")[-1])
    except ValueError:
        row = -1
    index = row - FIRST_ROW
    version = 1 if isinstance(token, int) else 2
    if not 0 <= index < snapshot.count or write_token(index, snapshot, version) != token:
        raise bad_request("Invalid after token, outside of snapshot range")
    return index
