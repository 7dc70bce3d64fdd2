"""A network that halts while its nodes go on to answer."""

from typing import Any

from exporter.simulator import Kind, Network, NodeSpec, Quiet
from tests.simulator.conftest import Client, StandingClock, ledger

HOUR = 3600
SNAPSHOT = "/v0/state/acs/snapshot-timestamp?before=2030-01-01T00:00:00Z&migration_id=4"
ROUNDS: dict[str, Any] = {
    "cached_open_mining_round_contract_ids": [],
    "cached_issuing_round_contract_ids": [],
}
REQUESTS: list[tuple[str, str, Any]] = [
    ("ledger-0.9", "/v2/state/ledger-end", None),
    ("ledger-0.9", "/v2/state/latest-pruned-offsets", None),
    ("ledger-0.6", "/v2/state/ledger-end", None),
    ("scan-0.9", "/v0/events/latest-record-time", None),
    ("scan-0.9", "/v0/backfilling/migration-info", {"migration_id": 4}),
    ("scan-0.9", SNAPSHOT, None),
    ("scan-0.9", "/v0/amulet-rules", {}),
    ("scan-0.9", "/v0/open-and-issuing-mining-rounds", ROUNDS),
    ("validator-0.9", "/v0/scan-proxy/amulet-rules", None),
    ("validator-0.9", "/v0/scan-proxy/open-and-issuing-mining-rounds", None),
]


async def told(client: Client, network: Network) -> list[Any]:
    replies = [await client.ask(network[name], path, body) for name, path, body in REQUESTS]
    assert {reply.status for reply in replies} == {200}
    return [reply.json for reply in replies]


async def test_what_moves_with_the_network_stands_still_until_it_resumes(
    network: Network, client: Client, clock: StandingClock
) -> None:
    before = await told(client, network)
    network.world.halt()
    clock.advance(2 * HOUR)
    network.world.halt()
    clock.advance(2 * HOUR)
    assert await told(client, network) == before
    network.world.resume()
    after = await told(client, network)
    assert all(then != now for then, now in zip(before, after, strict=True))
    assert ledger(network).participant.end().offset > 184_000 + 4 * HOUR * 4


async def test_nodes_of_a_halted_network_are_alive_and_ready_and_their_own_clocks_go(
    network: Network, client: Client, clock: StandingClock
) -> None:
    network.world.halt()
    clock.advance(HOUR)
    for kind in Kind:
        for path in ("/livez", "/readyz"):
            assert (await client.ask(network[f"{kind}-0.9"], path)).status == 200
    assert (await client.ask(network["scan-0.9"], "/status")).json["success"]["uptime"] == "PT3600S"


async def test_a_limit_of_requests_fills_up_on_a_halted_network(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("scan", Kind.SCAN, most_per_second=1)], clock=clock) as network:
        network.world.halt()
        assert [(await client.ask(network["scan"], "/livez")).status for _ in range(2)] == [200, 429]
        clock.advance(1)
        assert (await client.ask(network["scan"], "/livez")).status == 200


async def test_a_quiet_ledger_hears_nothing_of_a_halted_network(network: Network, clock: StandingClock) -> None:
    node = ledger(network)
    await node.set_fault(Quiet(60))
    clock.advance(60)
    network.world.halt()
    end = node.participant.end()
    clock.advance(600)
    assert node.participant.end() == end


async def test_a_ledger_restarted_on_a_halted_network_has_no_checkpoint(network: Network, clock: StandingClock) -> None:
    node = ledger(network)
    network.world.halt()
    await node.restart()
    clock.advance(HOUR)
    assert node.participant.checkpoint() is None
    network.world.resume()
    assert node.participant.checkpoint() is not None


async def test_control_halts_and_resumes(network: Network, client: Client, clock: StandingClock) -> None:
    control, path = network.control_url, "/network/halted"
    halted = {"halted": True, "network_time": "2026-11-21T05:46:40.000000Z"}
    assert (await client.ask(control, path, method="PUT")).json == halted
    clock.advance(60)
    assert (await client.ask(control, path)).json == halted
    assert network.world.is_halted
    resumed = {"halted": False, "network_time": "2026-11-21T05:47:40.000000Z"}
    assert (await client.ask(control, path, method="DELETE")).json == resumed
    assert (await client.ask(control, path, method="DELETE")).json == resumed
