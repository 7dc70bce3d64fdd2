"""What happens on a participant's ledger: its update stream, followed from run to run and counted.

Asks: GET /v2/state/ledger-end and /v2/state/latest-pruned-offsets; POST /v2/updates, span after span.
Needs: a token that may read as the parties, or as any party.
Costs: two small requests a run, and one for every 200 updates. It begins at the ledger's end; what happens while the
exporter does not run is not counted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from exporter.api.ledger import CheckpointValue, Event, Seen
from exporter.api.stream_cursor import Position, check_order, follow, go_on
from exporter.collector import (
    Int64,
    Kind,
    Malformed,
    Memo,
    Metric,
    Moment,
    Node,
    NotNegative,
    RunOutput,
    Struct,
    TooLarge,
    Yields,
    collector,
    limits,
    seconds,
)

SOURCE = "POST /v2/updates"
UPDATES = Metric(
    "canton_ledger_updates_total", "Ledger updates seen in the update stream, by kind.", ("kind",), source=SOURCE
)
EVENTS = Metric(
    "canton_ledger_events_total",
    "Events seen in the update stream, by kind (created, archived, exercised, assigned, unassigned) and template.",
    ("kind", "template"),
    source=SOURCE,
)
TOPOLOGY_EVENTS = Metric(
    "canton_ledger_topology_events_total",
    "Topology events seen in the update stream, by kind; other if the kind is not known.",
    ("kind",),
    source=SOURCE,
)
COST = Metric(
    "canton_ledger_traffic_cost_bytes_total",
    "Traffic in bytes that this participant paid for the updates seen.",
    source=SOURCE,
)
GAPS = Metric(
    "canton_ledger_updates_gaps_total",
    "Gaps in the update stream, by reason: pruned (before it was read) or reset (the ledger end went back).",
    ("reason",),
    source=SOURCE,
)
OFFSET = Metric("canton_ledger_updates_offset", "Offset up to which the update stream was read.", source=SOURCE)
TIMESTAMP = Metric(
    "canton_ledger_updates_timestamp_seconds", "Record time of the newest update read, in Unix seconds.", source=SOURCE
)

KINDS = ("transaction", "reassignment", "topology_transaction")
TOPOLOGY_KINDS = tuple(f"participant_authorization_{what}" for what in ("added", "changed", "onboarding", "revoked"))
DAY_SECONDS = 86_400.0
"""No clock is a day ahead: one update from the year 9999 would be the newest for ever."""


class Options(Seen):
    shape: Literal["acs_delta", "ledger_effects"] = "acs_delta"
    """Which events of a transaction to see: contracts created and archived, or created and choices exercised."""

    def update_format(self) -> dict[str, Any]:
        """Return the API's UpdateFormat: everything that happens to these parties and templates."""
        events = self.event_format()
        shape = f"TRANSACTION_SHAPE_{self.shape.upper()}"
        parties = {"parties": self.parties} if self.parties else {}
        return {
            "includeTransactions": {"eventFormat": events, "transactionShape": shape},
            "includeReassignments": events,
            "includeTopologyEvents": {"includeParticipantAuthorizationEvents": parties},
        }


class Update(Struct):
    """What every kind of update has."""

    offset: Int64
    record_time: Moment | None = msgspec.field(name="recordTime", default=None)
    cost: NotNegative | None = msgspec.field(name="paidTrafficCost", default=None)


class TransactionEvent(Struct):
    created: Event | None = msgspec.field(name="CreatedEvent", default=None)
    archived: Event | None = msgspec.field(name="ArchivedEvent", default=None)
    exercised: Event | None = msgspec.field(name="ExercisedEvent", default=None)


class Transaction(Update):
    events: tuple[TransactionEvent, ...] | None = None


class Assignment(Struct):
    created: Event = msgspec.field(name="createdEvent")


class Unassigned(Struct):
    value: Event


class ReassignmentEvent(Struct):
    assigned: Assignment | None = msgspec.field(name="JsAssignmentEvent", default=None)
    unassigned: Unassigned | None = msgspec.field(name="JsUnassignedEvent", default=None)


class Reassignment(Update):
    events: tuple[ReassignmentEvent, ...] | None = None


class Authorization(Struct):
    """None of its fields is read: whose it is would be a label without bounds."""


class Change(Struct):
    """One of the kinds, or one that is not known here."""

    added: Authorization | None = msgspec.field(name="ParticipantAuthorizationAdded", default=None)
    changed: Authorization | None = msgspec.field(name="ParticipantAuthorizationChanged", default=None)
    onboarding: Authorization | None = msgspec.field(name="ParticipantAuthorizationOnboarding", default=None)
    revoked: Authorization | None = msgspec.field(name="ParticipantAuthorizationRevoked", default=None)

    @property
    def kind(self) -> str:
        each = zip(TOPOLOGY_KINDS, (self.added, self.changed, self.onboarding, self.revoked), strict=True)
        return next((kind for kind, change in each if change is not None), "other")


class TopologyEvent(Struct):
    event: Change | None = None


class TopologyTransaction(Update):
    events: tuple[TopologyEvent, ...] | None = None


