"""The request budget: its burst, its rate, what pages leave to others, and what passes it by."""

import asyncio
from collections.abc import Sequence

import pytest

from exporter.config import models
from exporter.node.rate_limit import RateLimit, RateLimits, Share

SLOW = 0.01
"""A rate at which nothing comes back while a test runs."""


async def times(budget: RateLimit, shares: Sequence[Share]) -> list[float]:
    """Return after how many seconds each request could go, all asked for at once."""
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def take(share: Share) -> float:
        await budget.take(share)
        return loop.time() - began

    return await asyncio.gather(*(take(share) for share in shares))


async def room(budget: RateLimit, share: Share) -> int:
    """Return how many requests may go at once."""
    count = 0
    try:
        async with asyncio.timeout(0.05):
            while count < 100:
                await budget.take(share)
                count += 1
    except TimeoutError:
        pass
    return count


def budget(rate: float = SLOW, burst: int = 10) -> RateLimit:
    return RateLimit(models.Budget(rate=rate, burst=burst))


@pytest.mark.parametrize("burst", [1, 2, 7, 50])
async def test_as_many_as_a_burst_go_at_once_and_no_more(burst: int) -> None:
    assert await room(budget(burst=burst), Share.WHOLE) == burst


@pytest.mark.parametrize(("rate", "burst"), [(50, 1), (50, 5), (200, 20)])
async def test_after_the_burst_requests_go_at_the_rate(rate: float, burst: int) -> None:
    more = int(rate / 5)
    went = sorted(await times(budget(rate, burst), [Share.WHOLE] * (burst + more)))
    assert went[burst - 1] < 0.05
    for number, seconds in enumerate(went[burst:], start=1):
        assert number / rate - 0.002 <= seconds < number / rate + 0.3


async def test_the_rate_may_be_below_one_a_second() -> None:
    slow = budget(rate=0.5, burst=1)
    await slow.take(Share.WHOLE)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await slow.take(Share.WHOLE)


async def test_requests_go_in_the_order_in_which_they_were_asked_for() -> None:
    went = await times(budget(rate=100, burst=1), [Share.WHOLE] * 10)
    assert went == sorted(went)


@pytest.mark.parametrize(("burst", "half"), [(1, 1), (2, 1), (3, 1), (10, 5), (11, 5)])
async def test_pages_take_half_of_a_burst(burst: int, half: int) -> None:
    shared = budget(burst=burst)
    assert await room(shared, Share.HALF) == half
    assert await room(shared, Share.WHOLE) == burst - half


async def test_pages_go_at_half_of_the_rate() -> None:
    went = sorted(await times(budget(rate=100, burst=2), [Share.HALF] * 21))
    assert went[0] < 0.05
    assert 20 / 50 - 0.005 <= went[-1] < 20 / 50 + 0.3


async def test_others_have_their_half_while_pages_wait() -> None:
    shared = budget(rate=40, burst=2)
    pages = asyncio.create_task(times(shared, [Share.HALF] * 100))
    await asyncio.sleep(0)
    began = asyncio.get_running_loop().time()
    for _ in range(8):
        await shared.take(Share.WHOLE)
    took = asyncio.get_running_loop().time() - began
    pages.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pages
    assert took < 8 / 20 + 0.3


async def test_pages_do_not_wait_when_others_leave_room_and_wait_when_they_do_not() -> None:
    shared = budget(burst=4)
    assert await room(shared, Share.WHOLE) == 4
    assert await room(shared, Share.HALF) == 0


async def test_what_passes_the_budget_by_never_waits() -> None:
    spent = budget(burst=1)
    await spent.take(Share.WHOLE)
    assert await room(spent, Share.NONE) == 100
    went = await times(spent, [Share.NONE] * 1000)
    assert max(went) < 0.5


async def test_what_passes_the_budget_by_takes_nothing_of_it() -> None:
    untouched = budget(burst=3)
    assert await room(untouched, Share.NONE) == 100
    assert await room(untouched, Share.WHOLE) == 3


async def test_a_wait_that_was_given_up_takes_nothing() -> None:
    shared = budget(rate=20, burst=1)
    await shared.take(Share.WHOLE)
    given_up = [asyncio.create_task(shared.take(Share.WHOLE)) for _ in range(20)]
    await asyncio.sleep(0)
    for task in given_up:
        task.cancel()
    await asyncio.wait(given_up)
    [seconds] = await times(shared, [Share.WHOLE])
    assert seconds < 0.3  # and not the whole second that the others would have taken


async def test_a_host_has_one_budget_whoever_asks() -> None:
    budgets, allowed = RateLimits(), models.Budget(rate=SLOW, burst=4)
    assert budgets.of("a", allowed) is budgets.of("a", models.Budget(rate=SLOW, burst=4))
    assert await room(budgets.of("a", allowed), Share.WHOLE) == 4
    assert await room(budgets.of("a", allowed), Share.WHOLE) == 0
    assert await room(budgets.of("b", allowed), Share.WHOLE) == 4


async def test_probes_leave_half_to_what_is_scheduled() -> None:
    shared = budget(burst=10)
    assert await room(shared, Share.WHOLE | Share.PROBE) == 5
    assert await room(shared, Share.WHOLE) == 5


async def test_health_by_probe_has_a_rate_of_its_own_and_takes_nothing_of_the_budget() -> None:
    shared = budget(burst=10)
    assert await room(shared, Share.PROBE) == 10
    assert await room(shared, Share.WHOLE) == 10
    assert await room(shared, Share.NONE) == 100, "health that is scheduled passes it by"


async def test_a_target_may_have_a_budget_of_its_own() -> None:
    budgets, allowed = RateLimits(), models.Budget(rate=SLOW, burst=4)
    assert budgets.of("a", allowed, "one") is budgets.of("a", allowed, "one")
    assert await room(budgets.of("a", allowed, "one"), Share.WHOLE) == 4
    assert await room(budgets.of("a", allowed, "other"), Share.WHOLE) == 4
    assert await room(budgets.of("a", allowed), Share.WHOLE) == 4


async def test_a_host_that_is_allowed_something_else_has_another_budget() -> None:
    budgets = RateLimits()
    assert await room(budgets.of("a", models.Budget(rate=SLOW, burst=1)), Share.WHOLE) == 1
    assert await room(budgets.of("a", models.Budget(rate=SLOW, burst=2)), Share.WHOLE) == 2
