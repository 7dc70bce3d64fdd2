"""`canton-exporter probe`: asks one configured target now and prints what it said, for a person."""

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from exporter.clock import Clock
from exporter.collectors import discover
from exporter.config.loader import Settings
from exporter.errors import WrongConfiguration
from exporter.exposition.text import Format, write_page
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.probe_selection import NoneInTime, NotThere, Result, check_target, select

UNNAMED_LIMIT = timedelta(minutes=1)
"""How long a person waits for what was not asked for by name."""
PAUSE = 10.0
"""How many seconds lie between two lines of progress; on a terminal, where it is one that moves, a twentieth."""


async def probe(settings: Settings, target: str, collector: str | None) -> int:
    """Print the metrics on standard output and everything else on standard error; return 0 if every run went well.

    Its requests come on top of those of an exporter that runs, which has a budget of its own.
    """
    try:
        result = await run(settings, target, collector)
    except NotThere as error:
        raise WrongConfiguration([str(error)]) from error
    except NoneInTime as error:
        raise WrongConfiguration([f"all collectors of {target} may be slow; run one with --collector NAME"]) from error
    print("\r\x1b[K" if sys.stderr.isatty() else "", end="", file=sys.stderr)  # where progress was shown
    print(result.report(), end="", file=sys.stderr)
    page = write_page(result.blocks(), Format.TEXT_0).decode()
    print(printable(page) if sys.stdout.isatty() else page, end="", flush=True)
    return 0 if result.is_good else 1


async def run(settings: Settings, target: str, collector: str | None) -> Result:
    """Run a target's collectors in a fleet that has no other target. Raises NotThere or NoneInTime."""
    check_target(target, settings.targets)
    clock = Clock()
    fleet = Fleet(discover(), RateLimits(), clock)
    try:
        await fleet.apply(replace(settings, targets={target: settings.targets[target]}))
        selection = select(target, fleet.targets[target], fleet.collectors, collector, UNNAMED_LIMIT)
        return await selection.run_alone(lambda name: show(name, clock), clock)
    finally:
        await fleet.stop()


def printable(page: str) -> str:
    """Return a page that tells a terminal nothing but text, whatever a node put into a label."""
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in page)


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
