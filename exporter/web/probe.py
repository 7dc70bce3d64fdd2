"""/probe: runs the collectors of one configured target now, where Prometheus is to set the pace, or for a look."""

from dataclasses import dataclass
from datetime import timedelta

from aiohttp import web

from exporter.clock import Clock
from exporter.exposition.text import write_page
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.probe_selection import NoneInTime, NotThere, ProbeSelection, check_target, select
from exporter.scheduling.sharding import shard_of
from exporter.web.content_negotiation import choose_format

USUAL_SECONDS = 10.0
"""How long a scrape may take where the scraper sends no timeout: Prometheus' own default."""


@dataclass
class Probe:
    """The probe's handler. `offset` is how much sooner than the scraper gives up the answer is to be there."""

    fleet: Fleet
    clock: Clock
    offset: timedelta
    running: int = 0
    """How many requests are being answered."""

    async def answer(self, request: web.Request) -> web.Response:
        self.running += 1
        try:
            return await self._answer(request)
        finally:
            self.running -= 1

    async def _answer(self, request: web.Request) -> web.Response:
        limit = read_limit(request, self.offset)
        try:
            selection = self._select(request, limit)
        except NotThere as error:
            raise web.HTTPNotFound(text=f"{error}\n") from error
        result = await selection.run_beside(limit, self.clock)
        if request.query.get("debug") == "true":
            return web.Response(text=f"{result.report()}\n{write_page(result.blocks(), choose_format('')).decode()}")
        format_ = choose_format(",".join(request.headers.getall("Accept", ())))
        return web.Response(body=write_page(result.blocks(), format_), headers={"Content-Type": format_.value})

    def _select(self, request: web.Request, limit: timedelta) -> ProbeSelection:
        """Return what is requested: one collector, or all that end in time. Raises NotThere."""
        name = request.query.get("target")
        if not name:
            raise web.HTTPBadRequest(text="name a configured target: /probe?target=NAME\n")
        check_target(name, self.fleet.configured)
        if (target := self.fleet.targets.get(name)) is None:
            here = self.fleet.shard
            there = shard_of(name, here.total)
            raise NotThere(f"{name} is watched by shard {there}, and this is {here}; ask that one")
        try:
            return select(name, target, self.fleet.collectors, request.query.get("collector"), limit)
        except NoneInTime as error:
            text = f"no collector of {name} has a timeout of at most {limit.total_seconds():.3g} s"
            raise web.HTTPBadRequest(text=f"{text}; raise scrape_timeout, or run one with &collector=NAME\n") from error


def read_limit(request: web.Request, offset: timedelta) -> timedelta:
    """Return how long a probe may take, from the scraper's timeout header."""
    text = request.headers.get("X-Prometheus-Scrape-Timeout-Seconds")
    try:
        seconds = float(text) if text else USUAL_SECONDS
        limit = timedelta(seconds=seconds) - offset
    except (ValueError, OverflowError) as error:
        raise web.HTTPBadRequest(text="X-Prometheus-Scrape-Timeout-Seconds is not a number of seconds\n") from error
    if limit <= timedelta():
        raise web.HTTPBadRequest(text="the scrape timeout is not longer than --timeout-offset\n")
    return limit
