"""A network at a fast pace, as where a day of incidents is to pass in minutes."""

from itertools import pairwise
from typing import Any

import pytest

from exporter.simulator import Kind, Network, NodeSpec
from tests.simulator.conftest import Client, StandingClock, ledger

REQUESTS: list[tuple[str, str, Any]] = [
    ("scan", "/v0/amulet-rules", {}),
    ("scan", "/v0/state/acs/snapshot-timestamp?before=2030-01-01T00:00:00Z&migration_id=4", None),
    (
        "scan",
        "/v0/open-and-issuing-mining-rounds",
        {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []},
    ),
    ("ledger-0.7.5", "/v2/version", None),
]

PACES: list[dict[str, float]] = [
    {
        "checkpoint_interval": 1,
        "round_interval": 40,
        "snapshot_interval": 720,
        "rules_interval": 120,
        "transfer_interval": 5,
    },
    {
        "checkpoint_interval": 0.5,
        "round_interval": 0.7,
        "snapshot_interval": 2.4,
        "rules_interval": 1.3,
        "transfer_interval": 0.9,
    },
]


@pytest.mark.parametrize("pace", PACES)
async def test_all_of_it_moves_at_its_pace(clock: StandingClock, client: Client, pace: dict[str, Any]) -> None:
    specs = [NodeSpec("scan", Kind.SCAN), NodeSpec("ledger-0.7.5", Kind.LEDGER)]
    async with Network(specs, clock=clock, **pace) as network:
        world, seen = network.world, []
        sender = next(iter(world.senders.values()))
        for _ in range(3):
            replies = [await client.ask(network[name], path, body) for name, path, body in REQUESTS]
            assert {reply.status for reply in replies} == {200}
            rules, snapshot, rounds, _ = (reply.json for reply in replies)
            status = f"/v0/transfer-command/status?sender={sender.party}&nonce={sender.next_nonce - 1}"
            assert (await client.ask(network["scan"], status)).status == 200
            seen.append([rules, snapshot, rounds, world.rounds.newest, sender.next_nonce])
            clock.advance(pace["snapshot_interval"])
    for earlier, later in pairwise(seen):
        assert all(then != now for then, now in zip(earlier, later, strict=True))


@pytest.mark.parametrize("interval", [1, 0.5])
async def test_a_checkpoint_comes_with_each_tick_and_an_end_about_twice_a_second(
    clock: StandingClock, interval: float
) -> None:
    network = Network([NodeSpec("ledger-0.7.5", Kind.LEDGER)], clock=clock, checkpoint_interval=interval)
    participant = ledger(network).participant
    ends, checkpoints = set(), set()
    for _ in range(600):
        ends.add(participant.end())
        checkpoint = participant.checkpoint()
        assert checkpoint is not None
        assert clock() - checkpoint.record_time < interval + 1.5
        checkpoints.add(checkpoint)
        clock.advance(0.1)
    assert len(ends) > 100
    assert len(checkpoints) > 0.7 * 60 / interval
