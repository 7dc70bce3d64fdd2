"""Which upgrade of the synchronizer is announced, when it freezes and when it comes, and how many there were.

Asks: GET /v0/lsu and /v0/active-synchronizer-serial.
Needs: nothing; a scan knows no tokens.
Costs: two small requests a run.
"""

from functools import partial

import msgspec

from exporter.collector import (
    Int64,
    Kind,
    Metric,
    Moment,
    Name,
    Node,
    Refused,
    RunOutput,
    Strict,
    Struct,
    Unsupported,
    Yields,
    collector,
    minutes,
)

UPGRADE = Metric(
    "canton_synchronizer_upgrade_timestamp_seconds",
    "Unix time in seconds of the announced synchronizer upgrade; absent if none is announced.",
    ("successor",),
    source="GET /v0/lsu",
)
FREEZE = Metric(
    "canton_synchronizer_freeze_timestamp_seconds",
    "Unix time in seconds when the topology freezes for the announced upgrade; absent if none is announced.",
    ("successor",),
    source="GET /v0/lsu",
)
SERIAL = Metric(
    "canton_synchronizer_serial_info",
    "Serial number of the synchronizer in use, which each upgrade increases; always 1.",
    ("serial",),
    source="GET /v0/active-synchronizer-serial",
)


class Upgrade(Struct):
    successor: Name = msgspec.field(name="successorPhysicalSynchronizerId")
    upgrade_time: Moment = msgspec.field(name="upgradeTime")
    freeze_time: Moment | None = msgspec.field(name="topologyFreezeTime", default=None)


class Announced(Struct):
    lsu: Upgrade | None = None


class Serial(Struct):
    serial: Int64


@collector(Kind.SCAN, interval=minutes(5), timeout=minutes(1))
async def synchronizer_upgrade(node: Node, options: Strict, previous: RunOutput) -> Yields:
    announced = await node.or_none(partial(node.get, "/v0/lsu", Announced))
    try:
        serial = await node.or_none(partial(node.get, "/v0/active-synchronizer-serial", Serial))
    except Refused as error:
        if error.status != 500 or announced is None:
            raise
        # Some scans have no serial and answer with a 500: that must not hide an upgrade.
        node.remark("the scan does not report the synchronizer's serial", str(error))
        serial = None
    if announced is None and serial is None:
        raise Unsupported("the node has neither GET /v0/lsu nor GET /v0/active-synchronizer-serial")
    if serial is not None:
        yield SERIAL.sample(1, serial=str(serial.serial))
    if announced is not None and announced.lsu is not None:
        successor = announced.lsu.successor
        yield UPGRADE.sample(announced.lsu.upgrade_time.timestamp(), successor=successor)
        if announced.lsu.freeze_time is not None:
            yield FREEZE.sample(announced.lsu.freeze_time.timestamp(), successor=successor)
