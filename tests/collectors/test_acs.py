"""acs: exact counts of a snapshot's contracts, once per snapshot, by whichever version the node has."""

import json
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from exporter.collectors.acs import acs
from tests.conftest import FakeClock, Lines
from tests.nodes import NO_ROUTE, TestNode

NOW = "2026-11-21T05:46:40.000000Z"
TAKEN = "2026-11-21T03:00:00Z"
TIMESTAMP = f"/v0/state/acs/snapshot-timestamp?before={NOW}&migration_id=4"
ASKED = {"migration_id": 4, "record_time": TAKEN, "page_size": 1000}
AMULET = "splice-amulet:Splice.Amulet:Amulet"
ANS = "splice-amulet-name-service:Splice.Ans:AnsEntry"

HOSTILE = {
    "template_id": "not:this:one",
    "created_events": [{"template_id": "nor:this:one"}],
    "next_page_token": "nor this",
    "text": 'and "template_id": "not:even:this", with \\ and "next_page_token": 7, \u00e9\U0001f600\n',
    "nothing": None,
}


def contract(template_id: str, created_at: str = "2026-11-20T23:58:01.5Z", **more: Any) -> dict[str, Any]:
    return {"create_arguments": HOSTILE, "template_id": template_id, "created_at": created_at, **more}


def page(*contracts: dict[str, Any], token: str | int | None = None, **more: Any) -> dict[str, Any]:
    said = {"record_time": TAKEN, "migration_id": 4, "next_page_token": token, "created_events": contracts}
    return {**said, **more}


def tell_snapshot(node: TestNode, taken: str = TAKEN) -> None:
    node.get("/v0/migrations/last", answers={"migration_id": 4})
    node.get(TIMESTAMP, answers={"record_time": taken})


def answer_well(node: TestNode) -> None:
    tell_snapshot(node)
    first = [contract("f00d:Splice.Amulet:Amulet", package_name="splice-amulet")]
    node.post("/v2/state/acs", ASKED, answers=page(*first, token="p2"))
    node.post("/v2/state/acs", {**ASKED, "after": "p2"}, answers=page(contract(ANS)))


