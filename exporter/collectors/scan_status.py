"""How far a scan has followed the network, and which release it is.

Asks: POST /v0/backfilling/migration-info, or from 0.9 on GET /v0/events/latest-record-time; GET /version; for the
migration id GET /v0/migrations/last.
Needs: nothing; a scan knows no tokens.
Costs: three small requests a run, two more on releases before 0.6.8.
"""

from functools import partial

from exporter.api.scan import MIGRATION, MigrationOptions, find_migration
from exporter.collector import (
    Kind,
    Metric,
    Moment,
    Name,
    Node,
    Refused,
    RunOutput,
    Struct,
    Unsupported,
    Yields,
    collector,
    seconds,
)

RECORD_TIMESTAMP = Metric(
    "canton_scan_record_timestamp_seconds",
    "Newest record time that the scan has ingested, in Unix seconds; the label synchronizer is empty if unknown.",
    ("synchronizer",),
    source="POST /v0/backfilling/migration-info or GET /v0/events/latest-record-time",
)
INFO = Metric(
    "canton_scan_info",
    "Release of the scan and migration id of the network; the label migration_id is empty if unknown; always 1.",
    ("version", "migration_id"),
    source="GET /version and /v0/migrations/last",
)


NO_RECORD_TIME = "the scan does not report up to which record time it has data"


class Range(Struct):
    synchronizer_id: Name
    max: Moment


class MigrationInfo(Struct):
    record_time_range: tuple[Range, ...]


class LatestRecordTime(Struct):
    record_time: Moment


class Version(Struct):
    version: Name


@collector(Kind.SCAN, interval=seconds(60), timeout=seconds(30), options=MigrationOptions)
async def scan_status(node: Node, options: MigrationOptions, previous: RunOutput) -> Yields:
    version = await node.or_none(partial(node.get, "/version", Version))
    try:
        known = previous.memo(MIGRATION)
        migration_id = await node.or_none(partial(find_migration, node, options.migration_id, known))
    except Refused as error:
        if version is None or error.status is not None:
            raise
        node.remark(NO_RECORD_TIME, str(error))
        migration_id = None
    times = await node.or_none(partial(record_times, node, migration_id))
    if times is None and migration_id is not None:
        node.remark(NO_RECORD_TIME, f"nothing of migration {migration_id}")
    if version is None and times is None:
        raise Unsupported("the node reports neither its release nor up to which record time it has data")
    if migration_id is not None:
        yield MIGRATION.of(migration_id)
    if version is not None:
        shown_id = "" if migration_id is None else str(migration_id)
        yield INFO.sample(1, version=version.version, migration_id=shown_id)
    for synchronizer, time in (times or {}).items():
        yield RECORD_TIMESTAMP.sample(time, synchronizer=synchronizer)


async def record_times(node: Node, migration_id: int | None) -> dict[str, float]:
    """Return the newest record time ingested from each synchronizer, in Unix seconds."""

    async def of_migration() -> dict[str, float]:
        if migration_id is None:
            raise Unsupported("the migration id is not known")
        body = {"migration_id": migration_id}
        ranges = (await node.post("/v0/backfilling/migration-info", MigrationInfo, body)).record_time_range
        newest: dict[str, float] = {}
        for each in ranges:
            time = each.max.timestamp()
            newest[each.synchronizer_id] = max(time, newest.get(each.synchronizer_id, time))
        return newest

    async def of_events() -> dict[str, float]:
        return {"": (await node.get("/v0/events/latest-record-time", LatestRecordTime)).record_time.timestamp()}

    return await node.first(of_migration, of_events)
