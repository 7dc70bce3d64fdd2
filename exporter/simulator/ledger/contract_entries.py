"""The active contracts of a participant: what each of them is, by its number alone."""

from collections import Counter
from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import fingerprint
from exporter.simulator.ledger.event_format import EventFormat
from exporter.simulator.ledger.events_json import assigned_json, created_json, unassigned_json
from exporter.simulator.ledger.indexed_events import BLOCK_OFFSETS, BLOCK_SECONDS, Event
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.reassignments import Reassignment, app_synchronizer
from exporter.simulator.ledger.transactions import Contract

# Of so many contracts, one each is on its way in or out, or is not there at all.
PERIOD = 100


class Entry(StrEnum):
    ACTIVE = "JsActiveContract"
    ASSIGNED = "JsIncompleteAssigned"
    UNASSIGNED = "JsIncompleteUnassigned"
    EMPTY = "JsEmpty"


class ContractEntries:
    """They are none of those that the updates show: their number stands still, so that it can be set."""

    def __init__(self, participant: Participant, count: int) -> None:
        self._participant = participant
        self._count = count

    def at(self, offset: int, begin: int = 0) -> Iterator[int]:
        """The numbers of those there are at an offset, from a number on; their order is that of their making."""
        for number in range(begin, self._count):
            if self.made_at(number) > offset:
                return
            yield number

    def made_at(self, number: int) -> int:
        """They were made bit by bit in the history of the ledger, or when a rebuilt one has its first event."""
        return 1 + number * self._participant.first_end // self._count

    def entry(self, number: int) -> Entry:
        return {97: Entry.ASSIGNED, 98: Entry.UNASSIGNED, 99: Entry.EMPTY}.get(number % PERIOD, Entry.ACTIVE)

    def contract(self, number: int) -> Contract:
        participant, offset = self._participant, self.made_at(number)
        ago = (participant.first_end - offset) / BLOCK_OFFSETS * BLOCK_SECONDS
        return participant.contents.contract(Event(offset, participant.began - ago), -1 - number)

    def show(self, number: int, asked: EventFormat, dialect: Dialect) -> dict[str, Any] | None:
        """The entry of a contract; None if it was not asked for."""
        contract, entry = self.contract(number), self.entry(number)
        seen_by = asked.seen_by(contract.stakeholders, contract.template)
        if not seen_by:
            return None
        here, there = self._participant.world.synchronizer, app_synchronizer(self._participant)
        created = created_json(contract, 0, seen_by, asked, dialect)
        told: dict[str, Any] = {"createdEvent": created, "synchronizerId": here, "reassignmentCounter": 0}
        if entry is Entry.EMPTY:
            told = {}
        elif entry is not Entry.ACTIVE:
            is_assigned = entry is Entry.ASSIGNED
            source, target = (there, here) if is_assigned else (here, there)
            moved_id = f"00{fingerprint(contract.contract_id, 'reassignment')}"
            moved = Reassignment(moved_id, contract, is_assigned, source, target, counter=1)
            told = {"createdEvent": created, "unassignedEvent": unassigned_json(moved, contract.offset, seen_by)}
            if is_assigned:
                told = {"assignedEvent": assigned_json(moved, created)}
        return {entry.value: told}

    def totals(self, offset: int, parties: Collection[str] | None) -> Counter[tuple[str, str]]:
        """How many there are of which kind of entry and which template, of some parties or of all."""
        of = set(self._participant.parties if parties is None else parties)
        found: Counter[tuple[str, str]] = Counter()
        for number in self.at(offset):
            contract, entry = self.contract(number), self.entry(number)
            if not of.isdisjoint(contract.stakeholders):
                found[entry.value, "" if entry is Entry.EMPTY else str(contract.template)] += 1
        return found
