"""What people are told of watches: when one does better or worse, what happened on its node, how far a run has come."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping

from exporter.clock import Clock
from exporter.node.remark import Remark
from exporter.scheduling.runner import Outcome, Run, Watch
from exporter.scheduling.watch_status import WatchStatus

log = logging.getLogger(__name__)

LONG_SECONDS = 60.0
"""How long a run takes to be a long one, and how often the log is told how far it has come."""


def tell(watch: Watch, before: Run | None, known: Collection[Remark], run: Run) -> None:
    """Log each news, a change of the watch's state in one line however long the state lasts, and a long run's end.

    `known` are the remarks of the last run that was ok: a new one is logged, and one that is over.
    """
    about = {"target": watch.name, "collector": watch.collector.name}
    for news in run.news:
        log.warning(news, extra=about)
    is_remarked_at_once = before is None and run.outcome is Outcome.OK and run.remarks  # which says more than "ok"
    if (before is None or before.state != run.state) and not is_remarked_at_once:
        level = logging.INFO if run.outcome is Outcome.OK else logging.WARNING
        why = {"reason": run.reason, "error": run.error, "traceback": run.traceback}
        log.log(level, f"watch is {run.outcome}", extra={**about, **why})
    if run.outcome is Outcome.OK:
        log_remarks(known, run.remarks, about)
    if run.seconds >= LONG_SECONDS:
        log.info(f"a long run is {run.outcome}", extra={**about, "seconds": round(run.seconds)})


def log_remarks(known: Iterable[Remark], remarks: Iterable[Remark], about: Mapping[str, str]) -> None:
    """Log each remark when it begins and when it is over."""
    before, now = ({remark.summary: remark.detail for remark in each} for each in (known, remarks))
    for summary, detail in now.items():
        if summary not in before:
            log.warning(summary, extra={**about, "detail": detail or None})
    for summary in before:
        if summary not in now:
            log.info(f"no longer: {summary}", extra=about)


def describe(watch: Watch, run: Run) -> str:
    """Return how a run went and what it asked, line by line, for who asked for it."""

    def lines() -> Iterator[str]:
        reason = f" ({run.reason})" if run.reason else ""
        yield f"{watch.collector.name}: {run.outcome}{reason} in {run.seconds:.3f} s"
        for request in run.requests:
            yield f"  {request.method} {request.path}: {request.outcome} in {request.seconds:.3f} s"
        yield from (f"  {said}" for said in (run.error, run.traceback, *run.remarks, *run.news) if said)

    return "".join(f"{line}\n" for line in lines())


class Progress:
    """Tells how far one run has come: the watch's status at once, the log now and then."""

    def __init__(self, status: WatchStatus, clock: Clock) -> None:
        self._standing = status
        self._clock = clock
        self._told = clock.monotonic()

    def __call__(self, words: str) -> None:
        self._standing.progress = words
        if self._clock.monotonic() - self._told >= LONG_SECONDS:
            self._told = self._clock.monotonic()
            watch = self._standing.watch
            about = {"target": watch.name, "collector": watch.collector.name, "progress": words}
            log.info("under way", extra=about)
