"""ledger_updates: each update counted once, whatever the node, its limits and its history do between two runs."""

from typing import Any

import pytest

from exporter.collectors.ledger_updates import ledger_updates
from tests.conftest import Lines
from tests.nodes import TestNode

END = "/v2/state/ledger-end"
PRUNED = "/v2/state/latest-pruned-offsets"
WILDCARD = {"identifierFilter": {"WildcardFilter": {"value": {"includeCreatedEventBlob": False}}}}
ANY_PARTY = {"filtersForAnyParty": {"cumulative": [WILDCARD]}, "verbose": False}
TOO_MANY: dict[str, Any] = {
    "status": 413,
    "answers": {"code": "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", "cause": "201 > 200"},
}


def format_of(events: dict[str, Any], parties: tuple[str, ...] = (), shape: str = "ACS_DELTA") -> dict[str, Any]:
    return {
        "includeTransactions": {"eventFormat": events, "transactionShape": f"TRANSACTION_SHAPE_{shape}"},
        "includeReassignments": events,
        "includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": [*parties]} if parties else {}},
    }


def at(node: TestNode, end: int, pruned: int = 0) -> None:
    node.get(END, answers={"offset": end})
    node.get(PRUNED, answers={"participantPrunedUpToInclusive": pruned})


def tell(node: TestNode, begin: int, upto: int, *updates: Any, limit: int = 200, **answer: Any) -> None:
    body = {"beginExclusive": begin, "endInclusive": upto, "updateFormat": format_of(ANY_PARTY)}
    node.post(f"/v2/updates?limit={limit}", body, **(answer or {"answers": updates}))


def event(kind: str, entity: str = "Asset") -> dict[str, Any]:
    hostile = {"offset": 1, "CreatedEvent": {"templateId": "not:this:one"}}
    return {kind: {"templateId": f"9f9f:Main:{entity}", "packageName": "demo-pkg", "createArgument": hostile}}


def transaction(offset: int, *events: Any, cost: int | None = None, second: int = 0) -> Any:
    value = {
        "offset": offset,
        "recordTime": f"2026-11-21T05:00:{second:02}Z",
        "events": events,
        "paidTrafficCost": cost,
    }
    return {"update": {"Transaction": {"value": value}}}


def reassignment(offset: int) -> Any:
    assigned = {"JsAssignmentEvent": {"source": "a", "createdEvent": event("x")["x"]}}
    unassigned = {"JsUnassignedEvent": {"value": event("x", "Offer")["x"]}}
    value = {"offset": offset, "recordTime": "2026-11-21T05:00:00Z", "events": [assigned, unassigned]}
    return {"update": {"Reassignment": {"value": value}}}


def topology(offset: int, *events: Any) -> Any:
    value = {"offset": offset, "recordTime": "2026-11-21T05:00:00Z", "events": events}
    return {"update": {"TopologyTransaction": {"value": value}}}


def checkpoint(offset: int) -> Any:
    return {"update": {"OffsetCheckpoint": {"value": {"offset": offset, "synchronizerTimes": []}}}}


def answer_well(node: TestNode) -> None:
    at(node, 100)


def counted(lines: list[str]) -> dict[str, float]:
    """Return what is not 0, by its name without the common beginning and its label values."""
    values = {line.partition(" ")[0].removeprefix("canton_ledger_"): float(line.split()[-1]) for line in lines}
    return {name: value for name, value in values.items() if value}


async def begun(node: TestNode, lines: Lines, end: int = 100) -> None:
    at(node, end)
    await lines(ledger_updates)


async def test_begins_at_the_ledgers_end(node: TestNode, lines: Lines) -> None:
    node.get(END, answers={"offset": 100})
    assert await lines(ledger_updates) == [
        "canton_ledger_updates_offset 100.0",
        "canton_ledger_traffic_cost_bytes_total 0.0",
        'canton_ledger_updates_total{kind="transaction"} 0.0',
        'canton_ledger_updates_total{kind="reassignment"} 0.0',
        'canton_ledger_updates_total{kind="topology_transaction"} 0.0',
        'canton_ledger_topology_events_total{kind="participant_authorization_added"} 0.0',
        'canton_ledger_topology_events_total{kind="participant_authorization_changed"} 0.0',
        'canton_ledger_topology_events_total{kind="participant_authorization_onboarding"} 0.0',
        'canton_ledger_topology_events_total{kind="participant_authorization_revoked"} 0.0',
        'canton_ledger_topology_events_total{kind="other"} 0.0',
        'canton_ledger_updates_gaps_total{reason="pruned"} 0.0',
        'canton_ledger_updates_gaps_total{reason="reset"} 0.0',
    ]


