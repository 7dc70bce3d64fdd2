"""One target in use: what its watches share, and what is known of the target itself."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from exporter.clock import Clock
from exporter.collector import RunOutput
from exporter.collectors.health import UP, health
from exporter.config.durations import write_duration
from exporter.config.models import Budget, TargetConfig
from exporter.errors import TimedOut, Unreachable
from exporter.exposition.text import Lines
from exporter.metrics import self_metrics
from exporter.metrics.counters import Counters
from exporter.node.auth import make_auth
from exporter.node.body import BodyMemory
from exporter.node.rate_limit import RateLimits
from exporter.node.transport import Transport
from exporter.scheduling.runner import run
from exporter.scheduling.watch import Outcome, Run, Watch
from exporter.scheduling.watch_status import WatchStatus

GRACE_SECONDS = 0.1
"""How much longer than its limit a probe waits, as the run that it began ends by itself at the limit."""


@dataclass(eq=False)
class Probing:
    """A run by /probe that is under way, and how many wait for it."""

    watch: Watch
    task: asyncio.Task[Run]
    waiting: int = 0


class Target:
    """A target in use: its session, its token, its counters, and how its watches stand."""

    def __init__(
        self,
        name: str,
        config: TargetConfig,
        rate_limits: RateLimits,
        allowed: Budget,
        clock: Clock,
        *,
        bodies: BodyMemory | None = None,
    ) -> None:
        self.config = config
        self.allowed = allowed
        self.counters = Counters([self_metrics.THROTTLED, self_metrics.BUDGET_WAIT])
        self.statuses: dict[str, WatchStatus] = {}
        """By collector."""
        self.auth = make_auth(config.auth)
        # A scan counts what each caller asks, however many scans stand behind its host; a participant is one's own.
        owner = None if allowed.is_shared(config.kind) else name
        rate_limit_of = partial(rate_limits.of, allowed=allowed, target=owner)
        self.transport = Transport(config, rate_limit_of, self.counters, clock, bodies)
        self._clock = clock
        self._node_read: dict[str, str] = {}
        """The node that each watch last read, by the watch's key."""
        self._probing: dict[str, Probing] = {}
        self._common = config.series_labels(name)

    def is_up(self) -> bool | None:
        """Return whether the node is up, None if that is not known."""
        status = self.statuses.get(health.name)
        reading = status.reading(UP) if status else None
        return None if reading is None else reading == 1

    def is_down(self) -> bool:
        """Return whether the node is known to be down."""
        return self.is_up() is False

    async def probe(self, watch: Watch, limit: timedelta) -> Run:
        """Run a watch now and in full, within `limit`, and change nothing.

        Where a probe runs it already, that run is waited for, at most `limit`. One that nobody waits for is cancelled.
        """
        key = watch.key
        if (probing := self._probing.get(key)) is None or probing.watch != watch:
            probing = self._probing[key] = Probing(watch, asyncio.create_task(self._run_probe(watch, limit)))
        probing.waiting += 1
        try:
            async with asyncio.timeout(limit.total_seconds() + GRACE_SECONDS):
                return await asyncio.shield(probing.task)
        except TimeoutError:
            error = f"the run that another probe began did not end within {write_duration(limit)}"
            seconds = limit.total_seconds()
            return Run(self._clock.now(), seconds, Outcome.FAILED, TimedOut.reason, error)
        finally:
            probing.waiting -= 1
            if not probing.waiting:
                probing.task.cancel()
                if self._probing.get(key) is probing:
                    del self._probing[key]

    async def _run_probe(self, watch: Watch, limit: timedelta) -> Run:
        timeout = min(watch.collector_config.timeout, limit)
        within = replace(watch, collector_config=watch.collector_config.model_copy(update={"timeout": timeout}))
        return await run(
            within, self.transport, self.auth, self._clock, RunOutput(), is_down=self.is_down, is_probe=True
        )

    async def run(self, watch: Watch, previous: RunOutput, progress: Callable[[str], None] = lambda words: None) -> Run:
        """Run a watch of this target once; `progress` takes how far it has come.

        What was read of a different node, while the file of the url named that, is dropped: no run may go on from it.
        """
        with suppress(Unreachable):
            here = self.transport.destination.endpoint().node
            if self._node_read.setdefault(watch.key, here) != here:
                self._node_read[watch.key], previous = here, RunOutput()
        return await self._run(watch, previous, progress)

    async def _run(
        self, watch: Watch, previous: RunOutput, progress: Callable[[str], None] = lambda words: None
    ) -> Run:
        return await run(
            watch, self.transport, self.auth, self._clock, previous, is_down=self.is_down, progress=progress
        )

    async def close(self) -> None:
        """End what is under way and close every connection."""
        for task in (probing := [each.task for each in self._probing.values()]):
            task.cancel()
        if probing:
            await asyncio.wait(probing)
        await self.transport.close()

    def lines(self) -> Lines:
        """Return what is known of the target itself."""
        url = self.transport.destination.public_url
        samples = [self_metrics.TARGET_INFO.sample(1, kind=self.config.kind, url=url), *self.counters.samples()]
        token = self.auth.available()
        if token is not None and token.issued is not None:
            samples.append(self_metrics.TOKEN_ISSUED.sample(token.issued, renewed_by=self.auth.renewed_by))
        if token is not None and token.expiry is not None:
            samples.append(self_metrics.TOKEN_EXPIRY.sample(token.expiry, renewed_by=self.auth.renewed_by))
        return Lines(samples, self._common)
