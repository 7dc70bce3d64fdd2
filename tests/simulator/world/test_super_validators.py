"""The reward weights of super validators."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import Client, Reply, StandingClock

PATH = "/v0/admin/sv/previous-sv-reward-weight"


async def ask(client: Client, network: Network, dialect: str = "0.9", **body: Any) -> Reply:
    return await client.ask(network[f"scan-{dialect}"], PATH, body)


async def weight(client: Client, network: Network, party: str, **body: Any) -> Any:
    answer = await ask(client, network, svParty=party, **body)
    assert (answer.status, list(answer.json)) == (200, ["rewardWeight"])
    return answer.json["rewardWeight"]


@pytest.fixture
def parties(network: Network) -> list[str]:
    return list(network.world.svs)


async def test_the_super_validators_have_names(network: Network) -> None:
    assert [sv.name for sv in network.world.svs.values()] == ["sv-1", "sv-2", "sv-3"]


@pytest.mark.parametrize("dialect", Dialect)
async def test_weights_are_told_from_release_0_6_9_on(
    network: Network, client: Client, parties: list[str], dialect: Dialect
) -> None:
    answers = [await ask(client, network, dialect, svParty=party) for party in parties]
    if dialect.is_canton_3_4 or dialect is Dialect.V0_6:
        assert {answer.status for answer in answers} == {404}
    else:
        nothing: dict[str, None] = {"rewardWeight": None} if dialect.is_network else {}
        assert [answer.json for answer in answers] == [{"rewardWeight": "10000"}, {"rewardWeight": "15000"}, nothing]


async def test_a_weight_changes_ten_minutes_after_the_start(
    network: Network, client: Client, clock: StandingClock, parties: list[str]
) -> None:
    clock.advance(599.9)
    assert await weight(client, network, parties[0]) == "10000"
    clock.advance(0.1)
    assert await weight(client, network, parties[0]) == "12345"
    assert await weight(client, network, parties[1]) == "15000"


async def test_only_changes_strictly_before_a_time_count(
    network: Network, client: Client, clock: StandingClock, parties: list[str]
) -> None:
    changed = "2026-11-21T05:56:40Z"
    assert await weight(client, network, parties[0], effectiveBefore="2030-01-01T00:00:00Z") == "10000"
    clock.advance(3600)
    assert await weight(client, network, parties[0], effectiveBefore=changed) == "10000"
    assert await weight(client, network, parties[0], effectiveBefore="2026-11-21T05:56:40.000001Z") == "12345"
    assert await weight(client, network, parties[1], effectiveBefore="2026-10-01T00:00:00Z") == "20000"
    assert await weight(client, network, parties[0], effectiveBefore="2020-01-01T00:00:00Z") is None
    assert await weight(client, network, parties[0], effectiveBefore=None) == "12345"


async def test_of_who_is_no_super_validator_there_is_no_weight(network: Network, client: Client) -> None:
    assert await weight(client, network, "stranger::1220ab") is None


@pytest.mark.parametrize("dialect", ["document", "0.9"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"svParty": None},
        {"svParty": 1},
        {"svParty": "sv-1"},
        {"svParty": "::1220ab"},
        {"svParty": "sv-1::1220ab", "effectiveBefore": "yesterday"},
        {"svParty": "sv-1::1220ab", "effectiveBefore": 5},
    ],
)
async def test_a_bad_request_is_refused(network: Network, client: Client, dialect: str, body: dict[str, Any]) -> None:
    answer = await ask(client, network, dialect, **body)
    assert (answer.status, list(answer.json)) == (400, ["error"])
