"""A probe of one target: which of its collectors run, how they are started, and what their runs come to."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from exporter.clock import Clock
from exporter.collector import Collector, RunOutput
from exporter.collectors.health import health, is_up
from exporter.exposition.text import Lines
from exporter.metrics.metric import Metric
from exporter.scheduling.run_log import describe
from exporter.scheduling.target import Target
from exporter.scheduling.watch import Outcome, Run
from exporter.scheduling.watch_status import WatchStatus

SUCCESS = Metric("probe_success", "1 if no collector failed and the node is not known to be down; 0 if not.")
SECONDS = Metric("probe_duration_seconds", "Duration of the probe in seconds.")
LEFT_OUT = Metric(
    "probe_collector_left_out",
    "1 for each collector that was not run, as its timeout is longer than the probe; name it to run it.",
    ("collector",),
)


class NotThere(Exception):
    """The target or collector that was named cannot be probed; the text has the reason, or what there is."""


class NoneInTime(Exception):
    """No collector has a timeout that fits: a probe that runs nothing must not look like a success."""


@dataclass(frozen=True, slots=True)
class Result:
    """The runs of one probe."""

    statuses: Sequence[WatchStatus]
    runs: Sequence[Run]
    seconds: float
    left_out: Sequence[str] = ()

    @property
    def is_good(self) -> bool:
        return is_good(self.runs)

    def blocks(self) -> list[Lines]:
        """Return what the page is made of: whether the probe went well, how long it took, and what was read."""
        own = [SUCCESS.sample(self.is_good), SECONDS.sample(self.seconds)]
        own += [LEFT_OUT.sample(1, collector=name) for name in self.left_out]
        return [Lines(own), *(status.lines_of(run) for status, run in zip(self.statuses, self.runs, strict=True))]

    def report(self) -> str:
        """Return how each run went, for a person."""
        each = [describe(status.watch, run) for status, run in zip(self.statuses, self.runs, strict=True)]
        why = "not run, as it may take longer than the probe; name it to run it"
        return "".join([*each, *(f"{name}: {why}\n" for name in self.left_out)])


@dataclass(frozen=True, slots=True)
class ProbeSelection:
    """The collectors that a probe of one target runs."""

    target: Target
    statuses: Sequence[WatchStatus]
    left_out: Sequence[str] = ()
    """The names of those that may take too long."""

    async def run_beside(self, limit: timedelta, clock: Clock) -> Result:
        """Run them within `limit` beside the watches of a fleet that is running; equal probes share their runs."""
        started = clock.monotonic()
        runs = await asyncio.gather(*(self.target.probe(status.watch, limit) for status in self.statuses))
        return Result(self.statuses, runs, clock.monotonic() - started, self.left_out)

    async def run_alone(self, progress: Callable[[str], Callable[[str], None]], clock: Clock) -> Result:
        """Run them where no fleet is running; `progress` returns for a collector's name what takes its progress.

        Health runs first, and is in the result if the node is not well: a load balancer with nothing behind it, or a
        node of another kind, would seem to lack every operation.
        """
        started = clock.monotonic()
        before: dict[str, Run] = {}
        statuses = list(self.statuses)
        if status := self.target.statuses.get(health.name):
            before[health.name] = run = await self.target.run(status.watch, RunOutput())
            status.take(run)
            if status not in statuses and not is_good([run]):
                statuses.insert(0, status)

        async def run_one(status: WatchStatus) -> Run:
            name = status.watch.collector.name
            return before.get(name) or await self.target.run(status.watch, RunOutput(), progress(name))

        runs = await asyncio.gather(*map(run_one, statuses))
        return Result(statuses, runs, clock.monotonic() - started, self.left_out)


def check_target(name: str, configured: Iterable[str]) -> None:
    """Raise NotThere if no target of this name is configured."""
    if name not in configured:
        raise NotThere(f"no target is called {name[:100]}; there are {', '.join(sorted(configured))}")


def select(
    name: str,
    target: Target,
    collectors: Mapping[str, Collector[Any]],
    named: str | None,
    limit: timedelta,
) -> ProbeSelection:
    """Return the collector that is named, or all whose timeout is at most `limit`, and always health.

    `collectors` are all there are, the target's or not. Raises NotThere or NoneInTime.
    """
    statuses = target.statuses
    if named is not None:
        if named not in statuses:
            raise NotThere(why_not(name, target, collectors.get(named), named))
        return ProbeSelection(target, [statuses[named]])
    # Health ends in time with whatever time there is, and without it a dead node would look like a success.
    selected = [
        status
        for name, status in statuses.items()
        if name == health.name or status.watch.collector_config.timeout <= limit
    ]
    if not selected:
        raise NoneInTime
    return ProbeSelection(target, selected, [name for name, each in statuses.items() if each not in selected])


def why_not(name: str, target: Target, collector: Collector[Any] | None, named: str) -> str:
    """Return why a target does not run a collector: it does not exist, is for other nodes, or is off."""
    kind = target.config.kind
    if collector is None:
        there = ", ".join(sorted(target.statuses))
        return f"{name} has no collector {named[:100]}; " + (
            f"it has {there}" if there else "all that it could run are disabled"
        )
    if kind not in collector.kinds:
        return f"{named} works only with targets of kind {' or '.join(sorted(collector.kinds))}; {name} is a {kind}"
    required = [option for option, field in collector.options.model_fields.items() if field.is_required()]
    options = f", options: {{{', '.join(f'{option}: ...' for option in required)}}}" if required else ""
    return f"{named} is disabled for target {name}; set `collectors: {{{named}: {{enabled: true{options}}}}}` there"


def is_good(runs: Iterable[Run]) -> bool:
    """Return whether all went well: nothing failed, and the node is not known to be down."""
    return all(run.outcome is not Outcome.FAILED and is_up(run.yielded) is not False for run in runs)
