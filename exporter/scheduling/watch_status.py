"""How one watch stands: its last run, what is shown of it and for how long, and what it will be reminded of."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from exporter.clock import Clock
from exporter.collector import RunOutput
from exporter.collectors.health import health, is_up
from exporter.errors import Refused, TimedOut
from exporter.exposition.text import Lines
from exporter.metrics import self_metrics
from exporter.metrics.counters import Counters
from exporter.metrics.metric import Metric, Sample
from exporter.node.remark import Remark
from exporter.scheduling.label_values import clean_labels
from exporter.scheduling.party_labels import rename_parties
from exporter.scheduling.series_limit import cap
from exporter.scheduling.watch import Outcome, Run, Watch

HEALTH_RESULTS = {True: "up", False: "down", None: "unknown"}


class WatchStatus:
    """What is known of one watch. A failed run leaves the last good samples on the page until `stale_after` is over."""

    def __init__(
        self,
        watch: Watch,
        clock: Clock,
        counters: Counters,
        style: Literal["full", "short"] = "full",
        aliases: Mapping[str, str] = MappingProxyType({}),
        *,
        clean: Callable[[str], str] = str,
    ) -> None:
        """Take how parties are written, and what makes a label's value one that may be shown."""
        self.watch = watch
        self.counters = counters
        """Its counters, which outlive it: the watch that takes its place after a reload counts on."""
        self.previous = RunOutput()
        self.last: Run | None = None
        self.remarks: Sequence[Remark] = ()
        """Those of the last run that was ok."""
        self.progress: str | None = None
        """How far the run under way has come, if it reported it."""
        self.shown: Sequence[Sample] = ()
        """The last good run's samples as shown, with parties renamed and capped; kept, so that the same come back."""
        self._shown_until = -math.inf
        self._style: Literal["full", "short"] = style
        self._aliases = aliases
        self._clean = clean
        self._clock = clock
        self._supported: bool | None = None
        self._last_success = 0.0
        self._common = watch.labels
        self._lines = Lines()
        for counter in (self_metrics.RUNS, self_metrics.SKIPPED, self_metrics.DROPPED):
            self.counters.add(counter, watch.collector.name, amount=0)
        for reason in (Refused.reason, TimedOut.reason):
            self.counters.add(self_metrics.FAILURES, watch.collector.name, reason, amount=0)
        for result in HEALTH_RESULTS.values() if watch.collector is health else ():
            self.counters.add(self_metrics.HEALTH_RESULTS, result, amount=0)
        self._write_own()

    @property
    def is_shown(self) -> bool:
        """Whether the page has its readings: from a good run on, until `stale_after` is over."""
        return self._clock.monotonic() < self._shown_until

    @property
    def lines(self) -> tuple[Lines, Lines]:
        """What the page shows of this watch: what it read, and how it does."""
        return self._lines if self.is_shown else Lines(), self._own_lines

    @property
    def series(self) -> int:
        """How many series of readings are on the page."""
        return len(self.shown) if self.is_shown else 0

    def reading(self, metric: Metric) -> float | None:
        """Return what the page shows of a metric without labels."""
        shown = self.shown if self.is_shown else ()
        return next((sample.value for sample in shown if sample.metric is metric), None)

    def present(self, style: Literal["full", "short"], aliases: Mapping[str, str]) -> None:
        """Write parties in a new way from now on, and what is shown too."""
        if (style, aliases) != (self._style, self._aliases):
            self._style, self._aliases = style, aliases
            self._show(self.previous.samples)

    def take(self, run: Run) -> None:
        """Let a run replace what was shown, as far as its outcome allows."""
        name = self.watch.collector.name
        if run.outcome is Outcome.OK:
            dropped = self._show(run.yielded.samples)
            self._shown_until = self._clock.monotonic() + self.watch.collector_config.shown_for.total_seconds()
            self.previous, self._supported, self._last_success = run.yielded, True, run.ended
            self.remarks = run.remarks
            if dropped:
                self.counters.add(self_metrics.DROPPED, name, amount=dropped)
        elif run.outcome is Outcome.UNSUPPORTED:
            self._supported = False
            self._shown_until = -math.inf
        else:
            self.counters.add(self_metrics.FAILURES, name, run.reason or "")
        if self.watch.collector is health:
            self.counters.add(self_metrics.HEALTH_RESULTS, HEALTH_RESULTS[is_up(run.yielded)])
        self.last, self.progress = run, None
        self.counters.add(self_metrics.RUNS, name)
        self._write_own()

    def _show(self, samples: Sequence[Sample]) -> int:
        """Put samples on the page; return how many there is no room for."""
        renamed = self._presented(samples)
        self.shown = cap(renamed, self.shown, self.watch.collector_config.max_series)
        self._lines = Lines(self.shown, self._common)
        return len(renamed) - len(self.shown)

    def _presented(self, samples: Sequence[Sample]) -> Sequence[Sample]:
        return clean_labels(rename_parties(samples, self._style, self._aliases), self._clean)

    def lines_of(self, run: Run) -> Lines:
        """Return what a page shows of a run that is not the watch's own: what it read, and how it went."""
        renamed = self._presented(run.yielded.samples)
        kept = cap(renamed, self.shown, self.watch.collector_config.max_series)
        return Lines([*kept, *how_it_went(run, self.watch.collector.name)], self._common)

    def skip(self) -> None:
        """Count a run that was due while the one before had not ended; one that may take so long is not late."""
        if self.watch.collector_config.timeout <= self.watch.collector_config.interval:
            self.counters.add(self_metrics.SKIPPED, self.watch.collector.name)
            self._write_own()

    def _write_own(self) -> None:
        collector = self.watch.collector.name
        samples = [
            self_metrics.INTERVAL.sample(self.watch.collector_config.interval.total_seconds(), collector=collector),
            self_metrics.LAST_SUCCESS.sample(self._last_success, collector=collector),
            *self.counters.samples(),
        ]
        if self._supported is not None:
            samples.append(self_metrics.SUPPORTED.sample(self._supported, collector=collector))
        if self.last is not None:
            samples += how_it_went(self.last, collector)
            samples.append(self_metrics.LAST_RUN.sample(self.last.ended, collector=collector))
        self._own_lines = Lines(samples, self._common)


def how_it_went(run: Run, collector: str) -> Iterator[Sample]:
    """Give the metrics of any run, of a watch or of a probe."""
    yield self_metrics.SUCCESS.sample(run.outcome is Outcome.OK, collector=collector)
    yield self_metrics.DURATION.sample(run.seconds, collector=collector)
    if run.reason is not None:
        yield self_metrics.FAILURE_INFO.sample(1, collector=collector, reason=run.reason)
