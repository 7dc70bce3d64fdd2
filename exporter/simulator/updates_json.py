"""How updates look in the answers of the ledger API."""

from typing import Any

from exporter.simulator.app import APP_PACKAGES, package_id
from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import fingerprint, moment
from exporter.simulator.participant import Event, Participant

PACKAGE_ID = package_id("demo-pkg", APP_PACKAGES["demo-pkg"])


def times_json(times: list[tuple[str, float]]) -> list[dict[str, str]]:
    return [{"synchronizerId": synchronizer, "recordTime": moment(time)} for synchronizer, time in times]


def checkpoint_json(event: Event, participant: Participant) -> dict[str, Any]:
    # A checkpoint knows only synchronizers that are still heard from.
    times = [(participant.world.synchronizer, event.record_time)]
    return {"update": {"OffsetCheckpoint": {"value": {"offset": event.offset, "synchronizerTimes": times_json(times)}}}}


def transaction_json(event: Event, participant: Participant, dialect: Dialect) -> dict[str, Any]:
    transaction = {
        "updateId": f"1220{fingerprint(participant.seed, event.offset, 'update')}",
        "commandId": "",
        "workflowId": "",
        "effectiveAt": moment(event.record_time),
        "events": [{"CreatedEvent": created_json(event, participant, dialect)}],
        "offset": event.offset,
        "synchronizerId": participant.world.synchronizer,
        "traceContext": None,
        "recordTime": moment(event.record_time),
        "externalTransactionHash": None,
        "paidTrafficCost": None,
    }
    if dialect is Dialect.V0_9:
        transaction["transactionHash"] = None
    return {"update": {"Transaction": {"value": transaction}}}


def created_json(event: Event, participant: Participant, dialect: Dialect) -> dict[str, Any]:
    created = {
        "offset": event.offset,
        "nodeId": 0,
        "contractId": f"00{fingerprint(participant.seed, event.offset, 'contract')}",
        "templateId": f"{PACKAGE_ID}:Main:Asset",
        "contractKey": None,
        "createdEventBlob": None,
        "interfaceViews": [],
        "packageName": "demo-pkg",
        "createArgument": {"owner": event.party, "quantity": str(1 + event.offset % 9)},
        "witnessParties": [event.party],
        "signatories": [event.party],
        "observers": [],
        "createdAt": moment(event.record_time),
        "representativePackageId": PACKAGE_ID,
        "acsDelta": True,
    }
    if dialect is not Dialect.V0_5:
        created["contractKeyHash"] = None
    return created
