"""Contracts that come to a participant's synchronizer from another, or leave for it."""

from typing import NamedTuple

from exporter.simulator.facts import fingerprint
from exporter.simulator.ledger.indexed_events import Event
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.transactions import Contract


class Reassignment(NamedTuple):
    id: str
    contract: Contract
    is_assigned: bool
    source: str
    target: str
    counter: int


def app_synchronizer(participant: Participant) -> str:
    return f"app-domain::1220{fingerprint(participant.world.seed, 'app synchronizer')}"


def reassignment(participant: Participant, event: Event) -> Reassignment:
    """The one at an event: it is assigned to the network's synchronizer, or unassigned from it."""
    contents, here, there = participant.contents, participant.world.synchronizer, app_synchronizer(participant)
    is_assigned = contents.number(event, "direction", 2) == 0
    return Reassignment(
        id=f"00{contents.update_id(event)[4:]}",
        contract=contents.contract(event),
        is_assigned=is_assigned,
        source=there if is_assigned else here,
        target=here if is_assigned else there,
        counter=1 + contents.number(event, "counter", 4),
    )
