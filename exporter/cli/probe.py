"""`canton-exporter probe`: asks one configured target now and prints what it said, for a person."""

import asyncio
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta

from exporter.clock import Clock
from exporter.collector import RunOutput
from exporter.collectors import discover
from exporter.collectors.health import health
from exporter.config.loader import Settings
from exporter.errors import WrongConfiguration
from exporter.exposition.text import Format, write_page
from exporter.node.rate_limit import Budgets
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.run_log import describe
from exporter.scheduling.runner import Run
from exporter.scheduling.watch_status import WatchStatus
from exporter.web.probe import blocks_of, is_good

PATIENCE = timedelta(minutes=1)
"""How long a person waits for what was not asked for by name."""
PAUSE = 10.0
"""How many seconds lie between two lines of progress; on a terminal, where it is one that moves, a twentieth."""


async def probe(settings: Settings, target: str, collector: str | None) -> int:
    """Print the metrics on standard output and everything else on standard error; return 0 if every run went well.

    Its requests come on top of those of an exporter that runs, which has a budget of its own.
    """
    if target not in settings.targets:
        there = ", ".join(sorted(settings.targets))
        raise WrongConfiguration([f"no target is called {target}; there are {there}"])
    clock = Clock()
    fleet = Fleet(discover(), Budgets(), clock)
    try:
        await fleet.apply(replace(settings, targets={target: settings.targets[target]}))
        connection = fleet.connections[target]
        statuses = choose(target, connection.statuses, collector)
        started = clock.monotonic()
        # Health first: a load balancer with nothing behind it would seem to lack every operation.
        alive = connection.statuses.get(health.name)
        if alive:
            alive.take(await connection.run(alive.watch, RunOutput()))
            if alive not in statuses and alive.last and not is_good([alive.last]):
                statuses.insert(0, alive)  # a node of another kind would seem to lack every operation too

        async def ask(status: WatchStatus) -> Run:
            if status is alive and alive.last:
                return alive.last
            return await connection.run(status.watch, RunOutput(), show(status.watch.collector.name, clock))

        runs = await asyncio.gather(*map(ask, statuses))
    finally:
        await fleet.stop()
    blocks = blocks_of(statuses, runs, clock.monotonic() - started)
    print("\r\x1b[K" if sys.stderr.isatty() else "", end="", file=sys.stderr)  # where progress was shown
    for status, run in zip(statuses, runs, strict=True):
        print(describe(status.watch, run), end="", file=sys.stderr)
    page = write_page(blocks, Format.TEXT_0).decode()
    print(printable(page) if sys.stdout.isatty() else page, end="", flush=True)
    return 0 if is_good(runs) else 1


def printable(page: str) -> str:
    """Return a page that tells a terminal nothing but text, whatever a node put into a label."""
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in page)


def choose(target: str, statuses: dict[str, WatchStatus], collector: str | None) -> list[WatchStatus]:
    """Return the one named, or all that do not take long."""
    if collector is not None:
        if collector not in statuses:
            raise WrongConfiguration([has_not(target, collector, statuses)])
        return [statuses[collector]]
    quick = [each for each in statuses.values() if each.watch.schedule.timeout <= PATIENCE]
    if long := [name for name, each in statuses.items() if each not in quick]:
        print(f"left out, since they may take long: {', '.join(long)}; name one with --collector", file=sys.stderr)
    if not quick:
        raise WrongConfiguration([f"{target} has no collector that is quick; name one with --collector"])
    return quick


def has_not(target: str, collector: str, there: Iterable[str]) -> str:
    """Say of a collector that a target does not run what would have it run, or what there is."""
    if collector in discover():
        return f"{collector} is off for {target}; switch it on by collectors: {{{collector}: ...}}, see docs/collectors"
    return f"{target} has no collector {collector[:100]}; it has {', '.join(sorted(there))}"


def show(collector: str, clock: Clock) -> Callable[[str], None]:
    """Return what shows how far a run has come: a line that moves on a terminal, else a line now and then."""
    start, end, pause = ("\r\x1b[K", "", PAUSE / 20) if sys.stderr.isatty() else ("", "\n", PAUSE)
    shown = clock.monotonic()

    def tell(words: str) -> None:
        nonlocal shown
        if clock.monotonic() - shown >= pause:
            shown = clock.monotonic()
            print(f"{start}{collector}: {words}", end=end, file=sys.stderr, flush=True)

    return tell