async def test_counts_what_happened_since(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 120)
    created = transaction(103, event("CreatedEvent"), event("ArchivedEvent", "Offer"), cost=500, second=3)
    exercised = transaction(109, event("ExercisedEvent"), cost=7, second=2)
    tell(node, 100, 120, created, checkpoint(105), exercised, reassignment(112), topology(120, {}))
    assert counted(await lines(ledger_updates)) == {
        "updates_offset": 120,
        "updates_timestamp_seconds": 1795237203,
        'updates_total{kind="transaction"}': 2,
        'updates_total{kind="reassignment"}': 1,
        'updates_total{kind="topology_transaction"}': 1,
        'topology_events_total{kind="other"}': 1,
        "traffic_cost_bytes_total": 507,
        'events_total{kind="created",template="demo-pkg:Main:Asset"}': 1,
        'events_total{kind="archived",template="demo-pkg:Main:Offer"}': 1,
        'events_total{kind="exercised",template="demo-pkg:Main:Asset"}': 1,
        'events_total{kind="assigned",template="demo-pkg:Main:Asset"}': 1,
        'events_total{kind="unassigned",template="demo-pkg:Main:Offer"}': 1,
    }


def authorization(kind: str) -> Any:
    value = {"partyId": "alice::12", "participantId": "p::12", "participantPermission": "SUBMISSION"}
    return {"event": {f"ParticipantAuthorization{kind}": {"value": value}}}


async def test_counts_topology_events_by_kind_and_what_nobody_knows_as_other(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 120)
    known = [authorization(kind) for kind in ("Added", "Changed", "Onboarding", "Revoked", "Added")]
    unknown = [authorization("Blessed"), {"event": {"Empty": {}}}, {"event": {}}, {"event": None}, {}]
    tell(node, 100, 120, topology(101, *known), topology(102, *unknown), topology(103))
    shown = counted(await lines(ledger_updates))
    assert {name: count for name, count in shown.items() if name.startswith("topology_events_total")} == {
        'topology_events_total{kind="participant_authorization_added"}': 2,
        'topology_events_total{kind="participant_authorization_changed"}': 1,
        'topology_events_total{kind="participant_authorization_onboarding"}': 1,
        'topology_events_total{kind="participant_authorization_revoked"}': 1,
        'topology_events_total{kind="other"}': 5,
    }
    at(node, 130)
    tell(node, 120, 130, topology(125, authorization("Revoked")))
    shown = counted(await lines(ledger_updates))
    assert shown['topology_events_total{kind="participant_authorization_revoked"}'] == 2


@pytest.mark.parametrize("event", [{"event": "Added"}, {"event": {"ParticipantAuthorizationAdded": "x"}}, "x", None])
async def test_a_topology_event_that_makes_no_sense_is_malformed(node: TestNode, lines: Lines, event: Any) -> None:
    await begun(node, lines)
    at(node, 120)
    tell(node, 100, 120, topology(101, event))
    [line] = await lines(ledger_updates)
    assert line.startswith("malformed: POST /v2/updates: not the documented answer: ")


async def test_counts_on_from_run_to_run_and_asks_nothing_where_nothing_happened(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100, 110, transaction(103))
    first = await lines(ledger_updates)
    assert await lines(ledger_updates) == first
    at(node, 130)
    tell(node, 110, 130, transaction(111), transaction(130))
    assert counted(await lines(ledger_updates))['updates_total{kind="transaction"}'] == 3


async def test_a_span_with_more_than_one_answer_holds_is_read_on_from_the_last_update(
    node: TestNode, lines: Lines
) -> None:
    await begun(node, lines)
    at(node, 1000)
    tell(node, 100, 1000, *(transaction(offset) for offset in range(101, 301)))
    tell(node, 300, 1000, *(transaction(offset) for offset in range(302, 501)), checkpoint(500))
    tell(node, 500, 1000, transaction(777))
    shown = counted(await lines(ledger_updates))
    assert (shown["updates_offset"], shown['updates_total{kind="transaction"}']) == (1000, 400)


