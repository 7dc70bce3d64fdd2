"""POST /v2/updates: ranges, streams, checkpoints and refusals."""

import asyncio
from itertools import pairwise
from time import monotonic
from typing import Any

import pytest

from exporter.simulator import Dialect, Network, updates
from exporter.simulator.ledger import LedgerNode
from tests.simulator.conftest import Client, Reply, StandingClock

EVERYBODY: dict[str, Any] = {"filtersForAnyParty": {}}
NETWORK = [dialect for dialect in Dialect if dialect is not Dialect.DOCUMENT]


def transactions(filters: dict[str, Any], shape: str = "ACS_DELTA") -> dict[str, Any]:
    return {"includeTransactions": {"eventFormat": filters, "transactionShape": f"TRANSACTION_SHAPE_{shape}"}}


def ledger(network: Network, dialect: str = "0.7.5") -> LedgerNode:
    node = network[f"ledger-{dialect}"]
    assert isinstance(node, LedgerNode)
    return node


def kinds(reply: Reply) -> list[str]:
    assert reply.status == 200, reply.text
    return [next(iter(element["update"])) for element in reply.json]


def offsets(reply: Reply) -> list[int]:
    assert reply.status == 200, reply.text
    return [value["offset"] for element in reply.json for [value] in [next(iter(element["update"].values())).values()]]


async def test_an_open_ended_call_from_before_the_end_brings_the_checkpoint(
    network: Network, client: Client, clock: StandingClock
) -> None:
    node = ledger(network)
    checkpoint = node.participant.end()
    clock.advance(10)
    answer = await client.updates(node, {"beginExclusive": checkpoint.offset - 20, "updateFormat": {}}, limit=1)
    [element] = answer.json
    value = element["update"]["OffsetCheckpoint"]["value"]
    assert value["offset"] == checkpoint.offset < node.participant.end().offset
    [time] = value["synchronizerTimes"]
    assert time["synchronizerId"] == network.world.synchronizer
    assert time["recordTime"].startswith("2026-11-21T05:46:39.")


async def test_a_call_that_begins_after_the_cached_checkpoint_brings_nothing(
    network: Network, client: Client, clock: StandingClock
) -> None:
    clock.advance(10)
    node = ledger(network)
    begin = node.participant.end().offset
    assert (await client.updates(node, {"beginExclusive": begin, "updateFormat": {}}, idle=700)).json == []
    assert (await client.updates(node, {"beginExclusive": begin - 1, "updateFormat": {}})).json == []


@pytest.mark.parametrize(
    ("dialect", "idle", "expected"),
    [
        ("0.7.5", 800, ["OffsetCheckpoint"]),
        ("document", 800, ["OffsetCheckpoint"]),
        ("0.5", 800, []),
        ("0.7.5", None, []),
    ],
)
async def test_exactly_at_the_end_only_the_early_check_brings_the_checkpoint(
    network: Network, client: Client, dialect: str, idle: int | None, expected: list[str]
) -> None:
    node = ledger(network, dialect)
    query = "limit=1" if idle is None else f"limit=1&stream_idle_timeout_ms={idle}"
    body = {"beginExclusive": node.participant.end().offset, "updateFormat": {}}
    assert kinds(await client.ask(node, f"/v2/updates?{query}", body)) == expected


async def test_without_a_limit_an_idle_stream_ends_after_half_a_second(network: Network, client: Client) -> None:
    node, began = ledger(network), monotonic()
    body = {"beginExclusive": node.participant.end().offset - 1, "updateFormat": {}}
    assert kinds(await client.ask(node, "/v2/updates", body)) == ["OffsetCheckpoint"]
    assert 0.5 <= monotonic() - began < 1


async def test_a_stream_brings_what_comes_while_it_waits(
    network: Network, client: Client, clock: StandingClock
) -> None:
    node = ledger(network)
    begin = node.participant.end().offset
    body = {"beginExclusive": begin, "updateFormat": transactions(EVERYBODY)}
    call = asyncio.create_task(client.updates(node, body, idle=300))
    await asyncio.sleep(0.1)
    clock.advance(15)
    answer = await call
    assert set(kinds(answer)[:-1]) == {"Transaction"}
    assert kinds(answer)[-1] == "OffsetCheckpoint"
    assert offsets(answer) == sorted(offsets(answer))
    assert begin < offsets(answer)[0]


async def test_the_checkpoint_comes_in_its_place_among_the_transactions(
    network: Network, client: Client, clock: StandingClock
) -> None:
    node = ledger(network)
    checkpoint = node.participant.end().offset
    clock.advance(14)
    body = {"beginExclusive": checkpoint - 50, "updateFormat": transactions(EVERYBODY)}
    answer = await client.updates(node, body)
    assert offsets(answer) == sorted(offsets(answer))
    place = kinds(answer).index("OffsetCheckpoint")
    assert offsets(answer)[place] == checkpoint
    assert kinds(answer).count("OffsetCheckpoint") == 1
    assert offsets(answer)[place + 1] > checkpoint


