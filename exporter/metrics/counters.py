"""The only mutable numbers: counters that go up, owned by a target, written by transport, runner and fleet."""

from collections.abc import Iterable

from exporter.metrics.metric import Metric, Sample


class Counters:
    """Counters by metric and label values. `writes` rises whenever anything changes."""

    def __init__(self, zeros: Iterable[Metric] = ()) -> None:
        """Start each unlabelled counter of `zeros` at 0, so that its first increase is seen by `rate`."""
        self._counts: dict[tuple[Metric, tuple[str, ...]], float] = {(metric, ()): 0.0 for metric in zeros}
        self.writes = 0

    def add(self, metric: Metric, *labels: str, amount: float = 1.0) -> None:
        """Count `amount` more; label values in the order the metric declares them."""
        key = (metric, labels)
        self._counts[key] = self._counts.get(key, 0.0) + amount
        self.writes += 1

    def samples(self) -> list[Sample]:
        return [Sample(metric, labels, count) for (metric, labels), count in self._counts.items()]
