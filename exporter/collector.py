"""All that a collector imports: what it is, the node it reads, what it reads, yields and raises.

A collector is an async function that asks one node for one thing and yields samples; `collector` makes it one.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from exporter import limits
from exporter.config.models import Hash, Kind, PartyId, Strict, TemplateName, named, needs_options
from exporter.errors import (
    Failed,
    Malformed,
    NoEntry,
    NotHttp,
    OutOfTime,
    Refused,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unreachable,
    Unsupported,
    WrongKind,
)
from exporter.metrics.metric import Metric, Sample
from exporter.node.client import Node
from exporter.node.decoding import Amount, Int64, Moment, Name, NotNegative, Struct, Whole, decode_part
from exporter.node.messages import Response
from exporter.node.pagination import Circle, Mark
from exporter.node.rate_limit import Share
from exporter.node.status_errors import looks_like_html, means_no_entry, one_line, raise_for_status

__all__ = [  # noqa: RUF022 - by what they are for
    # what it is
    "Collector", "Memo", "MemoEntry", "Metric", "RunOutput", "Sample", "Share", "Yields", "collector", "minutes",
    "seconds",
    # what an operator sets
    "Hash", "PartyId", "Strict", "TemplateName", "named",
    # the node, and what it answers
    "Amount", "Circle", "Int64", "Kind", "Mark", "Moment", "Name", "Node", "NotNegative", "Response", "Struct", "Whole",
    "decode_part", "limits", "looks_like_html", "one_line", "raise_for_status", "means_no_entry",
    # what goes wrong
    "Failed", "Malformed", "NoEntry", "NotHttp", "OutOfTime", "Refused", "TimedOut", "TooLarge", "Unauthorized",
    "Unreachable", "Unsupported", "WrongKind",
]  # fmt: skip

O = TypeVar("O", bound=Strict)  # noqa: E741 - options
V = TypeVar("V")


class Memo(Generic[V]):
    """Something a watch has to remember from run to run that is not a reading, such as what it has seen already.

    A collector yields it like a sample; a run that does not yield it again forgets it.
    """

    def of(self, value: V) -> "MemoEntry[V]":
        return MemoEntry(self, value)


@dataclass(frozen=True, slots=True)
class MemoEntry(Generic[V]):
    memo: Memo[V]
    value: V


class RunOutput:
    """What a run yielded, raw: before labels, short names and caps. A collector gets its last good run's back."""

    def __init__(self, items: "Iterable[Sample | MemoEntry[Any]]" = ()) -> None:
        self._items = tuple(items)
        self.samples = tuple(item for item in self._items if isinstance(item, Sample))
        self._memos = {item.memo: item.value for item in self._items if isinstance(item, MemoEntry)}

    def __iter__(self) -> "Iterator[Sample | MemoEntry[Any]]":
        """Give everything again: what a collector with nothing new yields."""
        return iter(self._items)

    def memo(self, memo: Memo[V]) -> V | None:
        value: V | None = self._memos.get(memo)
        return value

    def of(self, metric: Metric) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if sample.metric is metric)


Yields = AsyncIterator[Sample | MemoEntry[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Collector(Generic[O]):
    """A collector's function, with its defaults of when and how it runs."""

    name: str
    kinds: frozenset[Kind]
    ask: Callable[[Node, O, RunOutput], Yields]
    options: type[O]
    interval: timedelta
    timeout: timedelta
    share: Share
    """What its requests may take of a host's budget."""
    on_by_default: bool
    """Whether it runs where nobody configures it; one with a required option never does."""
    on_for_observed: bool
    """Whether it does so on somebody else's node too."""
    doc: str
    """Its module's docstring: what it is for, then the lines `Asks:`, `Needs:` and `Costs:`."""


def collector(
    *kinds: Kind,
    interval: timedelta,
    timeout: timedelta,
    share: Share = Share.WHOLE,
    options: type[O] = Strict,  # type: ignore[assignment]
    on_by_default: bool = True,
    on_for_observed: bool = True,
) -> Callable[[Callable[[Node, O, RunOutput], Yields]], Collector[O]]:
    """Make a function a collector of the given kinds of target; one with many requests takes half of the budget.

    One that needs rights, or costs what not everybody wants to pay, is not on until it is configured; one that is not
    for all is not on where the target's role is observed, as it costs more than a guest should take.
    """

    def make(ask: Callable[[Node, O, RunOutput], Yields]) -> Collector[O]:
        doc = inspect.getdoc(inspect.getmodule(ask)) or ""
        on = on_by_default and not needs_options(options)
        return Collector(
            ask.__name__, frozenset(kinds), ask, options, interval, timeout, share, on, on_for_observed, doc
        )

    return make


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)