async def test_a_node_with_a_lower_limit_is_asked_for_less_from_then_on(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 500)
    tell(node, 100, 500, **TOO_MANY)
    tell(node, 100, 300, limit=100, **TOO_MANY)
    tell(node, 100, 200, *(transaction(offset) for offset in range(101, 151)), limit=50)
    tell(node, 150, 350, transaction(151), limit=50)
    tell(node, 350, 500, transaction(400), limit=50)
    assert counted(await lines(ledger_updates))['updates_total{kind="transaction"}'] == 52
    at(node, 600)
    tell(node, 500, 600, transaction(555), limit=50)
    assert counted(await lines(ledger_updates))['updates_total{kind="transaction"}'] == 53


async def test_updates_of_kinds_nobody_knows_do_not_stop_it_in_silence(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 400)
    tell(node, 100, 400, *[{"update": {"SomethingNew": {"value": {"offset": 101}}}}] * 200)
    [line] = await lines(ledger_updates)
    assert line == "malformed: POST /v2/updates: a full answer without any known kind of update behind 100"


@pytest.mark.parametrize("empty", [{}, {"update": None}])
async def test_an_element_without_an_update_is_passed_over(node: TestNode, lines: Lines, empty: Any) -> None:
    await begun(node, lines)
    at(node, 120)
    tell(node, 100, 120, empty, transaction(110))
    shown = await lines(ledger_updates)
    assert 'canton_ledger_updates_total{kind="transaction"} 1.0' in shown
    assert "canton_ledger_updates_offset 120.0" in shown


async def test_an_update_without_its_record_time_counts_too(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 120)
    later = {"update": {"TopologyTransaction": {"value": {"offset": 111, "recordTime": None}}}}
    tell(node, 100, 120, transaction(110), later)
    shown = await lines(ledger_updates)
    assert 'canton_ledger_updates_total{kind="topology_transaction"} 1.0' in shown
    assert "canton_ledger_updates_timestamp_seconds 1.7952372e+09" in shown


async def test_more_updates_than_were_asked_for_are_malformed(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 400)
    tell(node, 100, 400, *(transaction(offset) for offset in range(101, 302)))
    assert await lines(ledger_updates) == ["malformed: POST /v2/updates: 201 updates, where 200 were asked for"]


async def test_what_was_read_before_one_update_too_large_counts(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 301)
    tell(node, 100, 301, *(transaction(offset) for offset in range(101, 301)))
    tell(node, 300, 301, **TOO_MANY)
    assert counted(await lines(ledger_updates))["updates_offset"] == 300


async def test_a_node_that_finds_everything_too_much_fails(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 104)
    tell(node, 100, 104, **TOO_MANY)
    tell(node, 100, 102, limit=100, **TOO_MANY)
    tell(node, 100, 101, limit=50, **TOO_MANY)
    assert (await lines(ledger_updates))[0] == "canton_ledger_updates_offset 100.0"
    assert str(lines.run.remarks[0]).startswith(
        "the answer was too large; less of the stream is requested at once: POST /v2/updates: 413"
    )
    [line] = await lines(ledger_updates)
    assert line.startswith("too_large: POST /v2/updates: 413"), "there is nothing more to learn"


async def test_what_was_read_before_a_failure_counts_and_the_next_run_meets_it(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 400)
    tell(node, 100, 400, *(transaction(offset) for offset in range(101, 301)))
    tell(node, 300, 400, status=503, body=b"")
    assert counted(await lines(ledger_updates))["updates_offset"] == 300
    [line] = await lines(ledger_updates)
    assert line == "refused: POST /v2/updates: 503"
    tell(node, 300, 400, transaction(301))
    shown = counted(await lines(ledger_updates))
    assert (shown["updates_offset"], shown['updates_total{kind="transaction"}']) == (400, 201)


@pytest.mark.parametrize("offsets", [(101, 101), (102, 101), (100,), (99,), (111,)])
async def test_what_would_count_twice_is_malformed(node: TestNode, lines: Lines, offsets: tuple[int, ...]) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100, 110, *map(transaction, offsets))
    [line] = await lines(ledger_updates)
    assert line.startswith(f"malformed: POST /v2/updates: offset {offsets[-1]} where one from ")


