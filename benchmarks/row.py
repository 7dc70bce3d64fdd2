"""What a benchmark gives: rows of figures. One whose subject fails gives none, but says what failed."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """One figure: `unit` is empty for a ratio, `target` is what to reach, `note` what was measured beside it."""

    name: str
    value: float
    unit: str = ""
    target: str = ""
    note: str = ""

    def __str__(self) -> str:
        digits = 0 if abs(self.value) >= 100 else 1 if abs(self.value) >= 10 else 2
        figure = f"{self.value:.{digits}f}{f' {self.unit}' if self.unit else ''}"
        missed = " MISSED" if self.is_missed else ""
        return f"{self.name:<66} {figure:>9}  {self.target + missed:<14} {self.note}".rstrip()

    @property
    def is_missed(self) -> bool:
        if not self.target:
            return False
        relation, _, limit = self.target.partition(" ")
        return self.value > float(limit) if relation == "<=" else self.value < float(limit)


class Wrong(Exception):
    """The subject of a benchmark did not do what was to be measured, so that a figure would lie."""


class Size(NamedTuple):
    """How much to measure: as much as figures need, or as little as shows that the benchmarks still work."""

    targets: int = 1_000
    settle_seconds: float = 20.0
    seconds: float = 30.0
    pages: int = 200
    many_pages: int = 4_000
    series: int = 10_000
    rounds: int = 5
    probes: int = 3_000


SMOKE = Size(10, 3.0, 4.0, 8, 16, 200, 1, 20)


def median_of(function: Callable[[], object], rounds: int) -> float:
    """Return the median seconds of a call."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return statistics.median(times)
