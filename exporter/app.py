"""Puts the exporter together, runs it, and ends it: the one place where its parts are made."""

import asyncio
import gc
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from exporter.clock import Clock
from exporter.collectors import discover
from exporter.config.flags import Flags
from exporter.config.loader import Settings
from exporter.exposition.page_cache import Pages
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.reload import Reloader
from exporter.scheduling.sharding import Shard
from exporter.web.access import AccessControl
from exporter.web.exporter_metrics import ExporterMetrics
from exporter.web.lifecycle import Lifecycle
from exporter.web.probe import Probe
from exporter.web.routes import make_application
from exporter.web.same_site import SameSite
from exporter.web.scrape import Scrape
from exporter.web.server import Server
from exporter.web.status_page import StatusPage

log = logging.getLogger(__name__)

READY_AFTER_SECONDS = 10.0
"""When the exporter is ready even though the first round has not ended: a node that hangs must not hold it up."""

NAME_LOOKUPS = 64
"""How many names may be looked up at once: a resolver that hangs takes a thread for each, and not the last one."""


def build(
    settings: Settings, access: AccessControl, flags: Flags, shard: Shard, read: Callable[[], Settings] | None
) -> "App":
    """Make all parts, each of those before it; nothing runs yet.

    The settings are checked already; `read` reads them anew or raises WrongConfiguration, and is None where they come
    from no file.
    """
    clock = Clock()
    fleet = Fleet(discover(), RateLimits(), clock, shard)
    reloader = Reloader(settings, read or (lambda: settings), fleet, clock)
    probe = Probe(fleet, clock, flags.timeout_offset)
    exporter_metrics = ExporterMetrics(
        fleet, reloader, probe, access, has_process=not flags.web_disable_exporter_metrics
    )
    pages, other_pages = Pages(clock), Pages(clock)  # a thread each: no page for people delays a scrape
    ready_at = clock.monotonic() + READY_AFTER_SECONDS
    application = make_application(
        Scrape(fleet, pages, exporter_metrics.lines),
        StatusPage(fleet, other_pages, clock, flags.web_telemetry_path, flags.external_url),
        Lifecycle(lambda: reloader.settings, reloader.reload if read else None, other_pages),
        probe,
        lambda: fleet.first_round.is_set() or clock.monotonic() >= ready_at,
        same_site=SameSite(flags.web_external_url, flags.web_allowed_host, lambda: access.is_guarded),
        overdue=fleet.scheduler.overdue,
        prefix=flags.prefix,
        telemetry_path=flags.web_telemetry_path,
        max_requests=flags.web_max_requests,
    )
    return App(fleet, reloader, (pages, other_pages), Server(application, access, flags.web_listen_address))


@dataclass
class App:
    """One exporter, from its start to its end."""

    fleet: Fleet
    reloader: Reloader
    pages: Sequence[Pages]
    server: Server

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set. Raises WrongConfiguration if an address cannot be had."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(NAME_LOOKUPS, "names"))
        try:
            await self.server.start()
            self.fleet.start(self.reloader.settings)
            freezing = asyncio.create_task(freeze_garbage(self.fleet))
            await stop.wait()
            freezing.cancel()
            log.info("stopping")
        finally:
            await asyncio.gather(self.fleet.stop(), self.server.stop())
            for each in self.pages:
                each.close()


async def freeze_garbage(fleet: Fleet) -> None:
    """Once everything that stays is there, keep the garbage collector from looking through it again and again."""
    await fleet.first_round.wait()
    gc.collect()
    gc.freeze()
