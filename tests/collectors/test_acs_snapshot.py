"""acs_snapshot: when the newest snapshot was taken, found in every way a scan may have."""

from typing import Any

from exporter.collectors.acs_snapshot import acs_snapshot
from tests.conftest import FakeClock, Lines
from tests.nodes import NO_ROUTE, TestNode

NOW = "2026-11-21T05:46:40.000000Z"
TAKEN = "2026-11-21T03:00:00Z"
TIMESTAMP = f"/v0/state/acs/snapshot-timestamp?before={NOW}&migration_id=4"
INFO = "/v0/backfilling/migration-info"
SHOWN = ["canton_acs_snapshot_timestamp_seconds 1.79523e+09", 'canton_acs_snapshot_info{migration_id="4"} 1.0']


def answer_well(node: TestNode) -> None:
    node.get("/v0/migrations/last", answers={"migration_id": 4})
    node.get(TIMESTAMP, answers={"record_time": TAKEN})


def newest(match: str = "at_or_before") -> dict[str, Any]:
    return {"migration_id": 4, "record_time": NOW, "record_time_match": match, "page_size": 1}


def lack(node: TestNode, *operations: str) -> None:
    for operation in operations:
        method, path = operation.split()
        if method == "GET":
            node.get(path, status=404, answers=NO_ROUTE)
        else:
            node.post(path, newest(), status=404, answers=NO_ROUTE)


async def test_says_when_the_newest_snapshot_was_taken(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(acs_snapshot) == SHOWN


async def test_a_migration_id_that_is_configured_is_not_asked_for(node: TestNode, lines: Lines) -> None:
    node.get(TIMESTAMP, answers={"record_time": TAKEN})
    assert await lines(acs_snapshot, migration_id=4) == SHOWN


async def test_where_nothing_tells_the_migration_id_it_is_walked_to(node: TestNode, lines: Lines) -> None:
    lack(node, "GET /v0/migrations/last")
    for number in range(6):
        there = number in (3, 4)
        answer = {"complete": True} if there else {"error": f"No data for migration {number}"}
        node.post(INFO, {"migration_id": number}, status=200 if there else 404, answers=answer)
    node.get(TIMESTAMP, answers={"record_time": TAKEN})
    assert await lines(acs_snapshot) == SHOWN
    walked = len(node.requests)
    assert await lines(acs_snapshot) == SHOWN
    assert len(node.requests) - walked == 4, "it begins where it ended the last time"


async def test_a_network_that_began_anew_is_walked_anew(node: TestNode, lines: Lines) -> None:
    lack(node, "GET /v0/migrations/last")
    node.lenient = True
    for number in range(20):
        there = number == 4
        node.post(INFO, {"migration_id": number}, status=200 if there else 404, answers={"error": "No data"})
    node.get(TIMESTAMP, answers={"record_time": TAKEN})
    assert await lines(acs_snapshot) == SHOWN
    for number in range(20):
        there = number == 0
        node.post(INFO, {"migration_id": number}, status=200 if there else 404, answers={"error": "No data"})
    node.get(TIMESTAMP.replace("=4", "=0"), answers={"record_time": TAKEN})
    assert (await lines(acs_snapshot))[1] == 'canton_acs_snapshot_info{migration_id="0"} 1.0'


async def test_a_scan_without_any_migration_is_refused(node: TestNode, lines: Lines) -> None:
    lack(node, "GET /v0/migrations/last")
    for number in range(12):
        node.post(INFO, {"migration_id": number}, status=404, answers={"error": "No data"})
    assert await lines(acs_snapshot) == [f"refused: POST {INFO}: there is no data for any of 12 migrations"]


async def test_says_what_to_set_where_the_migration_id_cannot_be_found(node: TestNode, lines: Lines) -> None:
    node.get("/v0/migrations/last", status=404, body=b"")
    node.post(INFO, {"migration_id": 0}, status=404, body=b"")
    assert await lines(acs_snapshot) == [
        f"unsupported: GET /v0/migrations/last: 404; POST {INFO}: 404; set the option migration_id"
    ]


async def test_without_the_snapshot_timestamp_the_contracts_tell_it(node: TestNode, lines: Lines) -> None:
    lack(node, f"GET {TIMESTAMP}", "POST /v2/state/acs", "POST /v1/state/acs")
    node.post("/v0/state/acs", newest(), answers={"record_time": TAKEN, "migration_id": 4, "created_events": []})
    assert await lines(acs_snapshot, migration_id=4) == SHOWN


async def test_a_node_that_only_repeats_the_time_asked_for_does_not_tell(node: TestNode, lines: Lines) -> None:
    lack(node, f"GET {TIMESTAMP}")
    node.post("/v2/state/acs", newest(), answers={"record_time": NOW, "migration_id": 4, "created_events": []})
    assert await lines(acs_snapshot, migration_id=4) == [
        "unsupported: the node lacks GET /v0/state/acs/snapshot-timestamp, and reports its snapshot's time nowhere else"
    ]


async def test_a_scan_without_a_snapshot_shows_none_and_says_so(node: TestNode, lines: Lines) -> None:
    node.get(TIMESTAMP, status=404, answers={"error": "No snapshots found before 2026-11-21"})
    lack(node, "POST /v2/state/acs", "POST /v1/state/acs")
    node.post("/v0/state/acs", newest(), status=404, answers={"error": "No snapshots found before 2026-11-21"})
    assert await lines(acs_snapshot, migration_id=4) == []
    assert [str(remark) for remark in lines.run.remarks] == ["the scan has no snapshot: none in migration 4"]


async def test_a_time_that_is_none_is_malformed(node: TestNode, lines: Lines) -> None:
    node.get(TIMESTAMP, answers={"record_time": "yesterday"})
    assert await lines(acs_snapshot, migration_id=4) == [
        "malformed: GET /v0/state/acs/snapshot-timestamp: not the documented answer: Invalid RFC3339 encoded datetime"
    ]


async def test_the_newest_is_looked_for_as_of_now(node: TestNode, lines: Lines, clock: FakeClock) -> None:
    answer_well(node)
    await lines(acs_snapshot)
    clock.advance(10_800)
    later = TIMESTAMP.replace("05:46", "08:46")
    node.get(later, answers={"record_time": "2026-11-21T06:00:00Z"})
    assert (await lines(acs_snapshot))[0] == "canton_acs_snapshot_timestamp_seconds 1.7952408e+09"
