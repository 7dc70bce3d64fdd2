"""What the page shows of the exporter itself: its release, its shard, its reloads and probes, its process."""

import json
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from exporter import __version__
from exporter.exposition.text import Lines, read_registry
from exporter.log import dropped_lines
from exporter.metrics import self_metrics
from exporter.metrics.metric import Sample
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.reload import Reloader
from exporter.web.access import AccessControl
from exporter.web.probe import Probe


class ExporterMetrics:
    """Reads them from the parts that know them, whenever a page is made."""

    def __init__(
        self, fleet: Fleet, reloader: Reloader, probe: Probe, access: AccessControl, *, has_process: bool
    ) -> None:
        """Take the parts, and whether the metrics of the process and of Python belong to it."""
        self._fleet = fleet
        self._reloader = reloader
        self._probe = probe
        self._access = access
        self._build_info = self_metrics.BUILD_INFO.sample(
            1, version=__version__, revision=revision(), pythonversion=platform.python_version()
        )
        self._registry = CollectorRegistry()
        if has_process:
            for collector in (ProcessCollector, PlatformCollector, GCCollector):
                collector(registry=self._registry)

    def lines(self) -> Lines:
        return Lines([*self._samples(), *read_registry(self._registry)])

    def _samples(self) -> Iterator[Sample]:
        yield self._build_info
        yield self_metrics.SHARD.sample(self._fleet.shard.number)
        yield self_metrics.SHARDS.sample(self._fleet.shard.total)
        yield from self._reloader.samples()
        yield self_metrics.LOG_LINES_DROPPED.sample(dropped_lines())
        yield self_metrics.LOGINS_REFUSED.sample(self._access.refused)
        yield self_metrics.PROBES.sample(self._probe.running)
        yield self_metrics.BODY_BYTES.sample(self._fleet.bodies.held)
        if latest := self._fleet.latest:
            yield self_metrics.LAST_START.sample(latest.at)
            yield self_metrics.LATE.sample(latest.late)


def revision() -> str:
    """Return the commit this was installed from, where the installer wrote it down."""
    try:
        written_down = distribution("canton-exporter").read_text("direct_url.json")
        return str(json.loads(written_down or "{}")["vcs_info"]["commit_id"])
    except (PackageNotFoundError, KeyError, ValueError):
        return "unknown"
