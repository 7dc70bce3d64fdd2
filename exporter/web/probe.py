"""/probe: asks one configured target now, for who wants Prometheus to set the pace or a person to see what it says."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from aiohttp import web

from exporter.clock import Clock
from exporter.collectors.health import is_up
from exporter.exposition.text import Lines, write_page
from exporter.metrics.metric import Metric
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.run_log import describe
from exporter.scheduling.runner import Outcome, Run
from exporter.scheduling.sharding import shard_of
from exporter.scheduling.target import Connection
from exporter.scheduling.watch_status import WatchStatus
from exporter.web.content_negotiation import choose_format

SUCCESS = Metric("probe_success", "1 if the node is up as far as was asked, and no collector failed; 0 if not.")
SECONDS = Metric("probe_duration_seconds", "How long the probe took.")

USUAL_SECONDS = 10.0
"""How long a scrape may take where the scraper does not say: Prometheus' own default."""


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
        connection, statuses = self._chosen(request, limit)
        started = self.clock.monotonic()
        runs = await asyncio.gather(*(connection.probe(status.watch, limit) for status in statuses))
        blocks = blocks_of(statuses, runs, self.clock.monotonic() - started)
        if request.query.get("debug") == "true":
            told = "".join(describe(status.watch, run) for status, run in zip(statuses, runs, strict=True))
            return web.Response(text=f"{told}\n{write_page(blocks, choose_format('')).decode()}")
        format_ = choose_format(",".join(request.headers.getall("Accept", ())))
        return web.Response(body=write_page(blocks, format_), headers={"Content-Type": format_.value})

    def _chosen(self, request: web.Request, limit: timedelta) -> tuple[Connection, Sequence[WatchStatus]]:
        """Return the target and which of its watches are asked for: the one named, or all that end in time."""
        name, collector = request.query.get("target"), request.query.get("collector")
        if not name:
            raise web.HTTPBadRequest(text="name a configured target: /probe?target=NAME\n")
        connection = self.fleet.connections.get(name)
        if connection is None:
            raise web.HTTPNotFound(text=f"{self._elsewhere(name)}\n")
        if collector is None:
            cheap = [each for each in connection.statuses.values() if each.watch.schedule.timeout <= limit]
            if not cheap:  # a probe that asked nothing must not look like a success
                text = f"no collector of {name} is sure to end within {limit.total_seconds():.3g} s"
                raise web.HTTPBadRequest(text=f"{text}; raise scrape_timeout, or name one: &collector=NAME\n")
            return connection, cheap
        if collector not in connection.statuses:
            there = ", ".join(sorted(connection.statuses))
            raise web.HTTPNotFound(text=f"{name} has no collector {collector[:100]}; it has {there}\n")
        return connection, [connection.statuses[collector]]

    def _elsewhere(self, name: str) -> str:
        """Say of a target that is not watched here who watches it, or that there is none."""
        if name not in self.fleet.configured:
            return f"no target is called {name[:100]}; there are {', '.join(sorted(self.fleet.configured))}"
        here = self.fleet.shard
        return f"{name} is watched by shard {shard_of(name, here.total)}, and this is {here}; ask that one"


def read_limit(request: web.Request, offset: timedelta) -> timedelta:
    """Return how long a probe may take, by the scraper's own word."""
    text = request.headers.get("X-Prometheus-Scrape-Timeout-Seconds")
    try:
        seconds = float(text) if text else USUAL_SECONDS
        limit = timedelta(seconds=seconds) - offset
    except (ValueError, OverflowError) as error:
        raise web.HTTPBadRequest(text="X-Prometheus-Scrape-Timeout-Seconds is not a number of seconds\n") from error
    if limit <= timedelta():
        raise web.HTTPBadRequest(text="the scrape's timeout leaves no time; see --timeout-offset\n")
    return limit


def blocks_of(statuses: Sequence[WatchStatus], runs: Sequence[Run], seconds: float) -> list[Lines]:
    """Return what the page of a probe is made of: whether it went well, how long it took, and what was read."""
    own = [SUCCESS.sample(is_good(runs)), SECONDS.sample(seconds)]
    return [Lines(own), *(status.lines_of(run) for status, run in zip(statuses, runs, strict=True))]


def is_good(runs: Iterable[Run]) -> bool:
    """Return whether all went well: nothing failed, and the node is not known to be down."""
    return all(run.outcome is not Outcome.FAILED and is_up(run.yielded) is not False for run in runs)
