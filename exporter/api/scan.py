"""What several collectors request from a scan: its migration and its newest snapshot; and the name of a template."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Annotated, Any

import msgspec
from pydantic import Field

from exporter.collector import (
    Int64,
    Kind,
    Memo,
    Moment,
    Node,
    NoEntry,
    Refused,
    Strict,
    Struct,
    Unsupported,
    decode_part,
    limits,
)

ACS = "/{version}/state/acs"
ACS_VERSIONS = ("v2", "v1", "v0")
"""The newest first: a release that has two of them has deprecated the older."""

MOST_MIGRATIONS = 12
"""Where to stop looking for a migration id; networks are at 1 to 4, and there are no new ones."""


class MigrationOptions(Strict):
    migration_id: int | None = Field(default=None, ge=0)
    """The network's migration id; found out where the node reports it."""


class LastMigration(Struct):
    migration_id: Int64


class MigrationInfo(Struct):
    complete: bool | None = None


class Taken(Struct):
    record_time: Annotated[str, msgspec.Meta(max_length=64)]


MIGRATION = Memo[int]()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of the active contracts. `record_time` is as the node wrote it, since it must come back the same."""

    migration_id: int
    record_time: str
    moment: datetime
    is_exact: bool = True
    """Whether it was taken at `record_time`; else that is only the time requested, and when it was taken is unknown.

    Then nothing shows whether the node begins to answer from a newer one between two pages.
    """

    def body(self, page_size: int, after: str | int | None = None) -> dict[str, Any]:
        """Return the body of a request for a page of its contracts."""
        body: dict[str, Any] = {"migration_id": self.migration_id, "record_time": self.record_time}
        if not self.is_exact:
            body["record_time_match"] = "at_or_before"
        if after is not None:
            body["after"] = after
        return {**body, "page_size": page_size}


async def find_migration(node: Node, configured: int | None, known: int | None) -> int:
    """Return the network's migration id: the configured one, else the scan's; `known` is where to begin."""
    if configured is not None:
        return configured
    try:
        return await node.first(partial(last_migration, node), partial(walk_migrations, node, known))
    except Unsupported as error:
        raise Unsupported(f"{error}; set the option migration_id") from error


async def last_migration(node: Node) -> int:
    return (await node.get("/v0/migrations/last", LastMigration)).migration_id


async def walk_migrations(node: Node, known: int | None) -> int:
    """Request one migration after the other, until there is none after one that is there."""
    start = known or 0
    found = None
    for number in chain(range(start, start + MOST_MIGRATIONS), range(start)):
        if await node.find("/v0/backfilling/migration-info", MigrationInfo, {"migration_id": number}):
            found = number
        elif found is not None:
            return found
    if found is None:
        raise Refused(f"POST /v0/backfilling/migration-info: there is no data for any of {MOST_MIGRATIONS} migrations")
    return found


async def newest_snapshot(node: Node, migration_id: int) -> Snapshot | None:
    """Return the newest snapshot, None if there is none yet."""
    now = node.now()
    ways = [partial(by_its_time, node, migration_id, now)]
    ways += [partial(by_its_contracts, node, migration_id, now, version) for version in ACS_VERSIONS]
    try:
        return await node.first(*ways)
    except NoEntry:
        return None


async def by_its_time(node: Node, migration_id: int, now: float) -> Snapshot:
    route = "/v0/state/acs/snapshot-timestamp"
    query = {"before": write_moment(now), "migration_id": str(migration_id)}
    taken = (await node.get(route, Taken, query=query)).record_time
    return Snapshot(migration_id, taken, decode_part(taken, Moment, f"GET {route}"))


async def by_its_contracts(node: Node, migration_id: int, now: float, version: str) -> Snapshot:
    requested = Snapshot(migration_id, write_moment(now), datetime.fromtimestamp(now, UTC), is_exact=False)
    route = ACS.format(version=version)
    taken = (await node.post(route, Taken, requested.body(page_size=1), most_bytes=limits.CONTRACT_BYTES)).record_time
    moment = decode_part(taken, Moment, f"POST {route}")
    # By the letter of the document the answer repeats the time requested, and not when the snapshot was taken.
    return requested if moment == requested.moment else Snapshot(migration_id, taken, moment)


def write_moment(seconds: float) -> str:
    """Return Unix seconds as the APIs write a time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def prefix(node: Node) -> str:
    """Return what the paths of requests begin with that a validator passes on to the scans."""
    return "/v0/scan-proxy" if node.kind is Kind.VALIDATOR else "/v0"


def template_name(template_id: str, package_name: str | None) -> str:
    """Return PACKAGE_NAME:MODULE:ENTITY; real nodes write the package's id there, and its name beside it."""
    package, colon, rest = template_id.partition(":")
    return f"{package_name or package}{colon}{rest}"
