"""What a metric is, and a sample of it. A metric is declared once, its name whole, in the collector that reads it."""

import re
from dataclasses import dataclass
from typing import NamedTuple

NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A declared metric; a counter if its name ends in `_total`, else a gauge, unless `type` is summary.

    `source` names the operation a value comes from, as operators read it in HELP.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    source: str = ""
    type: str = ""
    family: "Metric | None" = None
    """Of which metric it is a part: of a summary `_count` and `_sum`, which stand below one HELP."""

    def __post_init__(self) -> None:
        for name in (self.name, *self.labels):
            if not NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} is not a metric or label name of ours: lower case, digits and underscores only"
                )
        if self.source:
            object.__setattr__(self, "help", f"{self.help} From {self.source}.")
        if not self.type:
            object.__setattr__(self, "type", "counter" if self.name.endswith("_total") else "gauge")

    def part(self, suffix: str) -> "Metric":
        """Return a part of a summary: `_count` or `_sum`."""
        return Metric(f"{self.name}{suffix}", self.help, self.labels, type=self.type, family=self)

    def sample(self, value: float, **labels: str) -> "Sample":
        """Return a reading of this metric; every declared label must be given, as a string, and no other."""
        if labels.keys() != set(self.labels):
            raise ValueError(f"{self.name} has the labels {self.labels}, not {tuple(labels)}")
        for name, text in labels.items():
            if not isinstance(text, str):
                raise TypeError(f"{self.name}: the label {name} is {text!r}, which is not a string")
        return Sample(self, tuple(labels[name] for name in self.labels), float(value))


class Sample(NamedTuple):
    """One reading: label values in the order the metric declares them."""

    metric: Metric
    labels: tuple[str, ...]
    value: float
