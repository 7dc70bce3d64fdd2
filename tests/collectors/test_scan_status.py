"""scan_status: how far a scan is and which release, from whatever of it the scan's release can tell."""

from typing import Any

import pytest

from exporter.collectors.scan_status import scan_status
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

LAST, VERSION, EVENTS = "/v0/migrations/last", "/version", "/v0/events/latest-record-time"
INFO = "/v0/backfilling/migration-info"
GLOBAL, APP = "global-domain::12", "app::12"
RELEASE = 'canton_scan_info{migration_id="4",version="0.7.4"} 1.0'
TIME = 'canton_scan_record_timestamp_seconds{synchronizer="global-domain::12"} 1.7952228e+09'
UNSPECIFIC = 'canton_scan_record_timestamp_seconds{synchronizer=""} 1.7952228e+09'


def ranged(*newest: tuple[str, Any]) -> dict[str, Any]:
    ranges = [{"synchronizer_id": id_, "min": "2025-12-01T10:00:00Z", "max": max_} for id_, max_ in newest]
    return {"previous_migration_id": 3, "record_time_range": ranges, "complete": True, "last_import_update_id": None}


def tell(node: TestNode, **parts: Any) -> None:
    """Tell what a release of each part says; of a part not named, what one without it does."""
    asked = {"last": LAST, "version": VERSION, "events": EVENTS}
    for name, answer in parts.items():
        told = {"status": 404, "answers": NO_ROUTE} if answer is None else {"answers": answer}
        if name == "info":
            node.post(INFO, {"migration_id": 4}, **told)
        else:
            node.get(asked[name], **told)


def answer_well(node: TestNode) -> None:
    version = {"version": "0.7.4", "commit_ts": "2026-08-18T10:00:00Z"}
    tell(node, last={"migration_id": 4}, version=version, info=ranged((GLOBAL, "2026-11-21T01:00:00Z")))


async def test_says_how_far_the_scan_is_and_which_release(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(scan_status) == [RELEASE, TIME]
    assert len(node.requests) == 3


async def test_from_0_9_on_the_events_tell_how_far_it_is(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    tell(node, info=None, events={"record_time": "2026-11-21T01:00:00Z"})
    assert await lines(scan_status) == [RELEASE, UNSPECIFIC]


async def test_each_synchronizer_has_the_newest_of_its_times(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    times = [(APP, "2026-11-21T01:00:00Z"), (GLOBAL, "2026-11-21T00:00:00Z"), (GLOBAL, "2026-11-21T02:00:00+01:00")]
    tell(node, info=ranged(*times, (GLOBAL, "2026-11-20T00:00:00Z")))
    assert (await lines(scan_status))[1:] == [TIME.replace(GLOBAL, APP), TIME]


async def test_a_migration_id_that_is_configured_is_not_asked_for(node: TestNode, lines: Lines) -> None:
    tell(node, version={"version": "0.7.4"}, info=ranged((GLOBAL, "2026-11-21T01:00:00Z")))
    assert await lines(scan_status, migration_id=4) == [RELEASE, TIME]


async def test_where_nothing_tells_the_migration_id_it_is_walked_to_and_remembered(
    node: TestNode, lines: Lines
) -> None:
    answer_well(node)
    tell(node, last=None)
    node.post(INFO, {"migration_id": 3}, answers=ranged((GLOBAL, "2026-01-01T00:00:00Z")))
    for number in (0, 1, 2, 5):
        node.post(INFO, {"migration_id": number}, status=404, answers={"error": f"No data for migration {number}"})
    assert await lines(scan_status) == [RELEASE, TIME]
    walked = len(node.requests)
    assert await lines(scan_status) == [RELEASE, TIME]
    assert len(node.requests) - walked == 5, "it begins where it ended the last time"


async def test_a_migration_id_nobody_tells_is_empty(node: TestNode, lines: Lines) -> None:
    tell(node, last=None, version={"version": "0.9.1"}, events={"record_time": "2026-11-21T01:00:00Z"})
    node.post(INFO, {"migration_id": 0}, status=404, answers=NO_ROUTE)
    assert await lines(scan_status) == ['canton_scan_info{migration_id="",version="0.9.1"} 1.0', UNSPECIFIC]


async def test_a_scan_that_does_not_tell_its_release_tells_how_far_it_is(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    tell(node, version=None)
    assert TIME in await lines(scan_status)


async def test_a_scan_that_does_not_tell_how_far_it_is_tells_its_release(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    tell(node, info=None, events=None)
    assert await lines(scan_status) == [RELEASE]


async def test_a_scan_without_data_of_its_migration_or_any_event_shows_no_time(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.post(INFO, {"migration_id": 4}, status=404, answers={"error": "No data for migration 4"})
    node.get(EVENTS, status=404, answers={"error": "No events found"})
    assert await lines(scan_status) == [RELEASE]


async def test_a_scan_that_has_ingested_nothing_shows_no_time(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    tell(node, info=ranged())
    assert await lines(scan_status) == [RELEASE]


@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_node_that_tells_nothing_of_it_is_unsupported(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    node.answer_everything(status=404, **answer)
    assert await lines(scan_status) == [
        "unsupported: the node reports neither its release nor up to which record time it has data"
    ]


@pytest.mark.parametrize("path", [LAST, VERSION])
async def test_a_part_that_fails_fails_the_run(node: TestNode, lines: Lines, path: str) -> None:
    answer_well(node)
    node.get(path, status=500, answers={"error": "An unexpected error occurred."})
    node.lenient = True
    assert await lines(scan_status) == [f"refused: GET {path}: 500: An unexpected error occurred."]


@pytest.mark.parametrize(
    ("part", "answer", "asked"),
    [
        ("last", {"migration_id": None}, f"GET {LAST}"),
        ("last", {"migration_id": "4"}, f"GET {LAST}"),
        ("last", {"migration_id": 2**63}, f"GET {LAST}"),
        ("version", {"version": None}, f"GET {VERSION}"),
        ("version", {"version": 7}, f"GET {VERSION}"),
        ("version", {"version": "x" * 2_101}, f"GET {VERSION}"),
        ("info", {"record_time_range": None}, f"POST {INFO}"),
        ("info", ranged((GLOBAL, None)), f"POST {INFO}"),
        ("info", ranged((GLOBAL, "2026-11-21T01:00:00")), f"POST {INFO}"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_an_answer_that_makes_no_sense_is_malformed(
    node: TestNode, lines: Lines, part: str, answer: Any, asked: str
) -> None:
    answer_well(node)
    tell(node, **{part: answer})
    node.lenient = True
    [line] = await lines(scan_status)
    assert line.startswith(f"malformed: {asked}: not the documented answer: ")


@pytest.mark.parametrize("migration_id", [-1, "four", 1.5])
async def test_refuses_what_is_no_migration_id(node: TestNode, lines: Lines, migration_id: Any) -> None:
    with pytest.raises(AssertionError, match="migration_id"):
        await lines(scan_status, migration_id=migration_id)
