"""What the log is told of watches: when one does better or worse, what happened on its node, how far a long run is."""

import logging

from exporter.clock import Clock
from exporter.runner import Outcome, Run, Watch
from exporter.standing import Standing

log = logging.getLogger(__name__)

LONG_SECONDS = 60.0
"""How long a run takes to be a long one, and how often the log is told how far it has come."""


def tell(watch: Watch, before: Run | None, run: Run) -> None:
    """Log each news, a change of the watch's state in one line however long the state lasts, and a long run's end."""
    about = {"target": watch.name, "collector": watch.collector.name}
    for news in run.news:
        log.warning(news, extra=about)
    if before is None or before.state != run.state:
        level = logging.INFO if run.outcome is Outcome.OK and not run.remark else logging.WARNING
        why = {"reason": run.reason, "error": run.error, "traceback": run.traceback}
        log.log(level, run.remark or f"watch is {run.outcome}", extra={**about, **why})
    if run.seconds >= LONG_SECONDS:
        log.info(f"a long run is {run.outcome}", extra={**about, "seconds": round(run.seconds)})


class Progress:
    """Tells how far one run has come: the watch's standing at once, the log now and then."""

    def __init__(self, standing: Standing, clock: Clock) -> None:
        self._standing = standing
        self._clock = clock
        self._told = clock.monotonic()

    def __call__(self, words: str) -> None:
        self._standing.progress = words
        if self._clock.monotonic() - self._told >= LONG_SECONDS:
            self._told = self._clock.monotonic()
            watch = self._standing.watch
            about = {"target": watch.name, "collector": watch.collector.name, "progress": words}
            log.info("under way", extra=about)
