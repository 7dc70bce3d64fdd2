"""Every watch: targets times collectors, what a reload changes of them, and what each put on the page."""

import asyncio
import logging
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from exporter.clock import Clock
from exporter.collector import Collector, RunOutput
from exporter.config.collector_models import ConfiguredTarget
from exporter.config.loader import Settings
from exporter.exposition.text import Lines
from exporter.metrics.counters import Counters
from exporter.node.body import BodyMemory
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.run_log import Progress, log_run
from exporter.scheduling.schedule import RunStart, Scheduler
from exporter.scheduling.sharding import Shard
from exporter.scheduling.target import Target
from exporter.scheduling.watch import Watch
from exporter.scheduling.watch_status import WatchStatus

log = logging.getLogger(__name__)


class Block(NamedTuple):
    """What a page is joined from: the lines of one target, or of one of its collectors."""

    target: str
    collector: str | None
    lines: Lines


class Fleet:
    """All watches, by target and collector, of the targets that are this shard's."""

    def __init__(
        self,
        collectors: Mapping[str, Collector[Any]],
        rate_limits: RateLimits,
        clock: Clock,
        shard: Shard | None = None,
    ) -> None:
        self.collectors = collectors
        self._rate_limits = rate_limits
        self.bodies = BodyMemory()
        """What all targets' answers are read into."""
        self._clock = clock
        self.shard = shard or Shard()
        self.configured: Mapping[str, ConfiguredTarget] = {}
        """Every target, those of other shards too."""
        self.targets: dict[str, Target] = {}
        """By target."""
        self._running: dict[str, asyncio.Task[None]] = {}
        self._changes = 0
        self._unanswered: set[str] = set()
        self._stopping = False
        self.first_round = asyncio.Event()
        """Set when every watch has run once."""
        self.latest: RunStart | None = None
        """The latest start of any run."""
        self.scheduler = Scheduler(clock)
        self.scheduler.on_start(self._started)
        self.scheduler.on_skip(self._skipped)

    def start(self, settings: Settings) -> None:
        """Open every target of the shard and schedule every watch."""
        self._adopt(settings)
        self.scheduler.start()

    async def apply(self, settings: Settings) -> None:
        """Take over settings while running: what is equal in both goes on untouched, a running run included."""
        gone, ended = self._adopt(settings)
        if ended:
            await asyncio.wait(ended)
        for target in gone:
            await target.close()

    def _adopt(self, settings: Settings) -> tuple[list[Target], list[asyncio.Task[None]]]:
        """Take over settings at once; return what is left to be waited for: targets to close, runs to end."""
        kept: dict[str, Target] = {}
        ended: list[asyncio.Task[None]] = []
        for name, configured in settings.targets.items():
            if not self.shard.has(name):
                continue
            before = self.targets.get(name)
            if before and (before.config, before.allowed) == (configured.target_config, settings.budget):
                kept[name] = before
            else:
                kept[name] = Target(
                    name, configured.target_config, self._rate_limits, settings.budget, self._clock, bodies=self.bodies
                )
        gone = [target for target in self.targets.values() if target not in kept.values()]
        for target in gone:
            ended += [task for status in target.statuses.values() for task in self._end(status)]
        self.targets, self.configured = kept, settings.targets
        for name, target in kept.items():
            ended += self._adopt_watches(target, name, settings)
        self._unanswered &= {status.watch.key for status in self.statuses()}
        self._end_of_round()
        self._changes += 1
        return gone, ended

    def _adopt_watches(self, target: Target, name: str, settings: Settings) -> Iterator[asyncio.Task[None]]:
        configured = settings.targets[name]
        before, target.statuses = target.statuses, {}
        for collector, collector_config in configured.collector_configs.items():
            watch = Watch(name, configured.target_config, self.collectors[collector], collector_config)
            status = before.get(collector)
            if status and status.watch == watch:
                del before[collector]
                status.present(settings.party_labels, settings.aliases)
            else:
                counters = status.counters if status else Counters()
                known = status.previous if status and status.watch.asks_the_same_as(watch) else RunOutput()
                status = WatchStatus(
                    watch,
                    self._clock,
                    counters,
                    settings.party_labels,
                    settings.aliases,
                    clean=target.transport.redact.label,
                )
                status.previous = known
            target.statuses[collector] = status
        for status in before.values():
            yield from self._end(status)
        for watch in (status.watch for status in target.statuses.values()):
            if watch.key not in self.scheduler.intervals:
                self.scheduler.add(watch.key, watch.collector_config.interval, self._due, target, watch)
                if not self.first_round.is_set():
                    self._unanswered.add(watch.key)

    def _end(self, status: WatchStatus) -> Iterator[asyncio.Task[None]]:
        """Take a watch off the schedule and end its run, if it has one."""
        key = status.watch.key
        self.scheduler.remove(key)
        if (task := self._running.pop(key, None)) is not None:
            task.cancel()
            yield task

    def _end_of_round(self) -> None:
        if not self._unanswered:
            self.first_round.set()

    async def _due(self, target: Target, watch: Watch) -> None:
        status = target.statuses.get(watch.collector.name)
        is_current = self.targets.get(watch.name) is target and status and status.watch is watch
        if status is None or not is_current or self._stopping:
            return  # it was on its way when a reload or the end took its watch away
        task = self._running[watch.key] = asyncio.create_task(self._run(target, status), name=watch.key)
        await asyncio.wait({task})  # and no more: a run that was cancelled is not an error of the schedule
        if self._running.get(watch.key) is task:
            del self._running[watch.key]
        if not task.cancelled() and (bug := task.exception()) is not None:
            text = target.transport.redact("".join(traceback.format_exception(bug)))
            log.error("a bug of the exporter, please report it", extra={"watch": watch.key, "traceback": text})

    async def _run(self, target: Target, status: WatchStatus) -> None:
        watch, before, remarks = status.watch, status.last, status.remarks
        result = await target.run(watch, status.previous, Progress(status, self._clock))
        status.take(result)
        self._changes += 1
        self._unanswered.discard(watch.key)
        self._end_of_round()
        log_run(watch, before, remarks, result)

    def _started(self, start: RunStart) -> None:
        self.latest = start

    def _skipped(self, key: str) -> None:
        target, _, collector = key.rpartition("/")
        if target in self.targets and collector in self.targets[target].statuses:
            self.targets[target].statuses[collector].skip()
            self._changes += 1

    def statuses(self) -> Iterator[WatchStatus]:
        """Return how every watch stands, target by target."""
        return (status for each in self.targets.values() for status in each.statuses.values())

    def changed(self) -> None:
        """Note a change of what else is on the page."""
        self._changes += 1

    def change(self) -> object:
        """Return a value that changes whenever a page would."""
        shown = sum(status.is_shown for status in self.statuses())
        return self._changes, shown, sum(each.counters.writes for each in self.targets.values())

    def blocks(self) -> Iterator[Block]:
        """Return what a page is made of, target by target."""
        for name, target in self.targets.items():
            yield Block(name, None, target.lines())
            for collector, status in target.statuses.items():
                for lines in status.lines:
                    yield Block(name, collector, lines)

    async def stop(self) -> None:
        """Stop all runs and close all connections, however far it was started."""
        self._stopping = True  # a run may be on its way already
        self.scheduler.clear()
        for task in (under_way := list(self._running.values())):
            task.cancel()
        if under_way:
            await asyncio.wait(under_way)
        await self.scheduler.stop()
        for target in self.targets.values():
            await target.close()
