"""Nodes that answer everything, but with what the network was a while ago."""

from datetime import datetime
from typing import Any

import pytest

from exporter.simulator import Disconnected, Fault, Frozen, Late, Network, Node, Quiet
from tests.simulator.conftest import Client, StandingClock, ledger

END = "/v2/state/ledger-end"


async def checkpoint(client: Client, node: Node, begin: int) -> dict[str, Any]:
    """The end of the ledger as its streams tell it."""
    [found] = (await client.updates(node, {"beginExclusive": begin, "updateFormat": {}})).json
    value = found["update"]["OffsetCheckpoint"]["value"]
    assert isinstance(value, dict)
    return value


async def newest(client: Client, network: Network, name: str = "scan-0.9") -> float:
    """The newest record time of a scan, which it tells in two places."""
    info = (await client.ask(network[name], "/v0/backfilling/migration-info", {"migration_id": 4})).json
    time = info["record_time_range"][0]["max"]
    if name == "scan-0.9":
        assert (await client.ask(network[name], "/v0/events/latest-record-time")).json == {"record_time": time}
    return datetime.fromisoformat(time).timestamp()


async def test_a_frozen_ledger_answers_but_stands_still_until_it_catches_up(
    network: Network, client: Client, clock: StandingClock
) -> None:
    frozen, other = network["ledger-0.9"], network["ledger-0.7.5"]
    await frozen.set_fault(Frozen())
    before = (await client.ask(frozen, END)).json
    before_other = (await client.ask(other, END)).json
    clock.advance(60)
    assert (await client.ask(frozen, END)).json == before
    assert (await client.ask(other, END)).json["offset"] >= before_other["offset"] + 290
    assert await checkpoint(client, frozen, before["offset"] - 10) == before
    await frozen.clear_fault()
    assert (await client.ask(frozen, END)).json["offset"] >= before["offset"] + 290


async def test_a_frozen_scan_hears_nothing_new_until_it_catches_up(
    network: Network, client: Client, clock: StandingClock
) -> None:
    await network["scan-0.9"].set_fault(Frozen())
    before = await newest(client, network)
    clock.advance(60)
    assert await newest(client, network) == before
    assert clock() - await newest(client, network, "scan-0.6") < 3
    await network["scan-0.9"].clear_fault()
    assert clock() - await newest(client, network) < 3


async def test_a_late_ledger_tells_what_was_a_while_ago_and_moves(
    network: Network, client: Client, clock: StandingClock
) -> None:
    late, ends = network["ledger-0.9"], []
    for _ in range(6):
        ends.append((await client.ask(late, END)).json)
        clock.advance(15)
    await late.set_fault(Late(90))
    for end in ends:
        assert (await client.ask(late, END)).json == end
        assert await checkpoint(client, late, end["offset"] - 10) == end
        clock.advance(15)
    await late.clear_fault()
    assert (await client.ask(late, END)).json["offset"] >= ends[-1]["offset"] + 500


async def test_a_late_ledger_refuses_what_it_does_not_have_yet(network: Network, client: Client) -> None:
    late = ledger(network)
    end = late.participant.end().offset
    await late.set_fault(Late(60))
    refused = await client.updates(late, {"beginExclusive": end, "updateFormat": {}})
    assert (refused.status, refused.json["code"]) == (400, "OFFSET_AFTER_LEDGER_END")


async def test_a_ledger_is_at_most_so_late_that_there_is_something_left_of_it(network: Network) -> None:
    late = ledger(network)
    await late.set_fault(Late(18_000))
    assert late.participant.pruned() == 90_000 < late.participant.end().offset


async def test_a_late_ledger_that_restarts_has_a_checkpoint_soon(network: Network, clock: StandingClock) -> None:
    late = ledger(network)
    await late.set_fault(Late(600))
    await late.restart()
    assert late.participant.checkpoint() is None
    clock.advance(15)
    assert late.participant.checkpoint() == late.participant.end()


async def test_a_late_scan_tells_a_record_time_that_is_old_and_moves(
    network: Network, client: Client, clock: StandingClock
) -> None:
    await network["scan-0.9"].set_fault(Late(60))
    for _ in range(3):
        assert 60 < clock() - await newest(client, network) < 63
        clock.advance(20)


async def test_a_quiet_ledger_moves_only_now_and_then_and_then_to_what_is_current(
    network: Network, client: Client, clock: StandingClock
) -> None:
    quiet, other = ledger(network, "0.9"), ledger(network)
    clock.advance(7)
    await quiet.set_fault(Quiet(1800))
    for _ in range(2):
        before = (await client.ask(quiet, END)).json
        assert clock() - datetime.fromisoformat(before["synchronizerTimes"][0]["recordTime"]).timestamp() < 3
        clock.advance(1799)
        assert (await client.ask(quiet, END)).json == before
        assert clock() - other.participant.end().record_time < 3
        clock.advance(1)
        assert (await client.ask(quiet, END)).json["offset"] > before["offset"] + 8000


async def test_what_a_quiet_ledger_hears_is_in_its_next_checkpoint(
    network: Network, client: Client, clock: StandingClock
) -> None:
    quiet = ledger(network, "0.9")
    clock.advance(7)
    await quiet.set_fault(Quiet(60))
    begin = quiet.participant.end().offset
    clock.advance(60)
    assert (await checkpoint(client, quiet, begin - 10))["offset"] == begin
    clock.advance(15)
    assert await checkpoint(client, quiet, begin - 10) == (await client.ask(quiet, END)).json


async def test_a_disconnected_ledger_answers_but_is_on_no_synchronizer_and_stands_still(
    network: Network, client: Client, clock: StandingClock
) -> None:
    node, path = network["ledger-0.9"], "/v2/state/connected-synchronizers"
    await node.set_fault(Disconnected())
    before = (await client.ask(node, END)).json
    clock.advance(60)
    assert (await client.ask(node, END)).json == before
    assert before["synchronizerTimes"]
    assert (await client.ask(node, path)).json == {"connectedSynchronizers": []}
    assert (await client.ask(node, "/readyz")).status == 200
    await node.clear_fault()
    assert len((await client.ask(node, path)).json["connectedSynchronizers"]) == 1
    assert (await client.ask(node, END)).json["offset"] > before["offset"] + 250


@pytest.mark.parametrize("kind", ["scan", "validator"])
@pytest.mark.parametrize("fault", [Quiet(60), Disconnected()])
async def test_only_a_ledger_is_quiet_or_disconnected(network: Network, kind: str, fault: Fault) -> None:
    with pytest.raises(ValueError, match=f"Only a ledger can be {fault.kind}, and {kind}-0.9 is a {kind}."):
        await network[f"{kind}-0.9"].set_fault(fault)


@pytest.mark.parametrize("fault", [Frozen(), Late(60)])
async def test_a_validator_has_nothing_to_be_behind_with(network: Network, fault: Fault) -> None:
    sentence = f"Only a ledger or a scan can be {fault.kind}, and validator-0.9 is a validator."
    with pytest.raises(ValueError, match=sentence):
        await network["validator-0.9"].set_fault(fault)
