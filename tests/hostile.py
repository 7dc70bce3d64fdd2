"""Watches scans that mean no good, in a process of its own: python -m tests.hostile URL SECONDS prints what it took."""

import asyncio
import json
import sys
import time
from asyncio import events
from pathlib import Path
from typing import Any

from exporter.clock import Clock
from exporter.collectors import discover
from exporter.config.loader import check
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.fleet import Fleet

SCANS = 8


class Slowest:
    """The callback of the event loop that took the most CPU time so far."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.name = ""

    def watch(self) -> None:
        run = events.Handle._run

        def timed(handle: events.Handle) -> None:
            name, started = repr(handle), time.thread_time()
            run(handle)
            if (seconds := time.thread_time() - started) > self.seconds:
                self.seconds, self.name = seconds, name

        events.Handle._run = timed  # type: ignore[assignment, method-assign]


async def main(url: str, seconds: float) -> dict[str, Any]:
    collectors = discover()
    run = {name: {"interval": "1s", "timeout": "20s"} for name in ("acs", "coin_rules", "rounds", "health")}
    scans = {f"scan-{n}": {"kind": "scan", "role": "own", "url": url, "collectors": run} for n in range(SCANS)}
    settings, errors = check({"targets": scans, "budget": {"rate": 1e6, "burst": 10**6}}, collectors)
    assert settings is not None, errors
    fleet = Fleet(collectors, RateLimits(), Clock())
    slowest = Slowest()
    fleet.start(settings)
    await asyncio.sleep(1)  # the first round connects, and imports what it needs
    slowest.watch()
    began = time.process_time()
    most = 0
    for _ in range(round(seconds * 50)):
        await asyncio.sleep(0.02)
        most = max(most, fleet.bodies.held)
    cpu = time.process_time() - began
    await fleet.stop()
    return {
        "peak_mb": peak_mb(),
        "callback_ms": slowest.seconds * 1000,
        "callback": slowest.name[:300],
        "cpu": cpu / seconds,
        "held_mb": most / 2**20,
    }


def peak_mb() -> float:
    """Return the most memory that this process has had at any time."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(sys.argv[1], float(sys.argv[2])))))
