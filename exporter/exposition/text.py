"""Samples become lines, and lines a page, in the text format of Prometheus or OpenMetrics."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from types import MappingProxyType

from prometheus_client import CollectorRegistry
from prometheus_client.utils import floatToGoString

from exporter.metrics.metric import Metric, Sample

Families = Mapping[Metric, str]
"""Rendered lines by metric; those of a summary's parts by the summary."""


class Lines:
    """The lines of samples that all get the `common` labels, rendered once: by the first page that shows them."""

    def __init__(self, samples: Iterable[Sample] = (), common: Mapping[str, str] = MappingProxyType({})) -> None:
        self._samples = samples
        self._common = common

    @cached_property
    def families(self) -> Families:
        return render(self._samples, self._common)


class Format(Enum):
    """A text format, by the Content-Type it is served under."""

    TEXT_0 = "text/plain; version=0.0.4; charset=utf-8"
    TEXT_1 = "text/plain; version=1.0.0; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def render(samples: Iterable[Sample], common: Mapping[str, str]) -> Families:
    """Return the lines of samples, which all get the `common` labels, by metric; labels are in the order of names.

    The parts of a summary are written in the order of samples: those of one series have to stand together.
    """
    families: dict[Metric, list[str]] = {}
    templates: dict[Metric, tuple[str, list[int]]] = {}
    for metric, labels, value in samples:
        if metric not in templates:
            templates[metric] = template(metric, common)
        text, order = templates[metric]
        families.setdefault(metric.family or metric, []).append(
            f"{text % tuple(escape(labels[index]) for index in order)} {floatToGoString(value)}\n"
        )
    return {metric: "".join(lines) for metric, lines in families.items()}


def template(metric: Metric, common: Mapping[str, str]) -> tuple[str, list[int]]:
    """Return a line's beginning with `%s` for each of the metric's own labels, and which of them each stands for."""
    own = {name: index for index, name in enumerate(metric.labels)}
    names = sorted({**own, **common})
    parts = [f'{name}="{"%s" if name in own else escape(common[name]).replace("%", "%%")}"' for name in names]
    return f"{metric.name}{{{','.join(parts)}}}" if parts else metric.name, [own[name] for name in names if name in own]


def escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def header(metric: Metric, format_: Format) -> str:
    name, text = metric.name, metric.help.replace("\\", r"\\").replace("\n", r"\n")
    if format_ is Format.OPENMETRICS:  # which names a family without its samples' suffix
        name, text = name.removesuffix("_total"), text.replace('"', r"\"")
    return f"# HELP {name} {text}\n# TYPE {name} {metric.type}\n"


def write_page(blocks: Sequence[Lines], format_: Format) -> bytes:
    """Join blocks into a page: each metric once, in the order of names."""
    families: dict[Metric, list[str]] = {}
    for block in blocks:
        for metric, lines in block.families.items():
            families.setdefault(metric, []).append(lines)
    parts = []
    for metric in sorted(families, key=lambda metric: metric.name):
        parts += [header(metric, format_), *families[metric]]
    if format_ is Format.OPENMETRICS:
        parts.append("# EOF\n")
    # A node can send half a character; one such label must not take the page away.
    return "".join(parts).encode("utf-8", errors="replace")


def read_registry(registry: CollectorRegistry) -> list[Sample]:
    """Return what the library's own collectors read of this process."""
    samples = []
    for family in registry.collect():
        declared: dict[str, Metric] = {}
        for sample in family.samples:
            metric = declared.setdefault(sample.name, Metric(sample.name, family.documentation, tuple(sample.labels)))
            samples.append(metric.sample(sample.value, **sample.labels))
    return samples
