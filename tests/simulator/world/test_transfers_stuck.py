"""Transfer commands that pile up."""

from typing import Any

import pytest

from exporter.simulator import Network
from exporter.simulator.world.transfers import Sender
from tests.simulator.conftest import Client, StandingClock
from tests.simulator.world.transfers import LIFE, at_a_creation, counted, states, status


@pytest.fixture
def alice(network: Network) -> Sender:
    return network.world.sender("alice")


async def test_the_commands_of_a_stuck_sender_pile_up_until_it_is_helped(
    network: Network, client: Client, clock: StandingClock, alice: Sender
) -> None:
    nonce = at_a_creation(clock, alice)
    bob = network.world.sender("bob")
    bobs = bob.next_nonce
    network.world.stick("alice")
    clock.advance(600)
    assert await counted(client, network, alice) == nonce
    for piled in range(nonce, nonce + 11):
        assert set(await states(client, network, alice, piled)) == {"created"}
    assert await states(client, network, alice, nonce + 11) == []
    assert await counted(client, network, bob) >= bobs + 9
    network.world.unstick(alice.party)
    assert await counted(client, network, alice) == nonce
    clock.advance(30)
    assert await counted(client, network, alice) == nonce + 11
    assert "created" not in await states(client, network, alice, nonce)


async def test_a_sender_may_be_stuck_again_and_again(
    network: Network, client: Client, clock: StandingClock, alice: Sender
) -> None:
    nonce = at_a_creation(clock, alice)
    for seconds in (120, 1, 1, 300):  # helped for a moment only, which is too short for anything to end
        alice.stick()
        alice.stick()
        clock.advance(seconds)
        assert await counted(client, network, alice) == nonce
        alice.unstick()
        alice.unstick()
        clock.advance(1)
    clock.advance(30)
    assert await counted(client, network, alice) == nonce + 8


async def test_being_stuck_changes_nothing_of_what_has_ended_before(
    network: Network, client: Client, clock: StandingClock, alice: Sender
) -> None:
    nonce = at_a_creation(clock, alice)
    before = await states(client, network, alice, nonce - 1)
    created_at = (await status(client, network, alice.party, nonce)).json
    alice.stick()
    clock.advance(LIFE)
    assert await states(client, network, alice, nonce - 1) == before
    assert (await status(client, network, alice.party, nonce)).json == created_at


async def test_control_lists_senders_and_lets_them_be_stuck(
    network: Network, client: Client, clock: StandingClock, alice: Sender
) -> None:
    listed = (await client.ask(network.control_url, "/transfers")).json["senders"]
    assert [one["party"] for one in listed] == list(network.world.senders)
    assert listed[0] == {"party": alice.party, "next_nonce": alice.next_nonce, "stuck": False}
    for name in ("alice", alice.party):
        assert (await client.ask(network.control_url, f"/transfers/{name}/stuck", method="PUT")).json["stuck"]
        assert alice.is_stuck
        answer: Any = await client.ask(network.control_url, f"/transfers/{name}/stuck", method="DELETE")
        assert not answer.json["stuck"]
        assert not alice.is_stuck


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_control_knows_no_other_senders(network: Network, client: Client, method: str) -> None:
    answer = await client.ask(network.control_url, "/transfers/carol/stuck", method=method)
    assert answer.status == 404
    assert answer.text.startswith("There is no sender 'carol', only alice::1220")
