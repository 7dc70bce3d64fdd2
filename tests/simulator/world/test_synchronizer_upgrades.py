"""The synchronizer's serial, and the upgrade that replaces it."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import Client, StandingClock

HOUR = 3600


async def lsu(client: Client, network: Network) -> Any:
    answer = await client.ask(network["scan-0.9"], "/v0/lsu")
    assert (answer.status, list(answer.json)) == (200, ["lsu"])
    return answer.json["lsu"]


async def serial(client: Client, network: Network) -> int:
    answer = (await client.ask(network["scan-0.9"], "/v0/active-synchronizer-serial")).json
    assert isinstance(answer["serial"], int)
    return answer["serial"]


@pytest.mark.parametrize("dialect", Dialect)
async def test_each_dialect_has_its_operations(network: Network, client: Client, dialect: Dialect) -> None:
    paths = ("/v0/active-synchronizer-serial", "/v0/lsu", "/v0/events/latest-record-time", "/v0/dso-party-id")
    statuses = [(await client.ask(network[f"scan-{dialect}"], path)).status for path in paths]
    assert (
        statuses
        == {
            "document": [404, 404, 404, 404],
            "0.5.10": [404, 404, 404, 200],
            "0.5": [404, 404, 404, 200],
            "0.6": [200, 404, 404, 200],
            "0.7.5": [200, 200, 404, 200],
            "0.9": [200, 200, 200, 200],
        }[dialect]
    )


async def test_a_scan_tells_the_party_of_the_dso(network: Network, client: Client) -> None:
    answer = (await client.ask(network["scan-0.5"], "/v0/dso-party-id")).json
    assert answer == {"dso_party_id": network.world.dso_party}


async def test_a_scan_tells_the_newest_record_time_it_knows(
    network: Network, client: Client, clock: StandingClock
) -> None:
    clock.advance(HOUR)
    newest = (await client.ask(network["scan-0.9"], "/v0/events/latest-record-time")).json
    info = (await client.ask(network["scan-0.9"], "/v0/backfilling/migration-info", {"migration_id": 4})).json
    assert newest == {"record_time": info["record_time_range"][0]["max"]}
    assert newest["record_time"].startswith("2026-11-21T06:46:3")


async def test_nothing_is_announced_unless_by_hand(network: Network, client: Client) -> None:
    assert await lsu(client, network) is None
    assert await serial(client, network) == 5


async def test_an_upgrade_is_announced_until_it_happens(network: Network, client: Client, clock: StandingClock) -> None:
    network.world.announce_upgrade(clock() + 2 * HOUR, clock() + HOUR, 8)
    assert await lsu(client, network) == {
        "topologyFreezeTime": "2026-11-21T06:46:40.000000Z",
        "upgradeTime": "2026-11-21T07:46:40.000000Z",
        "successorPhysicalSynchronizerId": f"{network.world.synchronizer}::35-8",
    }
    clock.advance(2 * HOUR - 1)
    assert (await lsu(client, network), await serial(client, network)) != (None, 8)
    clock.advance(1)
    assert (await lsu(client, network), await serial(client, network)) == (None, 8)
    network.world.withdraw_upgrade()
    assert await serial(client, network) == 8


async def test_another_may_take_its_place_and_be_withdrawn(
    network: Network, client: Client, clock: StandingClock
) -> None:
    network.world.announce_upgrade(clock() + HOUR)
    network.world.announce_upgrade(clock() + 3 * HOUR)
    announced = await lsu(client, network)
    assert announced["upgradeTime"] == "2026-11-21T08:46:40.000000Z"
    assert announced["topologyFreezeTime"] == "2026-11-21T07:16:40.000000Z"
    assert announced["successorPhysicalSynchronizerId"].endswith("::35-6")
    network.world.withdraw_upgrade()
    assert await lsu(client, network) is None
    clock.advance(4 * HOUR)
    assert await serial(client, network) == 5


async def test_control_announces_and_withdraws(network: Network, client: Client) -> None:
    control = network.control_url
    body = {"upgrade_in": 2 * HOUR, "freeze_in": HOUR, "serial": 7}
    answer = await client.ask(control, "/upgrade", body, method="PUT")
    assert answer.json == {"serial": 5, "lsu": await lsu(client, network)}
    assert answer.json["lsu"]["topologyFreezeTime"] == "2026-11-21T06:46:40.000000Z"
    assert (await client.ask(control, "/upgrade")).json == answer.json
    withdrawn = await client.ask(control, "/upgrade", method="DELETE")
    assert withdrawn.json == {"serial": 5, "lsu": None} == (await client.ask(control, "/upgrade")).json
    assert (await client.ask(control, "/upgrade", {"upgrade_in": 60}, method="PUT")).json["lsu"]


UPGRADE = (
    'An upgrade is a JSON object of "upgrade_in" (seconds, up to a year), optionally "freeze_in" (seconds before that) '
    'and "serial" (an integer), and nothing else.'
)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", UPGRADE),
        ({}, UPGRADE),
        ({"upgrade_in": 0}, UPGRADE),
        ({"upgrade_in": 1e300}, UPGRADE),
        ({"upgrade_in": 60, "freeze_in": "1"}, UPGRADE),
        ({"upgrade_in": 60, "serial": 6.5}, UPGRADE),
        ({"upgrade_in": 60, "due": 6}, UPGRADE),
        ({"upgrade_in": 60, "serial": 5}, "A successor has a greater serial than 5, which is active."),
        ({"upgrade_in": 60, "freeze_in": 61}, "Topology is frozen before the upgrade, not after it."),
    ],
)
async def test_control_refuses_a_bad_upgrade_with_a_sentence(
    network: Network, client: Client, body: Any, sentence: str
) -> None:
    answer = await client.ask(network.control_url, "/upgrade", body, method="PUT")
    assert (answer.status, answer.text) == (400, sentence + "\n")
    assert await lsu(client, network) is None


def test_an_upgrade_for_the_past_is_refused(clock: StandingClock) -> None:
    with pytest.raises(ValueError, match="only for later than now"):
        Network([], clock=clock).world.announce_upgrade(clock())