async def test_after_a_restart_there_is_no_checkpoint_at_first(
    network: Network, client: Client, clock: StandingClock
) -> None:
    node = ledger(network)
    clock.advance(100)
    await node.restart()
    body = {"beginExclusive": node.participant.end().offset - 500, "updateFormat": {}}
    assert (await client.updates(node, body)).json == []
    clock.advance(15)
    assert kinds(await client.updates(node, body)) == ["OffsetCheckpoint"]


async def test_a_bounded_call_has_no_checkpoint(network: Network, client: Client) -> None:
    node = ledger(network)
    end = node.participant.end().offset
    body = {"beginExclusive": end - 100, "endInclusive": end, "updateFormat": transactions(EVERYBODY)}
    answer = await client.updates(node, body)
    assert set(kinds(answer)) == {"Transaction"}
    assert (await client.updates(node, body | {"updateFormat": {}})).json == []
    assert (await client.updates(node, body | {"beginExclusive": end})).json == []


@pytest.mark.parametrize(("dialect", "is_known"), [("0.5", False), ("0.6", True), ("document", True)])
async def test_a_bounded_call_may_ask_for_descending_order_since_canton_3_5(
    network: Network, client: Client, dialect: str, is_known: bool
) -> None:
    node = ledger(network, dialect)
    end = node.participant.end().offset
    body = {"beginExclusive": end - 100, "endInclusive": end, "updateFormat": transactions(EVERYBODY)}
    ascending = offsets(await client.updates(node, body))
    descending = offsets(await client.updates(node, body | {"descendingOrder": True}))
    assert descending == (ascending[::-1] if is_known else ascending)


async def test_a_transaction_shows_a_created_event_of_its_party(network: Network, client: Client) -> None:
    node = ledger(network)
    end, alice = node.participant.end().offset, node.participant.parties[0]
    body = {
        "beginExclusive": end - 300,
        "endInclusive": end,
        "updateFormat": transactions({"filtersByParty": {alice: {"cumulative": []}}}, "LEDGER_EFFECTS"),
    }
    answer = await client.updates(node, body)
    assert answer.json
    for element in answer.json:
        transaction = element["update"]["Transaction"]["value"]
        [event] = transaction["events"]
        assert event["CreatedEvent"]["witnessParties"] == [alice]
        assert event["CreatedEvent"]["offset"] == transaction["offset"]
        assert transaction["synchronizerId"] == network.world.synchronizer
        assert transaction["traceContext"] is None


@pytest.mark.parametrize(("dialect", "has_nulls"), [("document", False), ("0.5", True), ("0.9", True)])
async def test_absent_fields_are_nulls_on_the_network_only(
    network: Network, client: Client, dialect: str, has_nulls: bool
) -> None:
    node = ledger(network, dialect)
    end = node.participant.end().offset
    body = {"beginExclusive": end - 100, "endInclusive": end, "updateFormat": transactions(EVERYBODY)}
    assert ("null" in (await client.updates(node, body)).text) == has_nulls


async def test_of_an_unknown_party_there_are_no_transactions(network: Network, client: Client) -> None:
    node = ledger(network)
    end = node.participant.end().offset
    nobody = transactions({"filtersByParty": {"nobody::12": {}}})
    body = {"beginExclusive": end - 100, "endInclusive": end, "updateFormat": nobody}
    assert (await client.updates(node, body)).json == []


async def test_more_than_200_elements_are_a_413(network: Network, client: Client) -> None:
    node = ledger(network)
    body = {"beginExclusive": 100_000, "updateFormat": transactions(EVERYBODY)}
    answer = await client.updates(node, body, limit=1000)
    assert answer.status == 413
    assert answer.json["code"] == "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
    assert answer.json["cause"] == "The number of matching elements (201) is greater than the node limit (200)."
    assert answer.json["retryInfo"] == "1 second"
    assert len((await client.updates(node, body, limit=200)).json) == 200
    assert (await client.updates(node, body, limit=0)).json == []


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_range_beyond_the_end_or_pruned_is_refused(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    end, codes = node.participant.end().offset, []
    for begin, until in ((end + 1, None), (end, end + 1), (89_999, None), (end, end - 1), (-1, None)):
        answer = await client.updates(node, {"beginExclusive": begin, "endInclusive": until, "updateFormat": {}})
        assert answer.status == 400
        codes.append(answer.json["code"])
    assert codes == [
        "OFFSET_AFTER_LEDGER_END",
        "OFFSET_AFTER_LEDGER_END",
        "PARTICIPANT_PRUNED_DATA_ACCESSED",
        "OFFSET_OUT_OF_RANGE",
        "NEGATIVE_OFFSET",
    ]
    assert (await client.updates(node, {"beginExclusive": 90_000, "updateFormat": {}}, limit=1)).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        {"updateFormat": {}},
        {"beginExclusive": None, "updateFormat": {}},
        {"beginExclusive": "184000", "updateFormat": {}},
        {"beginExclusive": True, "updateFormat": {}},
        {"beginExclusive": 184000, "updateFormat": []},
        {"beginExclusive": 184000, "updateFormat": {"includeTransactions": {}}},
        {"beginExclusive": 184000, "updateFormat": transactions({}, "OTHER")},
        {"beginExclusive": 184000, "updateFormat": {"includeTopologyEvents": True}},
    ],
)
async def test_what_cannot_be_decoded_is_a_400_in_plain_text(network: Network, client: Client, body: Any) -> None:
    answer = await client.updates(ledger(network), body)
    assert (answer.status, answer.media) == (400, "text/plain")
    assert answer.text.startswith("Invalid value for: body (")


