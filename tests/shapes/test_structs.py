"""What collectors ask, and how they read what is answered, is what API files of all releases say."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from exporter.node.decoding import Moment, Struct
from exporter.simulator import Dialect
from tests.shapes.conftest import Record
from tests.shapes.reads import faults, reads
from tests.shapes.recording import Exchange, Reading
from tests.shapes.table import NO_FILE, ROOT, TABLES, Fact, Shape, anonymous
from tests.shapes.test_simulator import release
from tools.coverage import DOCUMENT, NETWORK

EXEMPT = {
    r"ledger_contracts WS .*: contractEntry: required by us and not in .*": "an error has none, by which it is known",
    r"ledger_parties GET /v2/parties: partyDetails: .* in 3\.4\.11": "3.4.12 corrected its file: it is always there",
    r"ledger_updates .*\.templateId: .* in 3\.4\.11": "3.4.12 corrected its file: it is always there",
    r"reward_batches GET /v0/reward-acc.*/root-hash: status: in no release": "read of the older path as of the newer",
    r"ledger_updates .*\.TopologyTransaction\.value\.paidTrafficCost: in no release": "read of all updates alike",
}
"""What may differ, and why."""
FILLED_IN = re.compile(r".* 3\.4\.11: body (.*\.)?(filtersByParty|verbose): required, and it is absent")
"""What Canton fills in of a request: a mapping, and `verbose` at its top. 3.4.12 corrected its file."""


def good_answers(reading: Reading) -> dict[str, Shape]:
    """Return the shape of the answer in each release that has the operation."""
    table, where = TABLES[reading.asked.kind], (reading.asked.operation, "200", "application/json")
    each = {version: table.release(version) for version in table.releases}
    return {version: shapes[where] for version, shapes in each.items() if where in shapes}


def faults_of(reading: Reading) -> Iterator[str]:
    where = f"{reading.asked.collector} {reading.asked.operation}"
    yield from (f"{where}: {fault}" for fault in faults(reads(reading.meaning), good_answers(reading)))


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_field_is_read_as_every_release_writes_it(record: Record, dialect: Dialect) -> None:
    found = {fault for reading in (await record(dialect)).readings for fault in faults_of(reading)}
    assert sorted(fault for fault in found if not any(re.fullmatch(each, fault) for each in EXEMPT)) == []


async def test_each_exemption_is_still_needed(record: Record) -> None:
    found = {fault for each in Dialect for reading in (await record(each)).readings for fault in faults_of(reading)}
    used = {each for each in EXEMPT if any(re.fullmatch(each, fault) for fault in found)}
    assert {each for each, why in EXEMPT.items() if not why.startswith("pending: ")} <= used


async def test_the_answer_of_every_operation_that_is_read_is_held_to_the_table(record: Record) -> None:
    readings = [reading for dialect in Dialect for reading in (await record(dialect)).readings]
    held = {(each.asked.kind, each.asked.operation) for each in readings if good_answers(each)}
    unknown = {(each.kind, each.operation) for each in NO_FILE}
    # What is asked for health alone is read by its status.
    read = {
        (each.base, f"{each.method} {anonymous(each.path)}")
        for each in (*DOCUMENT, *NETWORK)
        if {*each.collectors} - {"health"}
    }
    assert held | unknown == read


@pytest.mark.parametrize("dialect", Dialect)
async def test_nothing_is_asked_that_the_release_does_not_know(record: Record, dialect: Dialect) -> None:
    questions = (await record(dialect)).questions
    found = {fault for each in questions for fault in faults_of_question(each, release(dialect, each.kind))}
    assert sorted(fault for fault in found if not FILLED_IN.fullmatch(fault)) == []


def faults_of_question(exchange: Exchange, version: str) -> Iterator[str]:
    """Give what a release would not take; of an operation that it does not have, nothing is known."""
    shapes, operation = TABLES[exchange.kind].release(version), exchange.operation
    if operation not in TABLES[exchange.kind].operations(version):
        return
    where = f"{exchange.collector} {operation} {version}"
    if query := shapes.get((operation, "query", "-")):  # a websocket has none
        values = {name: typed(query, name, text) for name, text in exchange.asked.query.items()}
        yield from (f"{where}: query {fault}" for fault in query.faults(values))
    body, taken = exchange.asked.body, shapes.get((operation, "request", "application/json"))
    if body is not None and taken is not None:
        yield from (f"{where}: body {fault}" for fault in taken.faults(json.loads(body)))
    elif (body is not None) != (taken is not None and taken.facts[ROOT].is_required):
        yield f"{where}: {'no body' if body is None else 'a body'}"


def typed(query: Shape, name: str, text: str) -> Any:
    """Return what is meant by a text in a query."""
    is_number = name in query.facts and query.facts[name].types[0].startswith("integer")
    return int(text) if is_number and text.isascii() and text.isdigit() else text


class Pet(Struct):
    name: str
    born: Moment
    chip: int | None = None
    tags: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("field", "types", "is_required", "fault"),
    [
        ("name", "string", True, None),
        ("name", "any", True, None),
        ("name", "string", False, "name: required by us and not in 1"),
        ("name", "integer/int64", True, "name: string to us, and integer/int64 in 1"),
        ("name", "enum cat|dog", True, None),
        ("chip", "integer/int64", False, None),
        ("chip", "string", False, "chip: integer or null to us, and string in 1"),
        ("tags", "array", False, "tags: not null to us, and it may be in 1"),
    ],
)
def test_a_field_that_is_read_otherwise_is_found(field: str, types: str, is_required: bool, fault: str | None) -> None:
    good = {"name": "string", "born": "string", "chip": "integer", "tags": "array", "tags[]": "string"}
    facts = {name: Fact((type_,), True) for name, type_ in {ROOT: "object", **good}.items()}
    shape = Shape({**facts, field: Fact((types,), is_required)})
    assert [*faults(reads(Pet), {"1": shape})] == ([] if fault is None else [fault])


def test_a_field_that_no_release_has_is_found() -> None:
    shape = Shape({ROOT: Fact(("object",), True), "name": Fact(("string",), True), "born": Fact(("string",), True)})
    assert [*faults(reads(Pet), {"1": shape})] == ["chip: in no release", "tags: in no release"]
    assert [*faults({}, {})] == [*faults(reads(msgspec.Raw), {"1": shape})] == []
