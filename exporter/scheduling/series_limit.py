"""No more series of a collector than allowed, and the same ones from run to run."""

from collections.abc import Iterable, Sequence

from exporter.metrics.metric import Sample


def cap(samples: Sequence[Sample], shown: Iterable[Sample], most: int) -> Sequence[Sample]:
    """Return at most `most` samples: the series shown before first, so that the same ones stay from run to run."""
    if len(samples) <= most:
        return samples
    known = {sample[:2] for sample in shown}
    ranked = sorted(range(len(samples)), key=lambda index: samples[index][:2] not in known)  # stable
    return [samples[index] for index in sorted(ranked[:most])]
