"""What the simulated network answers is what API files of the releases say, operation by operation, field by field."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from exporter.config.models import Kind
from exporter.simulator import Dialect
from tests.shapes.conftest import Record
from tests.shapes.recording import Exchange, Recording
from tests.shapes.table import TABLES, anonymous, without_file
from tools.coverage import DOCUMENT, NETWORK

LEDGERS = {"document": "3.5.14", "0.5.10": "3.4.11", "0.5": "3.4.12", "0.6": "3.5.1", "0.7.5": "3.5.14", "0.9": "3.6"}
OTHERS = {"document": "0.7.4", "0.5.10": "0.5.10", "0.5": "0.5.10", "0.6": "0.6.1", "0.7.5": "0.7.4", "0.9": "0.7.4"}
"""The releases that dialects are held to: their own, or the nearest before of which there is an API file."""
ADVICE = "print its rows, or say why not in NO_FILE (docs/decisions/0010)"


class Exempt(NamedTuple):
    """What may differ, and the fact that is the reason."""

    dialects: str
    fault: str
    why: str


EXEMPT = (
    Exempt(
        "document",
        r"scan (POST /v1/state/acs|GET /v0/state/acs/snapshot-timestamp): not there",
        "the document names them and shows neither",
    ),
    Exempt(
        "document",
        r"ledger GET /v2/version 200: features: required, and it is absent",
        "the document does not show this answer, so it has the least that a reader must be able to live with",
    ),
    Exempt(
        "0.5.10 0.5",
        r"ledger GET /(livez|readyz): not in 3\.4\.1[12]; .*",
        "Canton 3.4 has both and does not document them",
    ),
    Exempt(
        "0.5.10",
        r"ledger .*\.createdEventBlob: required, and it is null",
        "3.4.12 corrected its file: it is there where it was asked for",
    ),
    Exempt(
        "0.5.10",
        r"ledger POST /v2/commands/completions .*\.updateId: required, and it is null",
        "3.4.12 corrected its file: what was rejected has none",
    ),
    Exempt(
        "0.9",
        r"scan (POST /v[01]/state/acs|GET /v0/synchronizer-bootstrapping-transactions/\{\}): not there",
        "Splice 0.9 removed them",
    ),
    Exempt(
        "0.9",
        r"validator GET /v0/scan-proxy/transfer-command(/status|-counter/\{\}): not there",
        "Splice 0.8 removed transfer commands from the validator",
    ),
    Exempt(
        "0.9",
        r"ledger (GET|POST) /v2/package-vetting: not in 3\.6; .*",
        "Canton 3.6 may still say of it that it is disabled",
    ),
)


def release(dialect: Dialect, kind: str) -> str:
    return (LEDGERS if kind == Kind.LEDGER else OTHERS)[dialect]


def faults(dialect: Dialect, recording: Recording) -> set[str]:
    """Return what is wrong with each operation: that it is there or is not, or what it answers."""
    found = set()
    for kind in Kind:
        version = release(dialect, kind)
        served = {operation for of, operation in recording.served if of == kind}
        has = TABLES[kind].operations(version)
        found |= {f"{kind} {operation}: not in {version}; {ADVICE}" for operation in served - has - without_file(kind)}
        if dialect is Dialect.DOCUMENT:
            found |= {f"{kind} {operation}: not in the document" for operation in served - documented(kind)}
        found |= {f"{kind} {operation}: not there" for operation in expected(dialect, kind) - served}
        of_kind = [each for each in recording.exchanges if each.kind == kind and each.operation in served & has]
        found |= {fault for exchange in of_kind for fault in faults_of(exchange, version)}
    return found


def documented(kind: Kind) -> set[str]:
    return {f"{each.method} {anonymous(each.path)}" for each in DOCUMENT if each.base == kind}


def expected(dialect: Dialect, kind: Kind) -> set[str]:
    """Return the operations that a collector reads and that are to be there."""
    read = DOCUMENT if dialect is Dialect.DOCUMENT else (*DOCUMENT, *NETWORK)
    operations = {f"{each.method} {anonymous(each.path)}" for each in read if each.base == kind and each.collectors}
    return operations if dialect is Dialect.DOCUMENT else operations & TABLES[kind].operations(release(dialect, kind))


def faults_of(exchange: Exchange, version: str) -> Iterator[str]:
    shapes, status = TABLES[exchange.kind].release(version), str(exchange.status)
    where = f"{exchange.kind} {exchange.operation} {status}"
    named = [(exchange.operation, name, exchange.media) for name in (status, "default")]
    shape = next((shapes[name] for name in named if name in shapes), None)
    if shape is None:
        yield f"{where}: no {exchange.media} is among its answers"
        return
    is_json = exchange.media == "application/json"
    for fault in shape.faults(json.loads(exchange.body) if is_json else exchange.body.decode()):
        yield f"{where}: {fault}"


def exemption(dialect: Dialect, fault: str) -> Exempt | None:
    those = (each for each in EXEMPT if dialect in each.dialects.split())
    return next((each for each in those if re.fullmatch(each.fault, fault)), None)


@pytest.mark.parametrize("dialect", Dialect)
async def test_an_answer_is_as_the_release_has_it(record: Record, dialect: Dialect) -> None:
    found = faults(dialect, await record(dialect))
    assert sorted(fault for fault in found if exemption(dialect, fault) is None) == []


@pytest.mark.parametrize("dialect", Dialect)
async def test_each_exemption_is_still_needed(record: Record, dialect: Dialect) -> None:
    used = {exemption(dialect, fault) for fault in faults(dialect, await record(dialect))}
    of_dialect = {each for each in EXEMPT if dialect in each.dialects.split()}
    assert of_dialect <= used


@pytest.mark.parametrize("dialect", Dialect)
async def test_each_operation_of_the_simulation_gave_a_good_answer(record: Record, dialect: Dialect) -> None:
    recording = await record(dialect)
    silent = {(kind, operation) for kind, operation in recording.served if operation not in recording.answered(kind)}
    disabled = {(each.kind, each.operation) for each in recording.exchanges if b"DEPRECATED_API_DISABLED" in each.body}
    assert silent == disabled


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"offset": 7, "synchronizerTimes": []}, None),
        ({"offset": None, "synchronizerTimes": None}, None),
        ({"offset": "7"}, "offset: '7' is not integer/int64"),
        ({"offset": 2**63}, f"offset: '{2**63}' is not integer/int64"),
        ({"offset": True}, "offset: 'True' is not integer/int64"),
        ({"end": 7}, "end: unknown"),
        ([], ".: '[]' is not object"),
        ({"synchronizerTimes": [{"synchronizerId": "a", "recordTime": None}]}, "recordTime: required, and it is null"),
        ({"synchronizerTimes": [{"recordTime": "b"}]}, "synchronizerId: required, and it is absent"),
    ],
)
def test_the_table_finds_a_fault(answer: Any, fault: str | None) -> None:
    shape = TABLES["ledger"].release("3.6")["GET /v2/state/ledger-end", "200", "application/json"]
    found = [*shape.faults(answer)]
    assert len(found) == (0 if fault is None else 1)
    assert fault is None or found[0].endswith(fault)
