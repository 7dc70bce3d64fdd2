"""Puts the exporter together, runs it, and ends it."""

import asyncio
import gc
import json
import logging
import os
import platform
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, distribution

from aiohttp import web
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from exporter import __version__
from exporter.clock import Clock
from exporter.collectors import discover
from exporter.config.flag_types import Address
from exporter.config.flags import Flags
from exporter.config.loader import Settings
from exporter.errors import WrongConfiguration
from exporter.exposition.page_cache import Pages
from exporter.exposition.text import Lines, read_registry
from exporter.metrics import self_metrics
from exporter.metrics.counters import Counters
from exporter.node.rate_limit import Budgets
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.sharding import Shard
from exporter.web.access import Access
from exporter.web.lifecycle import Control
from exporter.web.probe import Probe
from exporter.web.routes import make_site
from exporter.web.scrape import Scrape
from exporter.web.status_page import Landing

log = logging.getLogger(__name__)

READY_AFTER_SECONDS = 10.0
"""When the exporter is ready even though the first round has not ended: a node that hangs must not hold it up."""

NAME_LOOKUPS = 64
"""How many names may be looked up at once: a resolver that hangs takes a thread for each, and not the last one."""


class App:
    """One exporter, from its settings to its end."""

    def __init__(
        self, settings: Settings, access: Access, flags: Flags, shard: Shard, read: Callable[[], Settings]
    ) -> None:
        """Take settings that are checked already, and `read`, which reads them anew or raises WrongConfiguration."""
        self._settings = settings
        self._read = read
        self._reloading = asyncio.Lock()
        self._is_reloaded = True
        self._access = access
        self._flags = flags
        self._clock = Clock()
        self._fleet = Fleet(discover(), Budgets(), self._clock, shard)
        self._probe = Probe(self._fleet, self._clock, flags.timeout_offset)
        self._counters = Counters()
        for result in ("success", "failure"):
            self._counters.add(self_metrics.RELOADS, result, amount=0)
        self._read_at = self._clock.now()
        self._revision = revision()
        self._registry = CollectorRegistry()
        if not flags.web_disable_exporter_metrics:
            for collector in (ProcessCollector, PlatformCollector, GCCollector):
                collector(registry=self._registry)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set. Raises WrongConfiguration if an address cannot be had."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(NAME_LOOKUPS, "names"))
        fleet = self._fleet
        pages = Pages(self._clock)
        ready_at = loop.time() + READY_AFTER_SECONDS
        site = make_site(
            Scrape(fleet, pages, self._own),
            Landing(fleet, self._clock, self._flags.web_telemetry_path, self._flags.external_url),
            Control(lambda: self._settings, self.reload),
            self._probe,
            lambda: fleet.first_round.is_set() or loop.time() >= ready_at,
            prefix=self._flags.prefix,
            telemetry_path=self._flags.web_telemetry_path,
            most_requests=self._flags.web_max_requests,
        )
        self._access.guard(site)
        # A scraper that went away must not go on costing; one that reads slowly must not hold up the end.
        server = web.AppRunner(site, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await server.setup()
        try:
            for address in self._flags.web_listen_address:
                await listen(server, address, self._access.ssl_context())
            fleet.start(self._settings)
            settled = asyncio.create_task(settle(fleet))
            await stop.wait()
            settled.cancel()
            log.info("stopping")
        finally:
            await asyncio.gather(fleet.stop(), server.cleanup())
            pages.close()

    async def reload(self) -> None:
        """Read the settings anew and put them in force. Raises WrongConfiguration, and then all is as it was."""
        async with self._reloading:
            try:
                settings = self._read()
            except WrongConfiguration as error:
                self._is_reloaded = False
                self._counters.add(self_metrics.RELOADS, "failure")
                # Its faults say everything: there is no bug to trace.
                log.error("the configuration was refused", extra={"error": "; ".join(error.faults)})  # noqa: TRY400
                raise
            else:
                await self._fleet.apply(settings)
                self._settings, self._is_reloaded, self._read_at = settings, True, self._clock.now()
                self._counters.add(self_metrics.RELOADS, "success")
                log.info("the configuration was read again")
            finally:
                self._fleet.changed()

    def _own(self) -> Lines:
        samples = [
            self_metrics.BUILD_INFO.sample(
                1, version=__version__, revision=self._revision, pythonversion=platform.python_version()
            ),
            self_metrics.SHARD.sample(self._fleet.shard.number),
            self_metrics.SHARDS.sample(self._fleet.shard.total),
            self_metrics.RELOAD_SUCCESSFUL.sample(self._is_reloaded),
            self_metrics.RELOAD_SUCCESS_TIMESTAMP.sample(self._read_at),
            self_metrics.PROBES.sample(self._probe.running),
            *self._counters.samples(),
            *read_registry(self._registry),
        ]
        if latest := self._fleet.latest:
            samples += self_metrics.LAST_START.sample(latest.at), self_metrics.LATE.sample(latest.late)
        return Lines(samples)


async def listen(server: web.AppRunner, address: Address, tls: ssl.SSLContext | None) -> None:
    try:
        await web.TCPSite(server, address.host, address.port, ssl_context=tls).start()
    except (OSError, UnicodeError) as error:  # a host name that is none is the latter
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number and number > 0 else str(error)
        raise WrongConfiguration([f"cannot listen on {address}: {reason}; set --web.listen-address"]) from error
    log.info("listening", extra={"address": str(address)})


async def settle(fleet: Fleet) -> None:
    """Once everything that stays is there, keep the garbage collector from looking through it again and again."""
    await fleet.first_round.wait()
    gc.collect()
    gc.freeze()


def revision() -> str:
    """Return the commit this was installed from, where the installer wrote it down."""
    try:
        written_down = distribution("canton-exporter").read_text("direct_url.json")
        return str(json.loads(written_down or "{}")["vcs_info"]["commit_id"])
    except (PackageNotFoundError, KeyError, ValueError):
        return "unknown"
