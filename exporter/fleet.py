"""Every watch, when it runs and what it said: targets times collectors, and the only door to APScheduler."""

import asyncio
import logging
import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, JobSubmissionEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger
from yarl import URL

from exporter import own
from exporter.auth import make_auth
from exporter.budget import Budgets
from exporter.clock import Clock
from exporter.collector import Collector
from exporter.collectors.health import UP, health
from exporter.configuration import Settings
from exporter.exposition import Lines
from exporter.runner import Outcome, Run, Watch, run
from exporter.settings import Budget, Target
from exporter.standing import Standing
from exporter.tally import Tally
from exporter.transport import Transport

log = logging.getLogger(__name__)

SPREAD = timedelta(seconds=15)
"""Within how long the first runs of all watches start."""

logging.getLogger("apscheduler").setLevel(logging.ERROR)  # skipped runs are counted by us


class Block(NamedTuple):
    """What a page is joined from: the lines of one target, or of one of its collectors."""

    target: str
    collector: str | None
    lines: Lines


class Connection:
    """A target in use: its session, its token, its counters, and how its watches stand."""

    def __init__(self, name: str, target: Target, budgets: Budgets, budget: Budget, clock: Clock) -> None:
        self.target = target
        self.tally = Tally([own.THROTTLED, own.BUDGET_WAIT])
        self.standings: dict[str, Standing] = {}
        """By collector."""
        self.auth = make_auth(target.auth)
        self.transport = Transport(target, budgets.of(URL(target.url).host or "", budget), self.tally, clock)
        self._common = target.series_labels(name)

    def is_up(self) -> bool | None:
        """Tell whether the node is up, None if that is not known."""
        standing = self.standings.get(health.name)
        reading = standing.reading(UP) if standing else None
        return None if reading is None else reading == 1

    def lines(self) -> Lines:
        """Return what is known of the target itself."""
        samples = [own.TARGET_INFO.sample(1, kind=self.target.kind, url=self.target.public_url), *self.tally.samples()]
        token = self.auth.at_hand()
        if token is not None and token.issued is not None:
            samples.append(own.TOKEN_ISSUED.sample(token.issued, renewed_by=self.auth.renewed_by))
        if token is not None and token.expiry is not None:
            samples.append(own.TOKEN_EXPIRY.sample(token.expiry, renewed_by=self.auth.renewed_by))
        return Lines(samples, self._common)


