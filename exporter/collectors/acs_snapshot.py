"""When a scan took its newest snapshot of the active contracts.

Asks: GET /v0/state/acs/snapshot-timestamp, or where that is missing POST /v2/state/acs (v1, v0) for one contract; for
the migration id GET /v0/migrations/last, or POST /v0/backfilling/migration-info.
Needs: nothing; a scan knows no tokens.
Costs: two small requests a run, some more at first on releases before 0.6.8.
"""

from exporter.api.scan import MIGRATION, MigrationOptions, find_migration, newest_snapshot
from exporter.collector import Kind, Metric, Node, RunOutput, Unsupported, Yields, collector, minutes

TIMESTAMP = Metric(
    "canton_acs_snapshot_timestamp_seconds",
    "Record time of the newest snapshot in Unix seconds; networks take one every 3 hours.",
    source="GET /v0/state/acs/snapshot-timestamp or POST /v2/state/acs",
)
INFO = Metric(
    "canton_acs_snapshot_info",
    "Migration id of the newest snapshot; always 1.",
    ("migration_id",),
    source="GET /v0/migrations/last or POST /v0/backfilling/migration-info",
)


@collector(Kind.SCAN, interval=minutes(5), timeout=minutes(1), options=MigrationOptions)
async def acs_snapshot(node: Node, options: MigrationOptions, previous: RunOutput) -> Yields:
    migration_id = await find_migration(node, options.migration_id, previous.memo(MIGRATION))
    yield MIGRATION.of(migration_id)
    snapshot = await newest_snapshot(node, migration_id)
    if snapshot is None:
        node.remark("the scan has no snapshot", f"none in migration {migration_id}")
        return
    if not snapshot.is_exact:
        raise Unsupported(
            "the node lacks GET /v0/state/acs/snapshot-timestamp, and reports its snapshot's time nowhere else"
        )
    yield TIMESTAMP.sample(snapshot.moment.timestamp())
    yield INFO.sample(1, migration_id=str(migration_id))
