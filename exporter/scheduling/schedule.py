"""When each watch runs: first runs spread out, then one every interval, never two of a watch at once.

The only door to APScheduler, whose jobs are due by the wall clock.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_SUBMITTED, JobSubmissionEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from exporter.clock import Clock

log = logging.getLogger(__name__)

SPREAD = timedelta(seconds=15)
"""Within how long the first runs of all watches start."""

logging.getLogger("apscheduler").setLevel(logging.ERROR)  # skipped runs are counted by us


class Start(NamedTuple):
    """When a run started (Unix seconds), and how many seconds after it was due."""

    at: float
    late: float


class Scheduler:
    """What runs every interval, by key, once it was started."""

    def __init__(self, clock: Clock) -> None:
        self.intervals: dict[str, timedelta] = {}
        """How often each runs, by key."""
        self._clock = clock
        self._clock_watch: asyncio.TimerHandle | None = None
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )

    def on_start(self, listener: Callable[[Start], None]) -> None:
        """Call `listener` with each start of a run."""

        def started(event: JobSubmissionEvent) -> None:
            due = event.scheduled_run_times[0]  # the only one: of several that were missed, the last
            listener(Start(self._clock.now(), max(0.0, (datetime.now(UTC) - due).total_seconds())))

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
            IntervalTrigger(seconds=interval.total_seconds(), timezone=UTC),
            args=args,
            id=key,
            next_run_time=datetime.now(UTC) + delay_of_first(key, interval),
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
        self._watch_clock(self._wall_less_monotonic())

    async def stop(self) -> None:
        """Stop, whether it was started or not. The runs under way have to be ended before."""
        self.clear()
        if self._clock_watch:
            self._clock_watch.cancel()
        await asyncio.sleep(0)  # let the jobs that waited for those runs end
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def _wall_less_monotonic(self) -> float:
        return self._clock.now() - self._clock.monotonic()

    def _watch_clock(self, before: float) -> None:
        """Move the schedule along when the wall clock jumps: set back an hour, nothing would run for an hour."""
        now = self._wall_less_monotonic()
        if abs(now - before) > 1:
            log.warning("the clock jumped", extra={"seconds": round(now - before, 3)})
            self._scheduler.pause()
            for job in self._scheduler.get_jobs():
                job.modify(next_run_time=job.next_run_time + timedelta(seconds=now - before))
            self._scheduler.resume()
            before = now
        self._clock_watch = asyncio.get_running_loop().call_later(1, self._watch_clock, before)


def delay_of_first(key: str, interval: timedelta) -> timedelta:
    """Return how long to wait for the first run: a fixed share of the round, as thousands at once would all be late."""
    share = int.from_bytes(sha256(key.encode()).digest()[:4]) / 2**32
    return share * min(interval, SPREAD)
