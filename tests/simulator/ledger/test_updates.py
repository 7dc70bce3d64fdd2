"""POST /v2/updates: ranges, streams and checkpoints."""

import asyncio
from itertools import pairwise
from time import monotonic

import pytest

from exporter.simulator import Network
from tests.simulator.conftest import EVERYBODY, Client, StandingClock, kinds, ledger, offsets, transactions


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


async def test_a_transaction_shows_the_events_of_a_party(network: Network, client: Client) -> None:
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
        events = [value for event in transaction["events"] for value in event.values()]
        assert all(event["witnessParties"] == [alice] for event in events)
        assert {event["offset"] for event in events} == {transaction["offset"]}
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
