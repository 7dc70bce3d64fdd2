"""A watch and its run: a collector on a target, and what came of running it once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from exporter.collector import Collector, RunOutput
from exporter.config.models import CollectorConfig, TargetConfig
from exporter.node.messages import RequestLogEntry
from exporter.node.remark import Remark


class Outcome(StrEnum):
    OK = "ok"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Watch:
    """A collector on a target; two that are equal run the same collector in the same way."""

    name: str
    """The target's name, with which its series are labelled."""
    config: TargetConfig
    collector: Collector[Any]
    collector_config: CollectorConfig

    @property
    def labels(self) -> dict[str, str]:
        """The labels of all its series."""
        return self.config.series_labels(self.name)

    def asks_the_same_as(self, other: "Watch") -> bool:
        """Return whether two watches request the same from the same node, at whatever times."""
        return (self.config, self.collector, self.collector_config.options) == (
            other.config,
            other.collector,
            other.collector_config.options,
        )

    @property
    def key(self) -> str:
        return f"{self.name}/{self.collector.name}"


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a watch. `ended` is Unix seconds; `error` is a sentence for people, `reason` a label."""

    ended: float
    seconds: float
    outcome: Outcome
    reason: str | None = None
    error: str | None = None
    traceback: str | None = None
    """Of a bug of ours."""
    remarks: Sequence[Remark] = ()
    """What people should know although the run is ok."""
    news: Sequence[str] = ()
    """What happened since the last run, a sentence each."""
    requests: Sequence[RequestLogEntry] = ()
    yielded: RunOutput = field(default_factory=RunOutput)

    @property
    def state(self) -> tuple[Outcome, str | None]:
        """What is logged when it changes, and only then."""
        return self.outcome, self.reason