async def test_counts_the_contracts_of_each_template(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(acs) == [
        "canton_acs_counted_snapshot_timestamp_seconds 1.79523e+09",
        'canton_acs_endpoint_info{version="v2"} 1.0',
        f'canton_acs_contracts{{template="{AMULET}"}} 1.0',
        f'canton_acs_contracts{{template="{ANS}"}} 1.0',
        f'canton_acs_oldest_contract_timestamp_seconds{{template="{AMULET}"}} 1.7952190815e+09',
        f'canton_acs_oldest_contract_timestamp_seconds{{template="{ANS}"}} 1.7952190815e+09',
    ]


async def test_a_template_is_one_whatever_its_packages_version_and_order(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    contracts = [
        contract("f00d:Splice.Amulet:Amulet", "2026-11-20T12:00:00Z", package_name="splice-amulet"),
        contract("cafe:Splice.Amulet:Amulet", "2026-11-20T13:00:00+02:00", package_name="splice-amulet"),
        contract(AMULET, "2026-11-20T12:00:00.000001Z", package_name=None),
        contract(AMULET, created_at=None),  # type: ignore[arg-type]
    ]
    node.post("/v2/state/acs", ASKED, answers=page(*contracts))
    assert (await lines(acs))[2:] == [
        f'canton_acs_contracts{{template="{AMULET}"}} 4.0',
        f'canton_acs_oldest_contract_timestamp_seconds{{template="{AMULET}"}} 1.7951724e+09',
    ]


async def test_the_last_page_may_be_empty(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    full = [contract(AMULET)] * 1000
    node.post("/v2/state/acs", ASKED, answers=page(*full, token="end"))
    node.post("/v2/state/acs", {**ASKED, "after": "end"}, answers=page())
    assert (await lines(acs))[2] == f'canton_acs_contracts{{template="{AMULET}"}} 1000.0'


async def test_an_empty_snapshot_is_counted_too(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, answers=page())
    assert await lines(acs) == [
        "canton_acs_counted_snapshot_timestamp_seconds 1.79523e+09",
        'canton_acs_endpoint_info{version="v2"} 1.0',
    ]


@pytest.mark.parametrize(("version", "token"), [("v1", 17), ("v0", 0)])
async def test_an_older_version_is_asked_where_the_newer_are_missing(
    node: TestNode, lines: Lines, version: str, token: int
) -> None:
    tell_snapshot(node)
    for newer in ("v2", "v1"):
        node.post(f"/{newer}/state/acs", ASKED, status=404, answers=NO_ROUTE)
    first = contract(AMULET, event_type="created_event", event_id="1220:0")
    node.post(f"/{version}/state/acs", ASKED, answers=page(first, token=token))
    node.post(f"/{version}/state/acs", {**ASKED, "after": token}, answers=page(contract(AMULET)))
    assert (await lines(acs))[1:3] == [
        f'canton_acs_endpoint_info{{version="{version}"}} 1.0',
        f'canton_acs_contracts{{template="{AMULET}"}} 2.0',
    ]
    assert [request.path for request in node.requests[2:]] == [
        *(f"/{newer}/state/acs" for newer in ("v2", "v1", "v0") if newer > version),
        *[f"/{version}/state/acs"] * 2,
    ]


async def test_a_scan_that_does_not_tell_its_migration_is_asked_for_one_after_the_other(
    node: TestNode, lines: Lines
) -> None:
    answer_well(node)
    node.get("/v0/migrations/last", status=404, answers=NO_ROUTE)
    none = {"error": "No data for migration"}
    for migration_id in range(6):
        answer = {"answers": {"complete": True}} if migration_id == 4 else {"status": 404, "answers": none}
        node.post("/v0/backfilling/migration-info", {"migration_id": migration_id}, **answer)
    assert f'canton_acs_contracts{{template="{AMULET}"}} 1.0' in await lines(acs)


async def test_the_version_that_answered_is_asked_first_from_then_on(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, status=404, answers=NO_ROUTE)
    node.post("/v1/state/acs", ASKED, answers=page(contract(AMULET)))
    await lines(acs)
    tell_snapshot(node, "2026-11-21T00:00:00Z")
    asked = {**ASKED, "record_time": "2026-11-21T00:00:00Z"}
    node.post("/v1/state/acs", asked, answers=page(contract(AMULET), record_time="2026-11-21T00:00:00Z"))
    before = len(node.requests)
    await lines(acs)
    assert [request.path for request in node.requests[before:]][2:] == ["/v1/state/acs"]


async def test_a_version_that_was_removed_since_is_gone_around(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, status=404, answers=NO_ROUTE)
    node.post("/v1/state/acs", ASKED, answers=page(contract(AMULET)))
    await lines(acs)
    tell_snapshot(node, "2026-11-21T00:00:00Z")
    asked = {**ASKED, "record_time": "2026-11-21T00:00:00Z"}
    node.post("/v1/state/acs", asked, status=404, answers=NO_ROUTE)
    node.post("/v2/state/acs", asked, answers=page(contract(AMULET), record_time="2026-11-21T00:00:00Z"))
    assert (await lines(acs))[1] == 'canton_acs_endpoint_info{version="v2"} 1.0'


async def test_a_snapshot_is_counted_once(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    first = await lines(acs)
    before = len(node.requests)
    assert await lines(acs) == first
    assert [request.path for request in node.requests[before:]] == [
        "/v0/migrations/last",
        "/v0/state/acs/snapshot-timestamp",
    ]


async def test_a_template_that_is_gone_is_none(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(acs)
    tell_snapshot(node, "2026-11-21T00:00:00Z")
    asked = {**ASKED, "record_time": "2026-11-21T00:00:00Z"}
    node.post("/v2/state/acs", asked, answers=page(contract(ANS), record_time="2026-11-21T00:00:00Z"))
    assert (await lines(acs))[2:] == [
        f'canton_acs_contracts{{template="{ANS}"}} 1.0',
        f'canton_acs_contracts{{template="{AMULET}"}} 0.0',
        f'canton_acs_oldest_contract_timestamp_seconds{{template="{ANS}"}} 1.7952190815e+09',
    ]


async def test_counts_only_what_it_was_asked_for(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    asked = {**ASKED, "page_size": 100, "templates": [ANS, AMULET], "party_ids": ["a::12"]}
    node.post("/v2/state/acs", asked, answers=page(contract(AMULET)))
    options: dict[str, Any] = {"templates": [ANS, AMULET, ANS], "party_ids": ["a::12"], "page_size": 100}
    assert (await lines(acs, **options))[2:4] == [
        f'canton_acs_contracts{{template="{AMULET}"}} 1.0',
        f'canton_acs_contracts{{template="{ANS}"}} 0.0',
    ]


async def test_a_contract_of_several_parties_counts_once_however_often_it_is_listed(
    node: TestNode, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_snapshot(node)
    asked = {**ASKED, "party_ids": ["a::12", "b::12"]}
    one, other = contract(AMULET, contract_id="00c1"), contract(AMULET, contract_id="00c2")
    node.post("/v2/state/acs", asked, answers=page(one, one, other, token="b"))
    node.post("/v2/state/acs", {**asked, "after": "b"}, answers=page(other))
    counted = await lines(acs, party_ids=["a::12", "b::12"])
    assert f'canton_acs_contracts{{template="{AMULET}"}} 2.0' in counted
    monkeypatch.setattr("exporter.collectors.acs.MOST_APART", 1)
    lines.forget()
    [line] = await lines(acs, party_ids=["a::12", "b::12"])
    assert line == "too_large: POST /v2/state/acs: more than 1 contracts of several parties; name only one"


async def test_contracts_of_several_parties_that_cannot_be_told_apart_are_malformed(
    node: TestNode, lines: Lines
) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", {**ASKED, "party_ids": ["a::12", "b::12"]}, answers=page(contract(AMULET)))
    [line] = await lines(acs, party_ids=["a::12", "b::12"])
    assert line == "malformed: POST /v2/state/acs: a contract without contract_id, by which contracts differ"


async def test_a_snapshot_that_only_a_newer_version_will_have_does_not_bind_to_an_older_one(
    node: TestNode, lines: Lines
) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, status=404, answers={"error": "Failed to find ACS snapshot"})
    node.post("/v1/state/acs", ASKED, answers=page(contract(AMULET)))
    assert 'canton_acs_endpoint_info{version="v1"} 1.0' in await lines(acs)
    tell_snapshot(node, "2026-11-21T00:00:00Z")
    asked = {**ASKED, "record_time": "2026-11-21T00:00:00Z"}
    node.post("/v2/state/acs", asked, answers=page(contract(AMULET), record_time="2026-11-21T00:00:00Z"))
    assert 'canton_acs_endpoint_info{version="v2"} 1.0' in await lines(acs)


async def test_templates_can_be_split_among_cursors(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", {**ASKED, "templates": [AMULET]}, answers=page(contract(AMULET), token="b"))
    node.post("/v2/state/acs", {**ASKED, "templates": [AMULET], "after": "b"}, answers=page(contract(AMULET)))
    node.post("/v2/state/acs", {**ASKED, "templates": [ANS]}, answers=page(contract(ANS)))
    counted = await lines(acs, templates=[AMULET, ANS], cursors=8)
    assert sorted(line for line in counted if "acs_contracts" in line) == [
        f'canton_acs_contracts{{template="{ANS}"}} 1.0',
        f'canton_acs_contracts{{template="{AMULET}"}} 2.0',
    ]


@pytest.mark.parametrize("other", [{"record_time": "2026-11-21T06:00:00Z"}, {"migration_id": 5}])
async def test_a_page_of_another_snapshot_ends_the_count(node: TestNode, lines: Lines, other: dict[str, Any]) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, answers=page(contract(AMULET), token="b"))
    node.post("/v2/state/acs", {**ASKED, "after": "b"}, answers=page(contract(AMULET), **other))
    said = f"malformed: POST /v2/state/acs: a page of a snapshot other than that of {TAKEN}"
    assert await lines(acs) == [said]


async def test_a_page_that_does_not_say_whose_it_is_belongs_to_what_was_asked_for(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, answers={"created_events": [contract(AMULET)]})
    assert (await lines(acs))[2] == f'canton_acs_contracts{{template="{AMULET}"}} 1.0'


async def test_an_answer_without_contracts_is_not_a_count_of_none(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, answers={"record_time": TAKEN})
    [line] = await lines(acs)
    assert line.startswith("malformed: POST /v2/state/acs: not the documented answer")


async def test_a_token_that_comes_again_ends_the_count(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, answers=page(contract(AMULET), token="b"))
    node.post("/v2/state/acs", {**ASKED, "after": "b"}, answers=page(contract(AMULET), token="b"))
    [line] = await lines(acs)
    assert line == "malformed: POST /v2/state/acs: the page token 'b' came again, so the pages have no end"


async def test_a_snapshot_that_is_not_where_the_node_said_is_refused(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, status=404, answers={"error": "Failed to find ACS snapshot"})
    for older in ("/v1/state/acs", "/v0/state/acs"):
        node.post(older, ASKED, status=404, answers=NO_ROUTE)
    [line] = await lines(acs)
    assert line.startswith("refused: POST /v2/state/acs: 404: Failed to find ACS snapshot; ")
    assert line.endswith("; and yet the node reported that it has this snapshot")


async def test_a_version_that_goes_away_in_the_middle_is_not_begun_anew_by_another(
    node: TestNode, lines: Lines
) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, answers=page(contract(AMULET), token="b"))
    node.post("/v2/state/acs", {**ASKED, "after": "b"}, status=404, answers=NO_ROUTE)
    [line] = await lines(acs)
    assert line.startswith("refused: POST /v2/state/acs: 404: The requested resource")


async def test_a_scan_without_a_snapshot_counts_nothing_and_says_so(node: TestNode, lines: Lines) -> None:
    node.get("/v0/migrations/last", answers={"migration_id": 4})
    node.get(TIMESTAMP, status=404, answers={"error": "No snapshots found before 2026-11-21"})
    asked = {"migration_id": 4, "record_time": NOW, "record_time_match": "at_or_before", "page_size": 1}
    for version in ("v2", "v1", "v0"):
        node.post(f"/{version}/state/acs", asked, status=404, answers={"error": "No snapshots found"})
    assert await lines(acs) == []
    assert [str(remark) for remark in lines.run.remarks] == ["the scan has no snapshot: none in migration 4"]


async def test_to_the_letter_of_the_document_the_time_asked_for_is_repeated(
    node: TestNode, lines: Lines, clock: FakeClock
) -> None:
    node.get(TIMESTAMP, status=404, answers=NO_ROUTE)
    asked = {"migration_id": 4, "record_time": NOW, "record_time_match": "at_or_before", "page_size": 1}
    node.post("/v2/state/acs", asked, answers=page(contract(AMULET), record_time=NOW, token="b"))
    asked["page_size"] = 1000
    node.post("/v2/state/acs", asked, answers=page(contract(AMULET), contract(ANS), record_time=NOW))
    assert await lines(acs, migration_id=4) == [
        'canton_acs_endpoint_info{version="v2"} 1.0',
        f'canton_acs_contracts{{template="{AMULET}"}} 1.0',
        f'canton_acs_contracts{{template="{ANS}"}} 1.0',
        f'canton_acs_oldest_contract_timestamp_seconds{{template="{AMULET}"}} 1.7952190815e+09',
        f'canton_acs_oldest_contract_timestamp_seconds{{template="{ANS}"}} 1.7952190815e+09',
    ]


@pytest.mark.parametrize(
    "template",
    ["x" * 2101, "a:b:" + "\u00e9" * 2100, "p", "", "a:b", "a:b:c:d", "::", f"{'0f' * 32}:Splice.Amulet:Amulet"],
)
async def test_a_name_no_contract_can_have_is_malformed(node: TestNode, lines: Lines, template: str) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, answers=page(contract(template)))
    [line] = await lines(acs)
    assert line.startswith("malformed: POST /v2/state/acs")


async def test_a_page_of_more_than_was_asked_for_is_malformed(node: TestNode, lines: Lines) -> None:
    tell_snapshot(node)
    node.post("/v2/state/acs", {**ASKED, "page_size": 1}, answers=page(contract(AMULET), contract(AMULET)))
    said = "malformed: POST /v2/state/acs: a page of more than the 1 contracts asked for"
    assert await lines(acs, page_size=1) == [said]


async def test_what_was_seen_is_remembered_while_there_is_no_snapshot(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(acs)
    none = {"error": "No snapshots found"}
    node.get(TIMESTAMP, status=404, answers=none)
    asked = {"migration_id": 4, "record_time": NOW, "record_time_match": "at_or_before", "page_size": 1}
    for version in ("v2", "v1", "v0"):
        node.post(f"/{version}/state/acs", asked, status=404, answers=none)
    assert await lines(acs) == []
    tell_snapshot(node)
    node.post("/v2/state/acs", ASKED, answers=page(contract(ANS)))
    assert f'canton_acs_contracts{{template="{AMULET}"}} 0.0' in await lines(acs)


async def test_a_node_that_makes_up_templates_does_not_fill_the_memory(
    node: TestNode, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.limits.TEMPLATES", 10)
    tell_snapshot(node)
    contracts = [{"template_id": f"a:b:{number}"} for number in range(11)]
    node.post("/v2/state/acs", ASKED, answers=page(*contracts))
    said = "too_large: POST /v2/state/acs: more than 10 templates; name the ones to count"
    assert await lines(acs) == [said]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"page_size": 1001}, "page_size"),
        ({"page_size": 0}, "page_size"),
        ({"templates": ["Amulet"]}, "templates"),
        ({"templates": ["a:b:c:d"]}, "templates"),
        ({"cursors": 9}, "cursors"),
        ({"migration_id": -1}, "migration_id"),
    ],
)
async def test_refuses_what_no_node_would_take(
    lines: Lines, node: TestNode, options: dict[str, Any], fault: str
) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(acs, **options)


@pytest.fixture
async def long_scan(node: TestNode) -> AsyncIterator[list[int]]:
    """Put a scan in the node's place that has as many pages as the list says, all alike."""
    pages = [0]
    full = json.dumps([contract(AMULET)] * 1000)

    async def answer(request: web.Request) -> web.Response:
        if request.method == "GET":
            last = request.path.endswith("last")
            return web.json_response({"migration_id": 4} if last else {"record_time": TAKEN})
        number = int((await request.json()).get("after", 0)) + 1
        token = f'"{number}"' if number < pages[0] else "null"
        return web.Response(text=f'{{"created_events": {full}, "next_page_token": {token}}}')

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    node.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield pages
    await runner.cleanup()


async def test_memory_does_not_grow_with_the_count(lines: Lines, long_scan: list[int]) -> None:
    peaks = []
    for pages in (4, 40):
        long_scan[0] = pages
        lines.forget()
        tracemalloc.start()
        counted = await lines(acs)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert counted[2] == f'canton_acs_contracts{{template="{AMULET}"}} {pages * 1000}.0'
    assert peaks[1] < 1.2 * peaks[0]
