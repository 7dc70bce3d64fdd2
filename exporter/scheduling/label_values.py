"""Label values as they may be shown: without the target's secrets, and without what a terminal would obey."""

from collections.abc import Callable, Sequence

from exporter.metrics.metric import Sample


def clean_labels(samples: Sequence[Sample], clean: Callable[[str], str]) -> Sequence[Sample]:
    """Return the samples with clean label values. Where two become one, the first of them stays."""
    cleaned = [tuple(map(clean, sample.labels)) for sample in samples]
    if all(labels == sample.labels for labels, sample in zip(cleaned, samples, strict=True)):
        return samples
    kept: dict[tuple[object, tuple[str, ...]], Sample] = {}
    for labels, sample in zip(cleaned, samples, strict=True):
        kept.setdefault((sample.metric, labels), sample._replace(labels=labels))
    return [*kept.values()]
