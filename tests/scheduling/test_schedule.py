"""The schedule: when the first runs start, how the next follow, and that the wall clock may be set."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

import pytest

from exporter.clock import Clock
from exporter.scheduling.schedule import Scheduler, Start, delay_of_first
from tests.conftest import FakeClock

Open = Callable[..., Scheduler]


@pytest.fixture
async def open_scheduler(clock: FakeClock) -> AsyncIterator[Open]:
    """Return a function that starts a scheduler; it is stopped in the end."""
    opened: list[Scheduler] = []

    def open_scheduler(by: Clock = clock) -> Scheduler:
        scheduler = Scheduler(by)
        scheduler.start()
        opened.append(scheduler)
        return scheduler

    yield open_scheduler
    for scheduler in opened:
        await scheduler.stop()


async def nothing() -> None:
    """Run at once."""


@pytest.mark.parametrize("name", ["health", "ledger_offsets"])
def test_first_runs_are_spread_over_an_interval_and_no_more_than_15_seconds(name: str) -> None:
    first = [delay_of_first(f"n{index}/{name}", timedelta(seconds=15)).total_seconds() for index in range(200)]
    assert min(first) >= 0
    assert max(first) < 15
    assert max(sum(second <= at < second + 1 for at in first) for second in range(15)) < 35, "not all at once"
    assert delay_of_first(f"n0/{name}", timedelta(hours=1)) == timedelta(seconds=first[0])
    assert delay_of_first(f"n0/{name}", timedelta(seconds=1)) < timedelta(seconds=1)


async def test_a_run_is_due_at_its_interval_and_never_overlaps(open_scheduler: Open) -> None:
    scheduler = open_scheduler()
    scheduler.add("a/health", timedelta(seconds=7), nothing)
    assert scheduler.intervals == {"a/health": timedelta(seconds=7)}
    [job] = scheduler._scheduler.get_jobs()
    assert job.trigger.interval == timedelta(seconds=7)
    assert (job.max_instances, job.coalesce, job.misfire_grace_time) == (1, True, None)
    first = datetime.now(UTC) + delay_of_first("a/health", timedelta(seconds=7))
    assert abs(job.next_run_time - first) < timedelta(seconds=1)


async def test_what_was_taken_off_the_schedule_is_not_there(open_scheduler: Open) -> None:
    scheduler = open_scheduler()
    for key in ("a", "b", "c"):
        scheduler.add(key, timedelta(hours=1), nothing)
    scheduler.remove("b")
    assert scheduler.intervals.keys() == {job.id for job in scheduler._scheduler.get_jobs()} == {"a", "c"}
    scheduler.clear()
    assert not scheduler.intervals
    assert not scheduler._scheduler.get_jobs()


async def test_it_reports_each_start_and_each_run_that_was_skipped(open_scheduler: Open, clock: FakeClock) -> None:
    starts: list[Start] = []
    skipped = asyncio.Queue[str]()
    may_end = asyncio.Event()

    async def wait(name: str) -> None:
        assert name == "given along"
        await may_end.wait()

    scheduler = open_scheduler()
    scheduler.on_start(starts.append)
    scheduler.on_skip(skipped.put_nowait)
    scheduler.add("a/hang", timedelta(milliseconds=50), wait, "given along")
    assert await skipped.get() == "a/hang"
    [start] = starts
    assert start.at == clock.now()
    assert start.late >= 0
    may_end.set()
    await asyncio.sleep(0)


class JumpingClock(Clock):
    """A clock whose wall time can be set, as an operator or NTP does."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


async def test_the_schedule_moves_along_when_the_wall_clock_is_set(open_scheduler: Open) -> None:
    clock = JumpingClock()
    scheduler = open_scheduler(clock)
    scheduler.add("a/beat", timedelta(hours=1), nothing)
    [before] = [job.next_run_time for job in scheduler._scheduler.get_jobs()]
    clock.ahead = 3600.0
    while (after := scheduler._scheduler.get_jobs()[0].next_run_time) == before:  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.01)
    assert timedelta(minutes=59) < after - before < timedelta(minutes=61)