class Fleet:
    """All watches, by target and collector."""

    def __init__(self, collectors: Mapping[str, Collector[Any]], budgets: Budgets, clock: Clock) -> None:
        self._collectors = collectors
        self._budgets = budgets
        self._clock = clock
        self.connections: dict[str, Connection] = {}
        """By target."""
        self._running: dict[str, asyncio.Task[None]] = {}
        self._changes = 0
        self._unanswered: set[str] = set()
        self._stopping = False
        self.first_round = asyncio.Event()
        """Set when every watch has run once."""
        self.scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )
        self.scheduler.add_listener(self._skipped, EVENT_JOB_MAX_INSTANCES)
        self._clock_watch: asyncio.TimerHandle | None = None

    def start(self, settings: Settings) -> None:
        """Open every target and schedule every watch."""
        for name, configured in settings.targets.items():
            connection = Connection(name, configured.target, self._budgets, settings.budget, self._clock)
            self.connections[name] = connection
            for collector, schedule in configured.schedules.items():
                watch = Watch(name, configured.target, self._collectors[collector], schedule)
                connection.standings[collector] = Standing(watch, self._clock, settings.party_labels, settings.aliases)
                self._schedule(connection, watch)
                self._unanswered.add(watch.key)
        if not self._unanswered:
            self.first_round.set()
        self.scheduler.start()
        self._watch_clock(self._wall_less_monotonic())

    def _schedule(self, connection: Connection, watch: Watch) -> None:
        interval = watch.schedule.interval
        # A fixed share of the round for each watch: thousands that start together would all be late together.
        share = int.from_bytes(sha256(watch.key.encode()).digest()[:4]) / 2**32
        self.scheduler.add_job(
            self._due,
            IntervalTrigger(seconds=interval.total_seconds(), timezone=UTC),
            args=[connection, watch],
            id=watch.key,
            next_run_time=datetime.now(UTC) + share * min(interval, SPREAD),
        )

    def _wall_less_monotonic(self) -> float:
        return self._clock.now() - self._clock.monotonic()

    def _watch_clock(self, before: float) -> None:
        """Move the schedule along when the wall clock jumps: set back an hour, nothing would run for an hour."""
        now = self._wall_less_monotonic()
        if abs(now - before) > 1:
            log.warning("the clock jumped", extra={"seconds": round(now - before, 3)})
            self.scheduler.pause()
            for job in self.scheduler.get_jobs():
                job.modify(next_run_time=job.next_run_time + timedelta(seconds=now - before))
            self.scheduler.resume()
            before = now
        self._clock_watch = asyncio.get_running_loop().call_later(1, self._watch_clock, before)

    async def _due(self, connection: Connection, watch: Watch) -> None:
        if self._stopping:
            return
        task = self._running[watch.key] = asyncio.create_task(self._run(connection, watch), name=watch.key)
        await asyncio.wait({task})  # and no more: a run that was cancelled is no error of the scheduler's job
        del self._running[watch.key]
        if not task.cancelled() and (bug := task.exception()) is not None:
            told = connection.transport.redact("".join(traceback.format_exception(bug)))
            log.error("a bug of the exporter, please report it", extra={"watch": watch.key, "traceback": told})

    async def _run(self, connection: Connection, watch: Watch) -> None:
        standing = connection.standings[watch.collector.name]
        before = standing.last
        result = await run(
            watch,
            connection.transport,
            connection.auth,
            self._clock,
            standing.previous,
            is_down=lambda: connection.is_up() is False,
        )
        standing.take(result)
        self._changes += 1
        self._unanswered.discard(watch.key)
        if not self._unanswered:
            self.first_round.set()
        if before is None or (before.outcome, before.reason) != (result.outcome, result.reason):
            tell(watch, result)

    def _skipped(self, event: JobSubmissionEvent) -> None:
        target, _, collector = event.job_id.rpartition("/")
        self.connections[target].standings[collector].skip()
        self._changes += 1

    def standings(self) -> Iterator[Standing]:
        """Return how every watch stands, target by target."""
        return (standing for each in self.connections.values() for standing in each.standings.values())

    def change(self) -> object:
        """Return something that is another one whenever a page would be."""
        shown = sum(standing.is_shown for standing in self.standings())
        return self._changes, shown, sum(each.tally.writes for each in self.connections.values())

    def blocks(self) -> Iterator[Block]:
        """Return what a page is made of, target by target."""
        for name, connection in self.connections.items():
            yield Block(name, None, connection.lines())
            for collector, standing in connection.standings.items():
                for lines in standing.lines:
                    yield Block(name, collector, lines)

    async def stop(self) -> None:
        """Stop all runs and close all connections, however far it was started."""
        self._stopping = True  # a job may be on its way already
        if self._clock_watch:
            self._clock_watch.cancel()
        self.scheduler.remove_all_jobs()
        for task in (running := list(self._running.values())):
            task.cancel()
        if running:
            await asyncio.wait(running)
        await asyncio.sleep(0)  # let the jobs that waited for them end
        if self.scheduler.running:
            self.scheduler.shutdown(wait=False)
        for connection in self.connections.values():
            await connection.transport.close()


def tell(watch: Watch, run: Run) -> None:
    """Log a change of a watch's state: one line, however long the state lasts."""
    level = logging.WARNING if run.outcome is Outcome.FAILED else logging.INFO
    about = {"reason": run.reason, "error": run.error, "traceback": run.traceback}
    log.log(level, f"watch is {run.outcome}", extra={"target": watch.name, "collector": watch.collector.name, **about})