@pytest.mark.parametrize("query", ["limit=x", "limit=-1", "limit=", "stream_idle_timeout_ms=1.5"])
async def test_a_bad_query_is_a_400_in_plain_text(network: Network, client: Client, query: str) -> None:
    answer = await client.ask(ledger(network), f"/v2/updates?{query}", {"beginExclusive": 0, "updateFormat": {}})
    assert (answer.status, answer.media) == (400, "text/plain")
    assert answer.text.startswith(f"Invalid value for: query parameter {query.partition('=')[0]}")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "INVALID_ARGUMENT"),
        ({"filter": EVERYBODY, "updateFormat": {}}, "INVALID_ARGUMENT"),
        ({"verbose": True, "updateFormat": {}}, "INVALID_ARGUMENT"),
        ({"descendingOrder": True, "updateFormat": {}}, "INVALID_ARGUMENT"),
        ({"updateFormat": transactions({})}, "INVALID_ARGUMENT"),
        ({"updateFormat": transactions(EVERYBODY, "UNSPECIFIED")}, "MISSING_FIELD"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused_with_a_code(
    network: Network, client: Client, body: dict[str, Any], code: str
) -> None:
    answer = await client.updates(ledger(network), {"beginExclusive": 184_000} | body)
    assert (answer.status, answer.json["code"]) == (400, code)


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_legacy_filter_is_served_until_canton_3_6(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    body = {"beginExclusive": node.participant.end().offset - 100, "filter": EVERYBODY, "verbose": False}
    answer = await client.updates(node, body)
    if dialect is Dialect.V0_9:
        assert (answer.status, answer.json["code"]) == (400, "DEPRECATED_API_DISABLED")
    else:
        assert set(kinds(answer)) == {"Transaction", "OffsetCheckpoint"}


@pytest.mark.parametrize(("dialect", "status"), [("document", 400), ("0.7.5", 200)])
async def test_a_verbose_of_false_excludes_a_format_in_the_document_only(
    network: Network, client: Client, dialect: str, status: int
) -> None:
    node = ledger(network, dialect)
    begin = node.participant.end().offset
    answer = await client.updates(node, {"beginExclusive": begin, "verbose": False, "updateFormat": {}})
    assert answer.status == status


async def test_the_document_derives_a_format_from_no_filter(network: Network, client: Client) -> None:
    node = ledger(network, "document")
    answer = await client.updates(node, {"beginExclusive": node.participant.end().offset - 100})
    assert kinds(answer) == ["OffsetCheckpoint"]


async def test_a_stream_that_never_falls_idle_is_cut_off_by_the_server(
    network: Network, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "REQUEST_SECONDS", 0.2)
    node = ledger(network, "0.5")
    body = {"beginExclusive": node.participant.end().offset, "updateFormat": {}}
    answer = await client.updates(node, body, idle=60_000)
    assert (answer.status, answer.media) == (503, "text/plain")


async def test_two_calls_one_after_the_other_miss_no_transaction(
    network: Network, client: Client, clock: StandingClock
) -> None:
    node, seen = ledger(network), []
    begin = first = node.participant.end().offset
    for _ in range(5):
        clock.advance(15)
        answer = await client.updates(node, {"beginExclusive": begin, "updateFormat": transactions(EVERYBODY)})
        assert kinds(answer)[-1] == "OffsetCheckpoint"
        seen += offsets(answer)[:-1]
        begin = offsets(answer)[-1]
    body = {"beginExclusive": first, "endInclusive": begin, "updateFormat": transactions(EVERYBODY)}
    assert seen == offsets(await client.updates(node, body))
    assert all(earlier < later for earlier, later in pairwise(seen))
