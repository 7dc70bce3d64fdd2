"""update_lookup: whether a scan has indexed updates, and when they were sequenced."""

from typing import Any

import pytest

from exporter.collectors.update_lookup import update_lookup
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

HASH, OTHER = "1220aa", "1220BB"
OPTIONS: dict[str, Any] = {"hashes": [HASH]}
PATH = "/v2/updates/hash/"
ROUTE = PATH + "{hash}"
TRANSACTION: dict[str, Any] = {
    "update_id": "1220ee",
    "migration_id": 4,
    "workflow_id": "",
    "record_time": "2026-11-21T01:00:00.5Z",
    "synchronizer_id": "global-domain::12",
    "effective_at": "2026-11-21T00:59:59Z",
    "root_event_ids": ["#1220ee:0"],
    "events_by_id": {"#1220ee:0": {"event_type": "created_event", "contract_id": "00c1"}},
    "external_transaction_hash": HASH,
}
REASSIGNMENT: dict[str, Any] = {
    "update_id": "1220rr",
    "offset": "000000000000000051",
    "record_time": "2026-11-21T03:00:00+02:00",
    "event": {"submitter": "alice::12", "source_synchronizer": "a::12", "target_synchronizer": "b::12"},
}
FOUND = [
    'canton_update_indexed{hash="1220aa"} 1.0',
    'canton_update_record_timestamp_seconds{hash="1220aa"} 1.7952228005e+09',
]


def not_found(hash_: str) -> dict[str, Any]:
    return {"status": 404, "answers": {"error": f"Transaction with hash {hash_} not found"}}


def answer_well(node: TestNode) -> None:
    node.get(PATH + HASH, answers=TRANSACTION)


async def test_says_when_a_transaction_was_sequenced(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(update_lookup, **OPTIONS) == FOUND


async def test_says_when_a_reassignment_was_sequenced(node: TestNode, lines: Lines) -> None:
    node.get(PATH + HASH, answers=REASSIGNMENT)
    assert await lines(update_lookup, **OPTIONS) == [
        'canton_update_indexed{hash="1220aa"} 1.0',
        'canton_update_record_timestamp_seconds{hash="1220aa"} 1.7952228e+09',
    ]


async def test_an_update_the_scan_does_not_know_is_not_indexed_until_it_does(node: TestNode, lines: Lines) -> None:
    node.get(PATH + HASH, **not_found(HASH))
    assert await lines(update_lookup, **OPTIONS) == ['canton_update_indexed{hash="1220aa"} 0.0']
    answer_well(node)
    assert await lines(update_lookup, **OPTIONS) == FOUND


async def test_hashes_are_shown_in_the_order_they_are_listed_and_asked_for_once(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.get(PATH + OTHER, **not_found(OTHER))
    assert await lines(update_lookup, hashes=[OTHER, HASH, HASH, OTHER]) == [
        'canton_update_indexed{hash="1220BB"} 0.0',
        *FOUND,
    ]
    assert len(node.requests) == 2


@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_scan_without_the_operation_is_unsupported(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    node.get(PATH + HASH, status=404, **answer)
    [line] = await lines(update_lookup, **OPTIONS)
    assert line.startswith(f"unsupported: GET {ROUTE}: 404: ")


async def test_a_hash_the_scan_does_not_take_is_refused_and_not_an_unknown_one(node: TestNode, lines: Lines) -> None:
    node.get(PATH + HASH, status=400, answers={"error": "Invalid hash"})
    assert await lines(update_lookup, **OPTIONS) == [f"refused: GET {ROUTE}: 400: Invalid hash"]


async def test_a_scan_that_still_fills_its_history_is_refused(node: TestNode, lines: Lines) -> None:
    node.get(PATH + HASH, status=503, answers={"error": "History is not yet backfilled"})
    assert await lines(update_lookup, **OPTIONS) == [f"refused: GET {ROUTE}: 503: History is not yet backfilled"]


@pytest.mark.parametrize("record_time", [None, "", "yesterday", "2026-11-21T01:00:00", 1_795_222_800, {}], ids=str)
async def test_a_record_time_that_is_none_is_malformed(node: TestNode, lines: Lines, record_time: Any) -> None:
    node.get(PATH + HASH, answers=TRANSACTION | {"record_time": record_time})
    [line] = await lines(update_lookup, **OPTIONS)
    assert line.startswith(f"malformed: GET {ROUTE}: not the documented answer: ")


async def test_an_update_without_a_record_time_is_malformed(node: TestNode, lines: Lines) -> None:
    node.get(PATH + HASH, answers={"update_id": "1220ee"})
    [line] = await lines(update_lookup, **OPTIONS)
    assert line.startswith(f"malformed: GET {ROUTE}: not the documented answer: ")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({}, "hashes"),
        ({"hashes": []}, "needs at least one entry"),
        ({"hashes": [""]}, "is not a hash"),
        ({"hashes": ["1"]}, "is not a hash"),
        ({"hashes": ["1220xy"]}, "is not a hash"),
        ({"hashes": ["1220aa\n"]}, "is not a hash"),
        ({"hashes": ["a" * 201]}, "is not a hash"),
    ],
)
async def test_refuses_what_is_no_hash(node: TestNode, lines: Lines, options: dict[str, Any], fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(update_lookup, **options)
