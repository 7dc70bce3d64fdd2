"""When snapshots appear, and what becomes of their contracts."""

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import Client, StandingClock
from tests.simulator.scans import RELEASES, page, pages, scans


@pytest.mark.parametrize("dialect", RELEASES)
async def test_a_snapshot_is_seen_only_after_a_delay(
    network: Network, client: Client, clock: StandingClock, dialect: Dialect
) -> None:
    node, path = (
        network[f"scan-{dialect}"],
        "/v0/state/acs/snapshot-timestamp?before=2030-01-01T00:00:00Z&migration_id=4",
    )
    assert (await client.ask(node, path)).json == {"record_time": "2026-11-21T03:00:00Z"}
    clock.advance(800 + 59)  # it is 06:00:59
    assert (await client.ask(node, path)).json == {"record_time": "2026-11-21T03:00:00Z"}
    clock.advance(1)
    assert (await client.ask(node, path)).json == {"record_time": "2026-11-21T06:00:00Z"}


async def test_the_delay_is_a_third_of_the_interval_at_most(clock: StandingClock, client: Client) -> None:
    path = "/v0/state/acs/snapshot-timestamp?before=2030-01-01T00:00:00Z&migration_id=4"
    async with scans(clock, snapshot_interval=30) as network:
        clock.advance(29)  # it is 05:47:09
        assert (await client.ask(network["0.9"], path)).json == {"record_time": "2026-11-21T05:46:30Z"}
        clock.advance(1)
        assert (await client.ask(network["0.9"], path)).json == {"record_time": "2026-11-21T05:47:00Z"}


async def test_from_snapshot_to_snapshot_there_are_a_few_contracts_more(clock: StandingClock, client: Client) -> None:
    counts, ids = [], []
    async with scans(clock, contracts=1500) as network:
        for _ in range(3):
            found = await pages(client, network, "0.9", 2, record_time="2030-01-01T00:00:00Z", templates=[])
            counts.append(sum(map(len, found)))
            ids.append([one["contract_id"] for page in found for one in page])
            clock.advance(3 * 3600)
        earlier = await pages(client, network, "0.9", 2, record_time="2026-11-01T00:00:00Z")
    assert counts == [1500, 1502, 1504]
    assert ids[2][:1500] == ids[0]
    assert 1400 < sum(map(len, earlier)) < 1500


async def test_an_earlier_migration_has_the_snapshots_up_to_its_end(clock: StandingClock, client: Client) -> None:
    async with scans(clock, contracts=10) as network:
        answer = await page(client, network, "0.9", 2, migration_id=3)
        found = [one["created_at"] for one in answer["created_events"]]
    assert answer["migration_id"] == 3
    assert answer["record_time"] == "2026-07-24T03:00:00Z"
    assert 5 < len(found) < 10
    assert found[-1] < answer["record_time"]
