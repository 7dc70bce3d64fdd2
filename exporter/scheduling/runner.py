"""Runs one watch once and returns how it went: the only place that catches everything."""

import asyncio
import traceback
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from exporter import limits
from exporter.clock import Clock
from exporter.collector import Collector, RunOutput
from exporter.config.durations import write_duration
from exporter.config.models import Schedule, TargetConfig
from exporter.errors import BUG, Failed, Refused, TimedOut, TooLarge, Unsupported, worst
from exporter.metrics.metric import Sample
from exporter.node.auth import Auth
from exporter.node.client import Node
from exporter.node.decoding import one_line
from exporter.node.messages import RequestLogEntry
from exporter.node.remark import Remark
from exporter.node.transport import Transport

OTHERS_TURN = 1_000
"""After so many of them everything else has its turn."""


class Outcome(StrEnum):
    OK = "ok"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Watch:
    """A collector on a target; two that are equal run the same collector in the same way."""

    name: str
    """The target's name, with which its series are labelled."""
    config: TargetConfig
    collector: Collector[Any]
    schedule: Schedule

    @property
    def labels(self) -> dict[str, str]:
        """The labels of all its series."""
        return self.config.series_labels(self.name)

    def asks_the_same_as(self, other: "Watch") -> bool:
        """Return whether two watches request the same from the same node, at whatever times."""
        return (self.config, self.collector, self.schedule.options) == (
            other.config,
            other.collector,
            other.schedule.options,
        )

    @property
    def key(self) -> str:
        return f"{self.name}/{self.collector.name}"


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a watch. `ended` is Unix seconds; `error` is a sentence for people, `reason` a label."""

    ended: float
    seconds: float
    outcome: Outcome
    reason: str | None = None
    error: str | None = None
    traceback: str | None = None
    """Of a bug of ours."""
    remarks: Sequence[Remark] = ()
    """What people should know although the run is ok."""
    news: Sequence[str] = ()
    """What happened since the last run, a sentence each."""
    requests: Sequence[RequestLogEntry] = ()
    yielded: RunOutput = field(default_factory=RunOutput)

    @property
    def state(self) -> tuple[Outcome, str | None]:
        """What is logged when it changes, and only then."""
        return self.outcome, self.reason


async def run(
    watch: Watch,
    transport: Transport,
    auth: Auth,
    clock: Clock,
    previous: RunOutput,
    *,
    is_down: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda words: None,
) -> Run:
    """Run the watch's collector once, within its timeout.

    `is_down` returns whether the node's health is known to be bad: then an operation it does not seem to have is a
    failure, since a load balancer with nothing behind it answers 404 to everything. `progress` takes how far a
    long run has come.
    """
    started = clock.monotonic()
    limit = watch.schedule.timeout.total_seconds()
    share = watch.collector.share
    node = Node(watch.config.kind, transport, auth, clock, started + limit, share=share, progress=progress)
    outcome, reason, error, trace, yielded = Outcome.OK, None, "", "", RunOutput()
    try:
        async with asyncio.timeout(limit):
            yielded = await ask(watch, node, previous)
    except Exception as exception:  # noqa: BLE001 - here, and only here: a bug must end one run, not the watch
        outcome, reason, error = verdict(exception, watch)
        if outcome is Outcome.UNSUPPORTED and is_down():
            outcome, reason = Outcome.FAILED, Refused.reason
        if reason == BUG:
            trace = "".join(traceback.format_exception(exception))
    return Run(
        ended=clock.now(),
        seconds=clock.monotonic() - started,
        outcome=outcome,
        reason=reason,
        error=transport.redact(error) or None,
        traceback=transport.redact(trace) or None,
        remarks=tuple(Remark(*map(transport.redact, each)) for each in node.remarks),
        news=tuple(map(transport.redact, node.news)) if outcome is Outcome.OK else (),
        requests=tuple(node.requests),
        yielded=yielded,
    )


def verdict(exception: BaseException, watch: Watch) -> tuple[Outcome, str | None, str]:
    """Return what an exception makes of a run: its outcome, the reason as a label, and a sentence."""
    match exception:
        case BaseExceptionGroup():
            return verdict(worst(exception), watch)
        case Unsupported():
            return Outcome.UNSUPPORTED, None, str(exception)
        case Failed():
            return Outcome.FAILED, exception.reason, str(exception)
        case TimeoutError():
            limit = write_duration(watch.schedule.timeout)
            return Outcome.FAILED, TimedOut.reason, f"the run did not end within its timeout of {limit}"
    message = one_line("".join(traceback.format_exception_only(exception)))  # which also stands a __str__ that raises
    return Outcome.FAILED, BUG, f"a bug of the exporter, please report it: {message}"


async def ask(watch: Watch, node: Node, previous: RunOutput) -> RunOutput:
    """Return all that a collector yields; two samples of the same series are a bug."""
    items = []
    seen: set[tuple[object, ...]] = set()
    async with aclosing(watch.collector.ask(node, watch.schedule.options, previous)) as answers:  # type: ignore[type-var]
        async for item in answers:
            items.append(item)
            if len(items) > limits.RUN_ITEMS:
                raise TooLarge(f"more than {limits.RUN_ITEMS} samples, which no page could show; ask for less")
            if len(items) % OTHERS_TURN == 0:
                await asyncio.sleep(0)
            if isinstance(item, Sample):
                series = item[:2]
                if series in seen:
                    raise ValueError(f"two samples of {item.metric.name}{item.labels}")
                seen.add(series)
    return RunOutput(items)
