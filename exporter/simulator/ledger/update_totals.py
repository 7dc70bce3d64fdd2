"""The truth about what a participant has indexed, counted without a look at any answer."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from exporter.simulator.ledger.events_json import event_kind
from exporter.simulator.ledger.indexed_events import Event, Sort
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.reassignments import reassignment
from exporter.simulator.ledger.transactions import Act
from exporter.simulator.ledger.update_format import Shape


@dataclass
class Totals:
    """Updates by kind, events of contracts by kind and template, and what the participant paid for those updates."""

    updates: Counter[str] = field(default_factory=Counter)
    events: Counter[tuple[str, str]] = field(default_factory=Counter)
    traffic_cost: int = 0


def totals(
    participant: Participant, after: int, until: int, shape: Shape, parties: Collection[str] | None = None
) -> Totals:
    counted = Totals()
    of = set(participant.parties if parties is None else parties)
    for event in participant.between(after, until):
        events = events_of(participant, event, shape, of)
        if event.sort is Sort.TOPOLOGY:
            counted.updates.update([event.sort.value] if participant.contents.authorized(event) in of else [])
        if events:
            submission = participant.contents.submission(event)
            counted.updates[event.sort.value] += 1
            counted.events.update(events)
            counted.traffic_cost += (submission.cost or 0) if submission and submission.party in of else 0
    return counted


def events_of(participant: Participant, event: Event, shape: Shape, of: set[str]) -> list[tuple[str, str]]:
    """The kind and the template of each event of a contract that some parties see."""
    if event.sort is Sort.TRANSACTION:
        seen = [act for act in participant.acts(event) if not of.isdisjoint(seers(act, shape))]
        kinds = [(event_kind(act, shape), str(act.contract.template)) for act in seen]
        return [(kind, template) for kind, template in kinds if kind is not None]
    if event.sort is Sort.REASSIGNMENT:
        moved = reassignment(participant, event)
        kind = "JsAssignmentEvent" if moved.is_assigned else "JsUnassignedEvent"
        return [] if of.isdisjoint(moved.contract.stakeholders) else [(kind, str(moved.contract.template))]
    return []


def seers(act: Act, shape: Shape) -> tuple[str, ...]:
    return act.witnesses if shape is Shape.LEDGER_EFFECTS else act.contract.stakeholders
