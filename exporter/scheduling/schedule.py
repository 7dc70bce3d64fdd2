"""When each watch runs: first runs spread out, then one every interval, never two of a watch at once.

The only door to APScheduler. Its jobs are due by the monotonic clock: whatever the wall clock does, they run evenly.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta, tzinfo
from hashlib import sha256
from typing import NamedTuple

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_SUBMITTED, JobSubmissionEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger

from exporter.clock import Clock

SPREAD = timedelta(seconds=15)
"""Within how long the first runs of all watches start."""
ZERO = timedelta(0)

logging.getLogger("apscheduler").setLevel(logging.ERROR)  # skipped runs are counted by us


class RunStart(NamedTuple):
    """When a run started (Unix seconds), and how many seconds after it was due."""

    at: float
    late: float


class MonotonicZone(tzinfo):
    """A time zone in which it is always as late as the monotonic clock says.

    APScheduler asks for the time by `datetime.now(zone)` alone, and that asks the zone.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def fromutc(self, dt: datetime) -> datetime:
        return datetime(2000, 1, 1, tzinfo=self) + timedelta(seconds=self._clock.monotonic())

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return ZERO

    def dst(self, dt: datetime | None) -> timedelta:
        return ZERO

    def tzname(self, dt: datetime | None) -> str:
        return "monotonic"


class Every(BaseTrigger):  # type: ignore[misc] # APScheduler has no types
    """Is due every interval; however many were missed, one is made up for. (APScheduler's own lists them all.)"""

    def __init__(self, interval: timedelta) -> None:
        self.interval = interval

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        if previous_fire_time is None:
            return now + self.interval
        missed = max(0, (now - previous_fire_time) // self.interval)
        return previous_fire_time + self.interval * (missed + 1)


class Scheduler:
    """What runs every interval, by key, once it was started."""

    def __init__(self, clock: Clock) -> None:
        self.intervals: dict[str, timedelta] = {}
        """How often each runs, by key."""
        self._clock = clock
        self._zone = MonotonicZone(clock)
        self._scheduler = AsyncIOScheduler(
            timezone=self._zone, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )

    def on_start(self, listener: Callable[[RunStart], None]) -> None:
        """Call `listener` with each start of a run."""

        def started(event: JobSubmissionEvent) -> None:
            listener(RunStart(self._clock.now(), self._late(event.scheduled_run_times[0])))

        self._scheduler.add_listener(started, EVENT_JOB_SUBMITTED)

    def on_skip(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the key of each run that does not start, since the one before has not ended."""

        def skipped(event: JobSubmissionEvent) -> None:
            listener(event.job_id)

        self._scheduler.add_listener(skipped, EVENT_JOB_MAX_INSTANCES)

    def add(
        self, key: str, interval: timedelta, run: Callable[..., Coroutine[None, None, None]], *args: object
    ) -> None:
        """Await `run(*args)` every interval, the first time after this key's share of the first round."""
        self._scheduler.add_job(
            run,
            Every(interval),
            args=args,
            id=key,
            next_run_time=datetime.now(self._zone) + delay_of_first(key, interval),
        )
        self.intervals[key] = interval

    def remove(self, key: str) -> None:
        """Start no more runs of this key; one that is under way goes on."""
        self._scheduler.remove_job(key)
        del self.intervals[key]

    def clear(self) -> None:
        """Start no more runs at all."""
        self._scheduler.remove_all_jobs()
        self.intervals.clear()

    def start(self) -> None:
        self._scheduler.start()

    async def overdue(self) -> float:
        """Return by how many seconds the earliest run that is due has not been started; 0 if all are in time.

        What was due while the process was stopped is started first.
        """
        if self._late_now():
            self._scheduler.wakeup()
            await asyncio.sleep(0)  # it is called soon, not at once
        return self._late_now()

    def _late_now(self) -> float:
        jobs = self._scheduler.get_jobs()
        return self._late(jobs[0].next_run_time) if jobs else 0.0  # they are in the order of their times

    def _late(self, due: datetime) -> float:
        return max(0.0, (datetime.now(self._zone) - due).total_seconds())

    async def stop(self) -> None:
        """Stop, whether it was started or not. The runs under way have to be ended before."""
        self.clear()
        await asyncio.sleep(0)  # let the jobs that waited for those runs end
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)


def delay_of_first(key: str, interval: timedelta) -> timedelta:
    """Return how long to wait for the first run: a fixed share of the round, as thousands at once would all be late."""
    share = int.from_bytes(sha256(key.encode()).digest()[:4]) / 2**32
    return share * min(interval, SPREAD)
