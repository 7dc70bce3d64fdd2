"""When snapshots appear, and what becomes of their contracts."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Network
from exporter.simulator.control.network import STOP
from tests.simulator.conftest import Client, StandingClock
from tests.simulator.scans import RELEASES, page, pages, scans

NEWEST = "/v0/state/acs/snapshot-timestamp?before=2030-01-01T00:00:00Z&migration_id=4"


async def newest(client: Client, network: Network, name: str = "0.9") -> str:
    answer = await client.ask(network[name], NEWEST)
    assert (answer.status, list(answer.json)) == (200, ["record_time"])
    return str(answer.json["record_time"])


@pytest.mark.parametrize("dialect", RELEASES)
async def test_a_snapshot_is_seen_only_after_a_delay(
    network: Network, client: Client, clock: StandingClock, dialect: Dialect
) -> None:
    name = f"scan-{dialect}"
    assert await newest(client, network, name) == "2026-11-21T03:00:00Z"
    clock.advance(800 + 59)  # it is 06:00:59
    assert await newest(client, network, name) == "2026-11-21T03:00:00Z"
    clock.advance(1)
    assert await newest(client, network, name) == "2026-11-21T06:00:00Z"


async def test_the_delay_is_a_third_of_the_interval_at_most(clock: StandingClock, client: Client) -> None:
    async with scans(clock, snapshot_interval=30) as network:
        clock.advance(29)  # it is 05:47:09
        assert await newest(client, network) == "2026-11-21T05:46:30Z"
        clock.advance(1)
        assert await newest(client, network) == "2026-11-21T05:47:00Z"


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


async def test_intervals_may_be_of_fractions_of_a_second(clock: StandingClock, client: Client) -> None:
    counts, times = [], []
    async with scans(clock, contracts=1500, snapshot_interval=7.3) as network:
        for _ in range(40):
            times.append(await newest(client, network))
            found = await pages(client, network, "0.9", 2, record_time=times[-1], record_time_match="exact")
            counts.append(sum(map(len, found)))
            clock.advance(7.3)
    assert counts == list(range(1500, 1580, 2))
    assert len(set(times)) == 40


async def test_snapshots_that_have_stopped_stay_as_they_are_until_they_go_on(
    clock: StandingClock, client: Client
) -> None:
    async with scans(clock) as network:
        clock.advance(800 + 30)  # it is 06:00:30, and there is a snapshot that nobody sees yet
        network.world.stop_snapshots()
        clock.advance(24 * 3600)
        network.world.stop_snapshots()
        assert {await newest(client, network, release) for release in RELEASES} == {"2026-11-21T03:00:00Z"}
        assert (await page(client, network, "0.9", 2, record_time="2030-01-01T00:00:00Z"))["record_time"] == (
            "2026-11-21T03:00:00Z"
        )
        network.world.resume_snapshots()
        assert await newest(client, network) == "2026-11-22T03:00:00Z"
        clock.advance(3 * 3600)
        assert await newest(client, network) == "2026-11-22T06:00:00Z"


async def test_snapshots_may_have_stopped_a_while_ago(clock: StandingClock, client: Client) -> None:
    async with scans(clock) as network:
        network.world.stop_snapshots(8 * 3600)
        assert await newest(client, network) == "2026-11-20T21:00:00Z"
        clock.advance(24 * 3600)
        assert await newest(client, network) == "2026-11-20T21:00:00Z"
        with pytest.raises(ValueError, match="not later"):
            network.world.stop_snapshots(-1)


async def test_control_stops_snapshots_and_lets_them_go_on(network: Network, client: Client) -> None:
    control, path = network.control_url, "/snapshots/stopped"
    stopped = (await client.ask(control, path, method="PUT")).json
    assert stopped == {"stopped": True, "newest": "2026-11-21T03:00:00Z"}
    ago = (await client.ask(control, path, {"for": 8 * 3600}, method="PUT")).json
    assert ago == {"stopped": True, "newest": "2026-11-20T21:00:00Z"}
    assert (await client.ask(control, path)).json == ago
    assert await newest(client, network, "scan-0.9") == "2026-11-20T21:00:00Z"
    going = (await client.ask(control, path, method="DELETE")).json
    assert going == {"stopped": False, "newest": "2026-11-21T03:00:00Z"}


@pytest.mark.parametrize("body", [b"{", [], {"for": -1}, {"for": "1h"}, {"for": True}, {"for": 1e300}, {"since": 5}])
async def test_control_refuses_to_stop_snapshots_at_no_time(network: Network, client: Client, body: Any) -> None:
    answer = await client.ask(network.control_url, "/snapshots/stopped", body, method="PUT")
    assert (answer.status, answer.text) == (400, STOP + "\n")
    assert await newest(client, network, "scan-0.9") == "2026-11-21T03:00:00Z"
