"""How the updates look that a scan finds by a hash: as a tree of events, or as one half of a reassignment."""

from dataclasses import dataclass
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import Facts, fingerprint
from exporter.simulator.world.contract_payloads import Lot, amulet
from exporter.simulator.world.templates import Template, contract_id

AMULET = Template("splice-amulet", "Splice.Amulet:Amulet")
RULES = Template("splice-amulet", "Splice.AmuletRules:AmuletRules")


@dataclass(frozen=True)
class Found:
    """What is to be written of the update of a hash, by which scan, and how."""

    facts: Facts
    hash: str
    scan: str
    record_time: str
    is_verbose: bool
    dialect: Dialect

    @property
    def update_id(self) -> str:
        return f"1220{fingerprint(self.hash, 'update')}"

    @property
    def party(self) -> str:
        return f"external::1220{fingerprint(self.hash, 'party')}"

    def event_id(self, number: int) -> str:
        return f"{self.update_id}:{number}"

    def contract_id(self, number: int) -> str:
        return contract_id(self.hash, "contract", number)

    def value(self, record: dict[str, Any]) -> dict[str, Any]:
        return verbose_record(record) if self.is_verbose else record


def transaction_json(found: Found, children: int) -> dict[str, Any]:
    """A transfer that created so many contracts."""
    ids = [found.event_id(number) for number in range(1, children + 1)]
    root = {
        "event_type": "exercised_event",
        "event_id": found.event_id(0),
        "contract_id": found.contract_id(0),
        "template_id": RULES.spelt(found.dialect),
        "package_name": RULES.package,
        "choice": "AmuletRules_Transfer",
        "choice_argument": found.value({"transfer": {"sender": found.party, "outputs": []}, "expectedDso": None}),
        "child_event_ids": ids,
        "exercise_result": found.value({"round": {"number": "89900"}, "senderChangeAmulet": None}),
        "consuming": False,
        "acting_parties": [found.party],
        "interface_id": None,
    }
    events = {root["event_id"]: root} | {
        event_id: created_json(found, number) for number, event_id in enumerate(ids, 1)
    }
    return {
        "update_id": found.update_id,
        "migration_id": found.facts.migration.id,
        "workflow_id": "",
        "record_time": found.record_time,
        "synchronizer_id": found.facts.synchronizer,
        "effective_at": found.record_time,
        "root_event_ids": [root["event_id"]],
        "events_by_id": dict(sorted(events.items())),
        "external_transaction_hash": found.hash,
    }


def created_json(found: Found, number: int) -> dict[str, Any]:
    digest = fingerprint(found.hash, number)
    dso = found.facts.dso_party
    arguments = amulet(Lot(int(digest[:13], 16), digest, found.party, found.party, dso, found.record_time))
    return {
        "event_type": "created_event",
        "event_id": found.event_id(number),
        "contract_id": found.contract_id(number),
        "template_id": AMULET.spelt(found.dialect),
        "package_name": AMULET.package,
        "create_arguments": found.value(arguments),
        "created_at": found.record_time,
        "signatories": [dso, found.party],
        "observers": [],
    }


def assignment_json(found: Found) -> dict[str, Any]:
    event = {
        "submitter": found.party,
        "source_synchronizer": found.facts.old_synchronizer,
        "target_synchronizer": found.facts.synchronizer,
        "migration_id": found.facts.migration.id,
        "unassign_id": f"00{fingerprint(found.hash, 'unassign')}",
        "created_event": created_json(found, 0),
        "reassignment_counter": 2,
    }
    return reassignment_json(found, event)


def unassignment_json(found: Found) -> dict[str, Any]:
    event = {
        "submitter": found.party,
        "source_synchronizer": found.facts.synchronizer,
        "migration_id": found.facts.migration.id,
        "target_synchronizer": found.facts.old_synchronizer,
        "unassign_id": f"00{fingerprint(found.hash, 'unassign')}",
        "reassignment_counter": 1,
        "contract_id": found.contract_id(0),
    }
    return reassignment_json(found, event)


def reassignment_json(found: Found, event: dict[str, Any]) -> dict[str, Any]:
    # Each scan has an offset of its own.
    offset = 100_000 + int(fingerprint(found.scan, found.hash)[:4], 16)
    return {"update_id": found.update_id, "offset": str(offset), "record_time": found.record_time, "event": event}


def verbose_record(record: dict[str, Any]) -> dict[str, Any]:
    """A record as the encoding protobuf_json writes it, where each value says its type."""
    return {"fields": [{"label": label, "value": verbose_value(value)} for label, value in record.items()]}


def verbose_value(value: Any) -> dict[str, Any]:
    match value:
        case dict():
            return {"record": verbose_record(value)}
        case list():
            return {"list": {"elements": [verbose_value(each) for each in value]}}
        case None:
            return {"optional": {}}
        case str() if "::" in value:
            return {"party": value}
    return {"text": value}
