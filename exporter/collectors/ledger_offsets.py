"""How far a participant has come: its ledger's end, what it pruned, and how far its newest record times lie behind.

Asks: GET /v2/state/ledger-end, /v2/state/latest-pruned-offsets and /v2/state/connected-synchronizers; where the ledger
end carries no times, POST /v2/updates for one offset checkpoint.
Needs: a token of any ledger user; no rights.
Costs: three or four small requests a run; on a node without a checkpoint the last one waits two seconds.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, TypeVar

import msgspec
from pydantic import Field

from exporter.api.ledger import Version, pruned_offset
from exporter.collector import (
    Int64,
    Kind,
    Memo,
    Metric,
    Moment,
    Name,
    Node,
    RunOutput,
    Strict,
    Struct,
    Yields,
    collector,
    seconds,
)

END = Metric("canton_ledger_end_offset", "Offset of the ledger's end.", source="GET /v2/state/ledger-end")
PRUNED = Metric(
    "canton_ledger_pruned_offset",
    "Offset up to which the ledger is pruned; 0 if never.",
    source="GET /v2/state/latest-pruned-offsets",
)
CONNECTED = Metric(
    "canton_ledger_connected_synchronizers",
    "Number of synchronizers that the participant is connected to.",
    source="GET /v2/state/connected-synchronizers",
)
CONNECTED_INFO = Metric(
    "canton_ledger_connected_synchronizer_info",
    "Synchronizer that the participant is connected to; always 1.",
    ("synchronizer", "alias"),
    source="GET /v2/state/connected-synchronizers",
)
CHECKPOINT_OFFSET = Metric(
    "canton_ledger_checkpoint_offset",
    "Offset of the newest offset checkpoint; absent from Canton 3.6 on, where the ledger end has the record times.",
    source="POST /v2/updates",
)
CHECKPOINT_TIMESTAMP = Metric(
    "canton_ledger_checkpoint_timestamp_seconds",
    "Newest record time that the participant has processed, in Unix seconds.",
    ("synchronizer",),
    source="POST /v2/updates or GET /v2/state/ledger-end",
)
LAG_OFFSETS = Metric(
    "canton_ledger_lag_offsets",
    "Ledger end minus the offset of the newest checkpoint; absent without a checkpoint, and from Canton 3.6 on.",
    source="POST /v2/updates",
)
LAG_SECONDS = Metric(
    "canton_ledger_lag_seconds",
    "Seconds from the newest record time of a connected synchronizer to now, at least 0; up to 15 is normal.",
    ("synchronizer",),
    source="POST /v2/updates or GET /v2/state/ledger-end",
)
LAG_SOURCE = Metric(
    "canton_ledger_lag_source_info",
    "Source of the record times: checkpoint, or ledger_end from Canton 3.6 on; always 1.",
    ("source",),
    source="POST /v2/updates or GET /v2/state/ledger-end",
)

IDLE_SECONDS = 2.0
"""How long a node may look for a checkpoint; by default it gives up after 0.5 s, just as its first one is due."""

USUAL_DELAY_SECONDS = 75.0
"""How old a checkpoint may get by design, unless the node reports it: 15 s between two, 60 s on an idle stream."""


T = TypeVar("T")
Few = Annotated[tuple[T, ...], msgspec.Meta(max_length=1_000)]
"""A participant is on a handful of synchronizers."""


class SynchronizerTime(Struct):
    synchronizer: Name = msgspec.field(name="synchronizerId")
    record_time: Moment | None = msgspec.field(name="recordTime", default=None)


class LedgerEnd(Struct):
    offset: Int64 | None = None  # 0, an empty ledger, may be left out
    times: Few[SynchronizerTime] | None = msgspec.field(name="synchronizerTimes", default=None)


class Synchronizer(Struct):
    id: Name = msgspec.field(name="synchronizerId")
    alias: Name | None = msgspec.field(name="synchronizerAlias", default=None)


class Connected(Struct):
    synchronizers: Few[Synchronizer] | None = msgspec.field(name="connectedSynchronizers", default=None)


class Checkpoint(Struct):
    offset: Int64
    times: Few[SynchronizerTime] | None = msgspec.field(name="synchronizerTimes", default=None)


class Wrapped(Struct):
    value: Checkpoint


class Update(Struct):
    checkpoint: Wrapped | None = msgspec.field(name="OffsetCheckpoint", default=None)


class Element(Struct):
    update: Update | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A checkpoint, and since when (Unix seconds) we know it."""

    checkpoint: Checkpoint
    since: float


