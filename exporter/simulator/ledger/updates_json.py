"""How updates look in the answers of the ledger API."""

from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import moment
from exporter.simulator.ledger.event_format import EventFormat
from exporter.simulator.ledger.events_json import assigned_json, created_json, event_json, unassigned_json
from exporter.simulator.ledger.indexed_events import Event, Sort
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.reassignments import reassignment
from exporter.simulator.ledger.transactions import Submission
from exporter.simulator.ledger.update_format import UpdateFormat

Update = dict[str, Any]

PERMISSIONS = ("SUBMISSION", "CONFIRMATION", "OBSERVATION")
AUTHORIZATIONS = ("Added", "Changed", "Revoked", "Onboarding")


def times_json(times: list[tuple[str, float]]) -> list[dict[str, str]]:
    return [{"synchronizerId": synchronizer, "recordTime": moment(time)} for synchronizer, time in times]


def checkpoint_json(event: Event, participant: Participant) -> dict[str, Any]:
    # A checkpoint knows only synchronizers that are still heard from.
    times = [(participant.world.synchronizer, event.record_time)]
    return {"OffsetCheckpoint": {"value": {"offset": event.offset, "synchronizerTimes": times_json(times)}}}


class Updates:
    """The updates of a participant as a caller asked to see them."""

    def __init__(self, participant: Participant, asked: UpdateFormat, dialect: Dialect) -> None:
        self._participant = participant
        self._asked = asked
        self._dialect = dialect

    def show(self, event: Event) -> Update | None:
        """The update at an event; None if there is none, or none that was asked for."""
        asked, value = self._asked, None
        if event.sort is Sort.TRANSACTION and asked.transactions is not None:
            value = self._transaction(event, asked.transactions)
        elif event.sort is Sort.REASSIGNMENT and asked.reassignments is not None:
            value = self._reassignment(event, asked.reassignments)
        elif event.sort is Sort.TOPOLOGY and asked.topology is not None:
            value = self._topology(event, asked.topology)
        return None if value is None else {"update": {str(event.sort): {"value": value}}}

    def show_checkpoint(self, event: Event) -> Update:
        return {"update": checkpoint_json(event, self._participant)}

    def _transaction(self, event: Event, asked: EventFormat) -> dict[str, Any] | None:
        acts, shape = self._participant.acts(event), self._asked.shape
        shown = [event_json(act, event.offset, shape, asked, self._dialect) for act in acts]
        events = [one for one in shown if one is not None]
        if not events:
            return None
        transaction = {
            **self._update(event),
            **self._submitted(event, asked),
            "effectiveAt": moment(event.record_time),
            "events": events,
            "externalTransactionHash": None,
        }
        if self._dialect is Dialect.V0_9:
            transaction["transactionHash"] = None
        return transaction

    def _reassignment(self, event: Event, asked: EventFormat) -> dict[str, Any] | None:
        moved = reassignment(self._participant, event)
        contract = moved.contract
        seen_by = asked.seen_by(contract.stakeholders, contract.template)
        if not seen_by:
            return None
        if moved.is_assigned:
            created = created_json(contract, 0, seen_by, asked, self._dialect)
            shown: dict[str, Any] = {"JsAssignmentEvent": assigned_json(moved, created)}
        else:
            shown = {"JsUnassignedEvent": {"value": unassigned_json(moved, event.offset, seen_by)}}
        return {**self._update(event), **self._submitted(event, asked), "events": [shown]}

    def _topology(self, event: Event, asked: frozenset[str]) -> dict[str, Any] | None:
        participant, number = self._participant, self._participant.contents.number
        party = participant.contents.authorized(event)
        if asked and party not in asked:
            return None
        kinds = AUTHORIZATIONS[:-1] if self._dialect.is_canton_3_4 else AUTHORIZATIONS
        kind = kinds[number(event, "authorization", len(kinds))]
        value = {"partyId": party, "participantId": participant.id}
        if kind != "Revoked":
            permission = PERMISSIONS[number(event, "permission", len(PERMISSIONS))]
            value["participantPermission"] = f"PARTICIPANT_PERMISSION_{permission}"
        authorization = {"event": {f"ParticipantAuthorization{kind}": {"value": value}}}
        return {**self._update(event), "events": [authorization]}

    def _update(self, event: Event) -> dict[str, Any]:
        """What every update has."""
        return {
            "updateId": self._participant.contents.update_id(event),
            "offset": event.offset,
            "synchronizerId": self._participant.world.synchronizer,
            "recordTime": moment(event.record_time),
            "traceContext": None,
        }

    def _submitted(self, event: Event, asked: EventFormat) -> dict[str, Any]:
        """What only those see that submitted the update."""
        submission: Submission | None = self._participant.contents.submission(event)
        if submission is None or not asked.knows(submission.party):
            return {"commandId": "", "workflowId": "", **cost_json(None, self._dialect)}
        return {"commandId": submission.command_id, "workflowId": "", **cost_json(submission.cost, self._dialect)}


def cost_json(cost: int | None, dialect: Dialect) -> dict[str, Any]:
    return {"paidTrafficCost": cost} if dialect.tells_traffic_cost else {}
