"""Every watch, when it runs and what it said: targets times collectors, and the only door to APScheduler."""

import asyncio
import logging
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
from exporter.exposition import Families, render
from exporter.runner import Outcome, Watch, run
from exporter.settings import Budget, Target
from exporter.standing import Standing
from exporter.tally import Tally
from exporter.transport import Transport

log = logging.getLogger(__name__)

SPREAD = timedelta(seconds=15)
"""Within how long the first runs of all watches start."""

logging.getLogger("apscheduler").setLevel(logging.CRITICAL)  # what it would say, the metrics and our own lines say


class Block(NamedTuple):
    """Lines of one target, or of one of its collectors, that a page is joined from."""

    target: str
    collector: str | None
    families: Families


class Place:
    """A target as the fleet holds it: its connections, its token, its counters."""

    def __init__(self, name: str, target: Target, budgets: Budgets, budget: Budget, clock: Clock) -> None:
        self.target = target
        self.tally = Tally([own.THROTTLED, own.BUDGET_WAIT])
        self.standings: dict[str, Standing] = {}
        """How its watches stand, by collector."""
        self.auth = make_auth(target.auth)
        self.transport = Transport(target, budgets.of(URL(target.url).host or "", budget), self.tally, clock)
        self._common = target.series_labels(name)
        self._written: object = None
        self._lines: Families = {}

    def is_up(self) -> bool | None:
        """Tell whether the node is up, None if that is not known."""
        standing = self.standings.get(health.name)
        reading = standing.reading(UP) if standing else None
        return None if reading is None else reading == 1

    def families(self) -> Families:
        """Return the target's own lines, written anew only when they have changed."""
        token = self.auth.at_hand()
        if self._written != (self.tally.writes, token):
            self._written = (self.tally.writes, token)
            samples = [
                own.TARGET_INFO.sample(1, kind=self.target.kind, url=self.target.public_url),
                *self.tally.samples(),
            ]
            if token is not None and token.issued is not None:
                samples.append(own.TOKEN_ISSUED.sample(token.issued, renewed_by=self.auth.renewed_by))
            if token is not None and token.expiry is not None:
                samples.append(own.TOKEN_EXPIRY.sample(token.expiry, renewed_by=self.auth.renewed_by))
            self._lines = render(samples, self._common)
        return self._lines


class Fleet:
    """All watches, by target and collector."""

    def __init__(self, collectors: Mapping[str, Collector[Any]], budgets: Budgets, clock: Clock) -> None:
        self._collectors = collectors
        self._budgets = budgets
        self._clock = clock
        self._places: dict[str, Place] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._changes = 0
        self._unanswered: set[str] = set()
        self.first_round = asyncio.Event()
        """Set when every watch has run once."""
        self.scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )
        self.scheduler.add_listener(self._skipped, EVENT_JOB_MAX_INSTANCES)

    def start(self, settings: Settings) -> None:
        """Open every target and schedule every watch."""
        for name, configured in settings.targets.items():
            place = Place(name, configured.target, self._budgets, settings.budget, self._clock)
            self._places[name] = place
            for collector_name, schedule in configured.schedules.items():
                watch = Watch(name, configured.target, self._collectors[collector_name], schedule)
                place.standings[collector_name] = Standing(watch, self._clock, settings.party_labels, settings.aliases)
                self._schedule(watch)
                self._unanswered.add(watch.key)
        if not self._unanswered:
            self.first_round.set()
        self.scheduler.start()

    def _schedule(self, watch: Watch) -> None:
        interval = watch.schedule.interval
        # A fixed place in the round for each watch: thousands that start together would all be late together.
        place = int.from_bytes(sha256(watch.key.encode()).digest()[:4]) / 2**32
        self.scheduler.add_job(
            self._due,
            IntervalTrigger(seconds=interval.total_seconds(), timezone=UTC),
            args=[self._places[watch.name], watch],
            id=watch.key,
            next_run_time=datetime.now(UTC) + place * min(interval, SPREAD),
        )

    async def _due(self, place: Place, watch: Watch) -> None:
        task = self._running[watch.key] = asyncio.create_task(self._run(place, watch), name=watch.key)
        await asyncio.wait({task})  # and no more: a run that was cancelled is no error of the scheduler's job
        del self._running[watch.key]
        if not task.cancelled() and (bug := task.exception()) is not None:
            log.error("a bug of the exporter, please report it", exc_info=bug, extra={"watch": watch.key})

    async def _run(self, place: Place, watch: Watch) -> None:
        standing = place.standings[watch.collector.name]
        before = standing.last
        result = await run(
            watch, place.transport, place.auth, self._clock, standing.previous, is_down=lambda: place.is_up() is False
        )
        standing.take(result)
        self._changes += 1
        self._unanswered.discard(watch.key)
        if not self._unanswered:
            self.first_round.set()
        if before is None or (before.outcome, before.reason) != (result.outcome, result.reason):
            log.log(
                logging.WARNING if result.outcome is Outcome.FAILED else logging.INFO,
                f"watch is {result.outcome}",
                extra={
                    "target": watch.name,
                    "collector": watch.collector.name,
                    "reason": result.reason,
                    "error": result.error,
                },
            )

    def _skipped(self, event: JobSubmissionEvent) -> None:
        for standing in self.standings():
            if standing.watch.key == event.job_id:
                standing.skip()
                self._changes += 1

    def standings(self) -> Iterator[Standing]:
        """Return how every watch stands, target by target."""
        return (standing for place in self._places.values() for standing in place.standings.values())

    @property
    def places(self) -> Mapping[str, Place]:
        """Every target as the fleet holds it, by name."""
        return self._places

    def change(self) -> int:
        """Return a number that is another one whenever a page would be; readings past their grace are taken away."""
        for standing in self.standings():
            if standing.is_stale():
                standing.hide()
                self._changes += 1
        return self._changes + sum(place.tally.writes for place in self._places.values())

    def blocks(self) -> Iterator[Block]:
        """Return the lines of everything, target by target."""
        for name, place in self._places.items():
            yield Block(name, None, place.families())
            for collector, standing in place.standings.items():
                for families in standing.families:
                    yield Block(name, collector, families)

    async def stop(self) -> None:
        """Stop all runs and close all connections, however far it was started."""
        self.scheduler.remove_all_jobs()
        running = list(self._running.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        await asyncio.sleep(0)  # let the jobs that waited for them end
        if self.scheduler.running:
            self.scheduler.shutdown(wait=False)
        for place in self._places.values():
            await place.transport.close()