SEEN = Memo[Seen]()


class Options(Strict):
    lookback: int = Field(default=10_000, ge=1)
    """How many offsets below the ledger's end to look for a checkpoint; more than a busy node adds in 15 seconds."""


@collector(Kind.LEDGER, interval=seconds(15), timeout=seconds(9), options=Options)
async def ledger_offsets(node: Node, options: Options, previous: RunOutput) -> Yields:
    ledger_end = await node.get("/v2/state/ledger-end", LedgerEnd)
    end = ledger_end.offset or 0
    yield END.sample(end)
    pruned = await pruned_offset(node)
    yield PRUNED.sample(pruned)
    connected = (await node.get("/v2/state/connected-synchronizers", Connected)).synchronizers or ()
    ids = {synchronizer.id for synchronizer in connected}
    yield CONNECTED.sample(len(ids))
    for id_, alias in dict.fromkeys((synchronizer.id, synchronizer.alias or "") for synchronizer in connected):
        yield CONNECTED_INFO.sample(1, synchronizer=id_, alias=alias)

    times, source = ledger_end.times, "ledger_end"
    if times is None:
        begin = max(end - options.lookback, pruned, 0)
        seen = await newest_checkpoint(node, begin, end, previous.memo(SEEN))
        if seen is None:
            return  # unknown, which is neither good nor bad: no series rather than an invented one
        yield SEEN.of(seen)
        yield CHECKPOINT_OFFSET.sample(seen.checkpoint.offset)
        yield LAG_OFFSETS.sample(max(0, end - seen.checkpoint.offset))
        times, source = seen.checkpoint.times or (), "checkpoint"
    yield LAG_SOURCE.sample(1, source=source)
    now = node.now()
    for synchronizer, record_time in newest(times).items():
        yield CHECKPOINT_TIMESTAMP.sample(record_time, synchronizer=synchronizer)
        if synchronizer in ids:  # times of one left long ago stay in answers for ever
            yield LAG_SECONDS.sample(max(0.0, now - record_time), synchronizer=synchronizer)


async def newest_checkpoint(node: Node, begin: int, end: int, known: Seen | None) -> Seen | None:
    """Return the node's cached checkpoint, or the last one known while it may by design still be the newest.

    Only a stream without an end carries checkpoints, and only those of the range it reads, so it begins below the
    ledger's end; `updateFormat: {}` requests no updates at all, which needs no rights and no database.
    """
    answer = await node.post(
        "/v2/updates",
        tuple[Element, ...],
        {"beginExclusive": begin, "updateFormat": {}},
        query={"limit": "1", "stream_idle_timeout_ms": str(round(IDLE_SECONDS * 1000))},
    )
    updates = (element.update for element in answer)
    found = [update.checkpoint.value for update in updates if update and update.checkpoint]
    if found:
        checkpoint = max(found, key=lambda checkpoint: checkpoint.offset)
        return known if known and known.checkpoint == checkpoint else Seen(checkpoint, node.now())
    if known is None or known.checkpoint.offset > end:  # an end below it: the participant was rebuilt
        return None
    return known if node.now() - known.since < await longest_delay(node) else None


async def longest_delay(node: Node) -> float:
    """Return how many seconds may by design lie between two checkpoints of this node."""
    delay = (await node.get("/v2/version", Version)).checkpoint_delay
    return USUAL_DELAY_SECONDS if delay is None else delay


def newest(times: Iterable[SynchronizerTime]) -> dict[str, float]:
    """Return the newest record time of each synchronizer, in Unix seconds."""
    record_times: dict[str, float] = {}
    for time in times:
        if time.record_time is not None:
            known = record_times.get(time.synchronizer, -math.inf)
            record_times[time.synchronizer] = max(known, time.record_time.timestamp())
    return record_times
