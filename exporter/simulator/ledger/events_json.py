"""How what befalls contracts looks in the answers of the ledger API."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import moment
from exporter.simulator.ledger.app_templates import AppTemplate, interface_id
from exporter.simulator.ledger.event_format import EventFormat
from exporter.simulator.ledger.reassignments import Reassignment
from exporter.simulator.ledger.transactions import Act, Contract, Deed
from exporter.simulator.ledger.update_format import Shape

EventJson = dict[str, Any]


def event_kind(act: Act, shape: Shape) -> str | None:
    """What an act is called in a shape of its transaction; None if it has no part in that."""
    if shape is Shape.LEDGER_EFFECTS:
        return "CreatedEvent" if act.deed is Deed.CREATED else "ExercisedEvent"
    if act.is_transient or act.deed is Deed.CHECKED:
        return None
    return "CreatedEvent" if act.deed is Deed.CREATED else "ArchivedEvent"


def witnesses(act: Act, shape: Shape, asked: EventFormat) -> list[str]:
    """Those on whose behalf an act is shown: with a stake in the contract, or for the effects also without."""
    parties = act.witnesses if shape is Shape.LEDGER_EFFECTS else act.contract.stakeholders
    return asked.seen_by(parties, act.contract.template)


def event_json(act: Act, offset: int, shape: Shape, asked: EventFormat, dialect: Dialect) -> EventJson | None:
    kind, seen_by = event_kind(act, shape), witnesses(act, shape, asked)
    if kind is None or not seen_by:
        return None
    is_delta = act.deed is not Deed.CHECKED and not act.is_transient and is_stake(act.contract, seen_by)
    if kind == "CreatedEvent":
        created = created_json(act.contract, act.node, seen_by, asked, dialect)
        return {kind: {**created, "acsDelta": is_delta}}
    used = used_json(act.contract, act.node, offset, seen_by)
    if kind == "ExercisedEvent":
        used |= exercise_json(act) | {"acsDelta": is_delta}
    return {kind: used}


def is_stake(contract: Contract, parties: Sequence[str]) -> bool:
    return any(party in contract.stakeholders for party in parties)


def template_id(template: AppTemplate) -> str:
    return f"{template.package_id}:{template.name}"


def used_json(contract: Contract, node: int, offset: int, seen_by: list[str]) -> dict[str, Any]:
    return {
        "offset": offset,
        "nodeId": node,
        "contractId": contract.contract_id,
        "templateId": template_id(contract.template),
        "packageName": contract.template.package,
        "witnessParties": seen_by,
        "implementedInterfaces": [interface_id(interface) for interface in contract.template.interfaces],
    }


def exercise_json(act: Act) -> dict[str, Any]:
    template, is_consuming = act.contract.template, act.deed is Deed.CONSUMED
    return {
        "interfaceId": None,
        "choice": template.choice if is_consuming else template.check,
        "choiceArgument": {},
        "actingParties": [act.contract.signatory],
        "consuming": is_consuming,
        "lastDescendantNodeId": act.last,
        "exerciseResult": {},
    }


def created_json(
    contract: Contract, node: int, seen_by: list[str], asked: EventFormat, dialect: Dialect
) -> dict[str, Any]:
    template = contract.template
    blob = b64encode(bytes.fromhex(contract.contract_id)).decode() if asked.has_blob(seen_by, template) else None
    created = {
        "offset": contract.offset,
        "nodeId": node,
        "contractId": contract.contract_id,
        "templateId": template_id(template),
        "contractKey": None,
        "createdEventBlob": blob,
        "interfaceViews": [view_json(contract, name, dialect) for name in asked.views(seen_by, template)],
        "packageName": template.package,
        "createArgument": {"owner": contract.signatory, "quantity": quantity(contract)},
        "witnessParties": seen_by,
        "signatories": [contract.signatory],
        "observers": list(contract.observers),
        "createdAt": moment(contract.created_at),
        "representativePackageId": template.package_id,
        "acsDelta": True,
    }
    if not dialect.is_canton_3_4:
        created["contractKeyHash"] = None
    return created


def assigned_json(moved: Reassignment, created: dict[str, Any]) -> dict[str, Any]:
    return {**way_json(moved), "createdEvent": created}


def unassigned_json(moved: Reassignment, offset: int, seen_by: list[str]) -> dict[str, Any]:
    used = used_json(moved.contract, 0, offset, seen_by)
    del used["implementedInterfaces"]
    return {**way_json(moved), **used, "assignmentExclusivity": None}


def way_json(moved: Reassignment) -> dict[str, Any]:
    return {
        "source": moved.source,
        "target": moved.target,
        "reassignmentId": moved.id,
        "submitter": moved.contract.signatory,
        "reassignmentCounter": moved.counter,
    }


def view_json(contract: Contract, interface: str, dialect: Dialect) -> dict[str, Any]:
    view = {
        "interfaceId": interface_id(interface),
        "viewStatus": {"code": 0, "message": "", "details": []},
        "viewValue": {"owner": contract.signatory, "amount": quantity(contract)},
    }
    if not dialect.is_canton_3_4:
        view["implementationPackageId"] = contract.template.package_id
    return view


def quantity(contract: Contract) -> str:
    return str(1 + int(contract.contract_id[2:6], 16) % 9)