async def test_what_was_pruned_before_it_was_read_is_a_gap(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 300, pruned=200)
    tell(node, 200, 300, transaction(250))
    shown = counted(await lines(ledger_updates))
    assert shown['updates_gaps_total{reason="pruned"}'] == 1
    assert shown['updates_total{kind="transaction"}'] == 1
    assert lines.run.news == ("updates were missed up to offset 200: pruned",)


async def test_an_end_that_stays_below_what_was_read_is_a_participant_rebuilt(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    node.get(END, answers={"offset": 40})
    shown = counted(await lines(ledger_updates))
    assert shown == {"updates_offset": 100}
    assert [str(remark) for remark in lines.run.remarks] == [
        "the ledger end went back: to 40; if the next run finds it so too, the ledger counts as a new one"
    ]
    shown = counted(await lines(ledger_updates))
    assert (shown["updates_offset"], shown['updates_gaps_total{reason="reset"}']) == (40, 1)
    at(node, 50)
    tell(node, 40, 50, transaction(44))
    assert counted(await lines(ledger_updates))['updates_total{kind="transaction"}'] == 1


@pytest.mark.parametrize("answer", [{"offset": 40}, {"offset": None}, {}])
async def test_an_end_that_was_a_mistake_counts_nothing_twice(node: TestNode, lines: Lines, answer: Any) -> None:
    await begun(node, lines)
    node.get(END, answers=answer)
    await lines(ledger_updates)
    at(node, 110)
    tell(node, 100, 110, transaction(101))
    for _ in range(2):
        shown = counted(await lines(ledger_updates))
        assert shown['updates_total{kind="transaction"}'] == 1
    node.get(END, answers=answer)
    await lines(ledger_updates)
    assert counted(await lines(ledger_updates))['updates_gaps_total{reason="reset"}'] == 1


async def test_a_negative_end_is_malformed(node: TestNode, lines: Lines) -> None:
    node.get(END, answers={"offset": -5})
    [line] = await lines(ledger_updates)
    assert line.startswith("malformed: GET /v2/state/ledger-end")


async def test_sees_what_it_was_asked_for(node: TestNode, lines: Lines) -> None:
    at(node, 100)
    options: dict[str, Any] = {"parties": ["a::12"], "templates": ["demo-pkg:Main:Asset"], "shape": "ledger_effects"}
    await lines(ledger_updates, **options)
    at(node, 110)
    template = {"templateId": "#demo-pkg:Main:Asset", "includeCreatedEventBlob": False}
    filters = {"cumulative": [{"identifierFilter": {"TemplateFilter": {"value": template}}}]}
    wanted = format_of({"filtersByParty": {"a::12": filters}, "verbose": False}, ("a::12",), "LEDGER_EFFECTS")
    body = {"beginExclusive": 100, "endInclusive": 110, "updateFormat": wanted}
    node.post("/v2/updates?limit=200", body, answers=[])
    assert counted(await lines(ledger_updates, **options)) == {"updates_offset": 110}


async def test_a_node_that_makes_up_templates_does_not_fill_the_memory(
    node: TestNode, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.limits.TEMPLATES", 20)
    await begun(node, lines)
    at(node, 101)
    tell(node, 100, 101, transaction(101, *(event("CreatedEvent", f"E{number}") for number in range(20))))
    [line] = await lines(ledger_updates)
    assert line == "too_large: POST /v2/updates: more than 20 templates; name the ones to count"


@pytest.mark.parametrize("year", ["9999", "2027"])
async def test_an_update_from_the_future_is_not_the_newest_for_ever(node: TestNode, lines: Lines, year: str) -> None:
    await begun(node, lines)
    at(node, 102)
    wrong, right = transaction(101), transaction(102, second=7)
    wrong["update"]["Transaction"]["value"]["recordTime"] = f"{year}-11-22T05:00:00Z"
    tell(node, 100, 102, wrong, right)
    assert counted(await lines(ledger_updates))["updates_timestamp_seconds"] == 1795237207.0


async def test_updates_from_before_1970_have_the_time_they_say(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 101)
    old = transaction(101)
    old["update"]["Transaction"]["value"]["recordTime"] = "1969-12-31T23:59:00Z"
    tell(node, 100, 101, old)
    assert counted(await lines(ledger_updates))["updates_timestamp_seconds"] == -60.0
