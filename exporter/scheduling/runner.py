"""Runs one watch once and returns how it went: the only place that catches everything."""

import asyncio
import traceback
from collections.abc import Callable
from contextlib import aclosing

from exporter import limits
from exporter.clock import Clock
from exporter.collector import RunOutput
from exporter.config.durations import write_duration
from exporter.errors import BUG, Failed, Refused, TimedOut, TooLarge, Unsupported, worst
from exporter.metrics.metric import Sample
from exporter.node.auth import Auth
from exporter.node.client import Node
from exporter.node.remark import Remark
from exporter.node.status_errors import one_line
from exporter.node.transport import Transport
from exporter.scheduling.watch import Outcome, Run, Watch

YIELD_EVERY = 1_000
"""After so many of them everything else has its turn."""


async def run(
    watch: Watch,
    transport: Transport,
    auth: Auth,
    clock: Clock,
    previous: RunOutput,
    *,
    is_down: Callable[[], bool] = lambda: False,
    is_probe: bool = False,
    progress: Callable[[str], None] = lambda words: None,
) -> Run:
    """Run the watch's collector once, within its timeout.

    `is_down` returns whether the node's health is known to be bad: then an operation it does not seem to have is a
    failure, since a load balancer with nothing behind it answers 404 to everything. `progress` takes how far a
    long run has come.
    """
    started = clock.monotonic()
    limit = watch.collector_config.timeout.total_seconds()
    where = watch.config.kind, transport, auth, clock, started + limit
    node = Node(*where, share=watch.collector.share, is_probe=is_probe, progress=progress)
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
            limit = write_duration(watch.collector_config.timeout)
            return Outcome.FAILED, TimedOut.reason, f"the run did not end within its timeout of {limit}"
    message = one_line("".join(traceback.format_exception_only(exception)))  # which also stands a __str__ that raises
    return Outcome.FAILED, BUG, f"a bug of the exporter, please report it: {message}"


async def ask(watch: Watch, node: Node, previous: RunOutput) -> RunOutput:
    """Return all that a collector yields; two samples of the same series are a bug."""
    items = []
    seen: set[tuple[object, ...]] = set()
    allowed = watch.collector_config.max_series
    async with aclosing(watch.collector.ask(node, watch.collector_config.options, previous)) as answers:  # type: ignore[type-var]
        async for item in answers:
            items.append(item)
            if len(items) > limits.RUN_ITEMS:
                raise TooLarge(f"more than {limits.RUN_ITEMS} samples, which no page could show; ask for less")
            if len(items) % YIELD_EVERY == 0:
                await asyncio.sleep(0)
            if isinstance(item, Sample):
                series = item[:2]
                if series in seen:
                    raise ValueError(f"two samples of {item.metric.name}{item.labels}")
                seen.add(series)
                if len(seen) > limits.RUN_SERIES * allowed:
                    raise TooLarge(
                        f"more than {len(seen) - 1} samples, {limits.RUN_SERIES} times max_series ({allowed}); "
                        "ask for less, or raise max_series"
                    )
            elif len(items) - len(seen) > limits.RUN_MEMOS:
                raise ValueError(f"more than {limits.RUN_MEMOS} memos")
    return RunOutput(items)
