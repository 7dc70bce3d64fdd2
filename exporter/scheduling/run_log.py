"""What is logged of runs: when one fails or succeeds again, what happened on its node, and how far a long one is."""

import logging
from collections.abc import Collection, Iterable, Iterator

from exporter.clock import Clock
from exporter.node.remark import Remark
from exporter.scheduling.watch import Outcome, Run, Watch
from exporter.scheduling.watch_status import WatchStatus

log = logging.getLogger(__name__)

LONG_SECONDS = 60.0
"""From how many seconds on a run is a long one, and how often its progress is logged."""


def log_run(watch: Watch, before: Run | None, known: Collection[Remark], run: Run) -> None:
    """Log each news, a change of the watch's state in one line however long the state lasts, and a long run's end.

    `known` are the remarks of the last run that was ok: a new one is logged, and one that is over.
    """
    about = about_watch(watch)
    for news in run.news:
        log.warning(f"{subject(watch)}: {news}", extra=about)
    is_remarked_at_once = before is None and run.outcome is Outcome.OK and run.remarks  # which is more than "ok"
    if (before is None or before.state != run.state) and not is_remarked_at_once:
        level = logging.INFO if run.outcome is Outcome.OK else logging.WARNING
        why = {"reason": run.reason, "traceback": run.traceback}
        log.log(level, sentence(watch, before, run), extra={**about, **why})
    if run.outcome is Outcome.OK:
        log_remarks(known, run.remarks, watch)
    if run.seconds >= LONG_SECONDS:
        log.info(f"{subject(watch)} took {run.seconds:.0f} s", extra={**about, "seconds": round(run.seconds)})


def subject(watch: Watch) -> str:
    return f"{watch.collector.name} on {watch.name}"


def about_watch(watch: Watch) -> dict[str, str]:
    """Return the fields by which lines of a watch are found."""
    return {"target": watch.name, "collector": watch.collector.name}


def sentence(watch: Watch, before: Run | None, run: Run) -> str:
    """Return how a run ended, in words."""
    match run.outcome:
        case Outcome.OK:
            return f"{watch.collector.name} succeeded {'again ' if before else ''}on {watch.name}"
        case Outcome.UNSUPPORTED:
            return f"{watch.collector.name} is not supported by {watch.name}: {run.error}"
    return f"{watch.collector.name} failed on {watch.name}: {run.error}"


def log_remarks(known: Iterable[Remark], remarks: Iterable[Remark], watch: Watch) -> None:
    """Log each remark when it begins and when it is over."""
    about = about_watch(watch)
    before, now = ({remark.summary: remark.detail for remark in each} for each in (known, remarks))
    for summary, detail in now.items():
        if summary not in before:
            log.warning(f"{subject(watch)}: {summary}{detail and f': {detail}'}", extra=about)
    for summary in before:
        if summary not in now:
            log.info(f"{subject(watch)}: resolved: {summary}", extra=about)


def describe(watch: Watch, run: Run) -> str:
    """Return how a run went and its requests, line by line, for the user of a probe."""

    def lines() -> Iterator[str]:
        yield f"{watch.collector.name}: {headline(run)}"
        for request in run.requests:
            yield f"  {request.method} {request.path}: {request.outcome} in {request.seconds:.3f} s"
        error = run.error and f"error: {run.error}"  # which often repeats the line of a request
        yield from (f"  {detail}" for detail in (error, run.traceback, *run.remarks, *run.news) if detail)

    return "".join(f"{line}\n" for line in lines())


def headline(run: Run) -> str:
    """Return how a run went in one line. A remark takes the place of "ok", which would be read as the node's state."""
    seconds = f"in {run.seconds:.3f} s"
    if run.outcome is not Outcome.OK or not run.remarks:
        return f"{run.outcome}{f' ({run.reason})' if run.reason else ''} {seconds}"
    first, *others = run.remarks
    more = f" (and {len(others)} more)" if others else ""
    return f"ran {seconds}; {first.summary}{more}"


class Progress:
    """Reports how far one run has come: to the watch's status at once, to the log once a minute."""

    def __init__(self, status: WatchStatus, clock: Clock) -> None:
        self._status = status
        self._clock = clock
        self._logged = clock.monotonic()

    def __call__(self, words: str) -> None:
        self._status.progress = words
        if self._clock.monotonic() - self._logged >= LONG_SECONDS:
            self._logged = self._clock.monotonic()
            watch = self._status.watch
            log.info(f"{subject(watch)} is still running: {words}", extra=about_watch(watch))
