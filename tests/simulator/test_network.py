"""Starting and stopping nodes, and all of them together."""

import asyncio
import socket
from time import monotonic

import aiohttp
import pytest

from exporter.simulator import Delay, Dialect, Down, Kind, Network, NodeSpec
from tests.simulator.conftest import Client, StandingClock

SCAN = NodeSpec("scan", Kind.SCAN)
LEDGER = NodeSpec("ledger", Kind.LEDGER, Dialect.V0_7_5)


async def test_nodes_are_served_on_loopback_below_their_base(network: Network) -> None:
    assert network["ledger-0.9"].url.startswith("http://127.0.0.1:")
    assert network["ledger-0.9"].url.count("/") == 2
    assert network["scan-0.9"].url.endswith("/api/scan")
    assert network["validator-0.9"].url.endswith("/api/validator")
    assert network.control_url.startswith("http://127.0.0.1:")


async def test_a_node_stopped_alone_starts_again_on_its_port(network: Network, client: Client) -> None:
    node = network["ledger-0.9"]
    url = node.url
    await node.stop()
    await node.stop()
    with pytest.raises(aiohttp.ClientConnectorError):
        await client.ask(node, "/livez")
    await node.start()
    assert node.url == url
    assert (await client.ask(node, "/livez")).status == 200


async def test_starting_a_node_ends_its_fault_of_being_down(network: Network, client: Client) -> None:
    node = network["ledger-0.9"]
    await node.set_fault(Down())
    await node.start()
    assert node.fault is None
    assert (await client.ask(node, "/livez")).status == 200


async def test_a_network_is_started_and_stopped_without_a_context_too(clock: StandingClock, client: Client) -> None:
    network = Network([SCAN], clock=clock)
    with pytest.raises(RuntimeError, match="not known before the first start"):
        _ = network["scan"].url
    for _ in range(2):
        await network.start()
        assert (await client.ask(network["scan"], "/livez")).status == 200
        await network.stop()
    with pytest.raises(aiohttp.ClientConnectorError):
        await client.ask(network.control_url, "/")


async def test_a_port_that_is_taken_is_an_error_and_leaves_nothing_open(clock: StandingClock, client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        spec = NodeSpec("ledger", Kind.LEDGER, port=taken.getsockname()[1])
        network = Network([SCAN, spec], clock=clock)
        with pytest.raises(OSError, match="address already in use"):
            await network.start()
    assert not network["scan"].is_listening


def test_names_are_unique(clock: StandingClock) -> None:
    with pytest.raises(ValueError, match="Two nodes have the same name"):
        Network([SCAN, SCAN], clock=clock)


async def test_waiting_requests_do_not_hold_up_the_end(clock: StandingClock, client: Client) -> None:
    async with Network([SCAN, LEDGER], clock=clock) as network:
        await network["scan"].set_fault(Delay(3600))
        body = {"beginExclusive": 184_000 - 2, "updateFormat": {}}
        calls = [
            asyncio.create_task(client.ask(network["scan"], "/livez")),
            asyncio.create_task(client.updates(network["ledger"], body, idle=15_000)),
        ]
        await asyncio.sleep(0.1)
        began = monotonic()
    assert monotonic() - began < 1
    assert all(isinstance(end, aiohttp.ClientError) for end in await asyncio.gather(*calls, return_exceptions=True))


async def test_the_same_seed_and_clock_make_the_same_network(clock: StandingClock, client: Client) -> None:
    seen = []
    for seed in (1, 1, 2):
        async with Network([NodeSpec("ledger", Kind.LEDGER)], clock=clock, seed=seed) as network:
            seen.append((await client.ask(network["ledger"], "/v2/state/ledger-end")).json)
    assert seen[0] == seen[1] != seen[2]
