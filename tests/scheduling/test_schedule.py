"""The schedule: when the first runs start, and how the next follow."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta

import pytest

from exporter.clock import Clock
from exporter.scheduling.schedule import RunStart, Scheduler, delay_of_first
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


async def test_a_run_is_due_at_its_interval_and_never_overlaps(open_scheduler: Open, clock: FakeClock) -> None:
    scheduler = open_scheduler()
    before = datetime.now(scheduler._zone)
    scheduler.add("a/health", timedelta(seconds=7), nothing)
    assert scheduler.intervals == {"a/health": timedelta(seconds=7)}
    [job] = scheduler._scheduler.get_jobs()
    assert (job.max_instances, job.coalesce, job.misfire_grace_time) == (1, True, None)
    assert job.next_run_time == before + delay_of_first("a/health", timedelta(seconds=7))


@pytest.mark.parametrize(
    ("late", "next_after"), [(0.01, 15), (14.9, 15), (15, 30), (100, 105), (3600, 3615), (10 * 365 * 86400, None)]
)
async def test_after_a_stop_one_run_is_made_up_for_and_the_next_follows_in_step(
    open_scheduler: Open, clock: FakeClock, late: float, next_after: float | None
) -> None:
    starts: list[RunStart] = []
    scheduler = open_scheduler()
    scheduler.on_start(starts.append)
    scheduler.add("a/health", timedelta(seconds=15), nothing)
    [job] = scheduler._scheduler.get_jobs()
    due = job.next_run_time
    clock.advance((due - datetime.now(scheduler._zone)).total_seconds() + late)
    assert await scheduler.overdue() == 0
    [start] = starts
    assert start.late == pytest.approx(late, abs=1e-3)
    expected = late // 15 * 15 + 15 if next_after is None else next_after
    assert job.next_run_time - due == timedelta(seconds=expected)


async def test_a_run_that_is_due_and_does_not_start_is_overdue(
    open_scheduler: Open, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = open_scheduler()
    assert await scheduler.overdue() == 0, "nothing is there to be late"
    await asyncio.sleep(0)  # it looks once when it starts
    monkeypatch.setattr(scheduler._scheduler, "wakeup", lambda: None)
    scheduler.add("a/often", timedelta(seconds=1), nothing)
    scheduler.add("a/rarely", timedelta(hours=5), nothing)
    clock.advance(61)
    assert 60 <= await scheduler.overdue() <= 61


async def test_what_was_taken_off_the_schedule_is_not_there(open_scheduler: Open) -> None:
    scheduler = open_scheduler()
    for key in ("a", "b", "c"):
        scheduler.add(key, timedelta(hours=1), nothing)
    scheduler.remove("b")
    assert scheduler.intervals.keys() == {job.id for job in scheduler._scheduler.get_jobs()} == {"a", "c"}
    scheduler.clear()
    assert not scheduler.intervals
    assert not scheduler._scheduler.get_jobs()


async def test_it_reports_each_start_and_each_run_that_was_skipped(open_scheduler: Open) -> None:
    starts: list[RunStart] = []
    skipped = asyncio.Queue[str]()
    may_end = asyncio.Event()

    async def wait(name: str) -> None:
        assert name == "given along"
        await may_end.wait()

    scheduler = open_scheduler(Clock())
    scheduler.on_start(starts.append)
    scheduler.on_skip(skipped.put_nowait)
    scheduler.add("a/hang", timedelta(milliseconds=50), wait, "given along")
    assert await skipped.get() == "a/hang"
    [start] = starts
    assert start.at == pytest.approx(Clock().now(), abs=60)
    assert start.late >= 0
    may_end.set()
    await asyncio.sleep(0)