class TransactionValue(Struct):
    value: Transaction


class ReassignmentValue(Struct):
    value: Reassignment


class TopologyValue(Struct):
    value: TopologyTransaction


class Wrapped(Struct):
    """One of the kinds, or a checkpoint."""

    checkpoint: CheckpointValue | None = msgspec.field(name="OffsetCheckpoint", default=None)
    transaction: TransactionValue | None = msgspec.field(name="Transaction", default=None)
    reassignment: ReassignmentValue | None = msgspec.field(name="Reassignment", default=None)
    topology: TopologyValue | None = msgspec.field(name="TopologyTransaction", default=None)

    @property
    def kind_and_update(self) -> tuple[str, Update] | None:
        for kind, wrapper in zip(KINDS, (self.transaction, self.reassignment, self.topology), strict=True):
            if wrapper is not None:
                return kind, wrapper.value
        return None

    def events(self) -> Iterator[tuple[str, Event]]:
        for event in self.transaction.value.events or () if self.transaction else ():
            if event.created:
                yield "created", event.created
            if event.archived:
                yield "archived", event.archived
            if event.exercised:
                yield "exercised", event.exercised
        for moved in self.reassignment.value.events or () if self.reassignment else ():
            if moved.assigned:
                yield "assigned", moved.assigned.created
            if moved.unassigned:
                yield "unassigned", moved.unassigned.value

    def topology_kinds(self) -> Iterator[str]:
        for changed in self.topology.value.events or () if self.topology else ():
            yield changed.event.kind if changed.event else "other"


class Element(Struct):
    update: Wrapped | None = None


class Totals:
    """The counters, on from where the last good run left them; by metric and label values."""

    def __init__(self, previous: RunOutput) -> None:
        self.counts: Counter[tuple[Metric, tuple[str, ...]]] = Counter({(COST, ()): 0})
        self.counts.update({(UPDATES, (kind,)): 0 for kind in KINDS})
        self.counts.update({(TOPOLOGY_EVENTS, (kind,)): 0 for kind in (*TOPOLOGY_KINDS, "other")})
        self.counts.update({(GAPS, (reason,)): 0 for reason in ("pruned", "reset")})
        self.counts.update({item[:2]: int(item.value) for item in previous.samples if item.metric.type == "counter"})
        self.newest = max((sample.value for sample in previous.of(TIMESTAMP)), default=None)

    def take(self, elements: Sequence[Wrapped], now: float) -> None:
        for element in elements:
            for kind, event in element.events():
                self.counts[(EVENTS, (kind, event.template))] += 1
            if len(self.counts) > limits.TEMPLATES:
                raise TooLarge(f"{SOURCE}: more than {limits.TEMPLATES} templates; name the ones to count")
            self.counts.update((TOPOLOGY_EVENTS, (kind,)) for kind in element.topology_kinds())
            if found := element.kind_and_update:
                kind, update = found
                self.counts[(UPDATES, (kind,))] += 1
                self.counts[(COST, ())] += update.cost or 0
                if update.record_time is not None and (time := update.record_time.timestamp()) < now + DAY_SECONDS:
                    self.newest = max(time, self.newest or time)


POSITION = Memo[Position]()


@collector(Kind.LEDGER, interval=seconds(15), timeout=seconds(12), options=Options, on_by_default=False)
async def ledger_updates(node: Node, options: Options, previous: RunOutput) -> Yields:
    start = await go_on(node, previous.memo(POSITION))
    totals = Totals(previous)
    if start.gap:
        totals.counts[(GAPS, (start.gap,))] += 1
        totals.newest = None if start.gap == "reset" else totals.newest
        node.news.append(f"updates were missed up to offset {start.position.offset}: {start.gap}")

    async def read(position: Position, upto: int) -> int:
        body = {"beginExclusive": position.offset, "endInclusive": upto, "updateFormat": options.update_format()}
        query = {"limit": str(position.limit)}
        answer = await node.post("/v2/updates", tuple[Element, ...], body, query=query, most_bytes=limits.PAGE_BYTES)
        if len(answer) > position.limit:
            raise Malformed(f"{SOURCE}: {len(answer)} updates, where {position.limit} were asked for")
        elements = [element.update for element in answer if element.update]
        offsets = [found[1].offset for element in elements if (found := element.kind_and_update)]
        check_order(offsets, position.offset, upto, SOURCE)
        totals.take(elements, node.now())
        if len(answer) < position.limit:
            return upto
        checkpoints = (element.checkpoint.value.offset for element in elements[-1:] if element.checkpoint)
        reached = min(upto, max((*offsets, *checkpoints), default=position.offset))
        if reached == position.offset:
            raise Malformed(f"{SOURCE}: a full answer without any known kind of update behind {reached}")
        return reached

    position = await follow(node, start, read)
    yield POSITION.of(position)
    yield OFFSET.sample(position.offset)
    if totals.newest is not None:
        yield TIMESTAMP.sample(totals.newest)
    for (metric, labels), count in totals.counts.items():
        yield metric.sample(count, **dict(zip(metric.labels, labels, strict=True)))
