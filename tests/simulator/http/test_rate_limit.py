"""A scan that refuses whoever asks too much."""

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.http.rate_limit import RateLimit
from tests.simulator.conftest import Client, StandingClock

PATHS = ["/livez", "/readyz", "/version", "/v0/feature-support", "/nothing"]


def limited(clock: StandingClock, most_per_second: float | None) -> Network:
    return Network([NodeSpec("scan", Kind.SCAN, Dialect.V0_7_5, most_per_second=most_per_second)], clock=clock)


async def statuses(client: Client, network: Network, count: int, path: str = "/livez") -> list[int]:
    return [(await client.ask(network["scan"], path)).status for _ in range(count)]


@pytest.mark.parametrize("path", PATHS)
async def test_beyond_the_limit_every_path_is_a_429_in_plain_text(
    clock: StandingClock, client: Client, path: str
) -> None:
    async with limited(clock, 3) as network:
        assert 429 not in await statuses(client, network, 3, path)
        answer = await client.ask(network["scan"], path)
    assert (answer.status, answer.media) == (429, "text/plain")
    assert answer.text.startswith("Too Many Requests: ")


async def test_with_time_a_client_may_ask_again_but_never_more_than_a_seconds_worth_at_once(
    clock: StandingClock, client: Client
) -> None:
    async with limited(clock, 4) as network:
        assert await statuses(client, network, 6) == [200] * 4 + [429] * 2
        clock.advance(0.5)
        assert await statuses(client, network, 3) == [200, 200, 429]
        clock.advance(3600)
        assert await statuses(client, network, 5) == [200] * 4 + [429]


async def test_less_than_one_a_second_is_a_limit_too(clock: StandingClock, client: Client) -> None:
    async with limited(clock, 0.5) as network:
        assert await statuses(client, network, 2) == [200, 429]
        clock.advance(2)
        assert await statuses(client, network, 2) == [200, 429]


def test_another_client_is_not_concerned(clock: StandingClock) -> None:
    limit = RateLimit(clock, 1)
    assert [limit.allows(address) for address in ("10.0.0.1", "10.0.0.1", "10.0.0.2")] == [True, False, True]


async def test_unless_told_there_is_no_limit(clock: StandingClock, client: Client) -> None:
    async with limited(clock, None) as network:
        assert set(await statuses(client, network, 50)) == {200}


def test_a_limit_that_lets_nobody_in_is_refused(clock: StandingClock) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        limited(clock, 0)
