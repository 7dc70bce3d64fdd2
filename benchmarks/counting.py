"""Measures a count of active contracts: against the script a user writes, against curl to nowhere, and its memory."""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.processes import listening
from benchmarks.row import Row, Size, Wrong
from benchmarks.scan_node import CONTRACTS, TAKEN
from exporter.clock import Clock
from exporter.collector import RunOutput
from exporter.collectors import discover
from exporter.collectors.acs import CONTRACTS as COUNTED
from exporter.config.loader import check
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.target import Target
from exporter.scheduling.watch import Watch

TEMPLATES = [f"splice-amulet:Splice.Amulet:Amulet{number}" for number in range(8)]

Count = Callable[[str], Awaitable[None]]


def node(pages: int, think: float = 0.0) -> AbstractContextManager[str]:
    return listening("benchmarks.scan_node", str(pages), str(think))


def ours(pages: int, encoding: str = "identity", **options: Any) -> Count:
    """Return what counts as the exporter does, the whole way from the watch to its run."""

    async def count(url: str) -> None:
        target = {"kind": "scan", "role": "own", "url": url, "headers": {"Accept-Encoding": encoding}}
        target["collectors"] = {"acs": {"options": options}}
        settings, errors = check({"targets": {"scan": target}, "budget": {"rate": 1e6, "burst": 10**6}}, discover())
        if settings is None:
            raise Wrong(str(errors))
        configured = settings.targets["scan"]
        connection = Target("scan", configured.target_config, RateLimits(), settings.budget, Clock())
        watch = Watch("scan", configured.target_config, discover()["acs"], configured.collector_configs["acs"])
        run = await connection.run(watch, RunOutput())
        await connection.close()
        total = sum(sample.value for sample in run.yielded.of(COUNTED))
        if total != pages * CONTRACTS:
            raise Wrong(f"{total:.0f} contracts counted of {pages * CONTRACTS}: {run.error}")

    return count


def by_script(pages: int) -> Count:
    """Return what counts as the script does that a user writes."""

    async def count(url: str) -> None:
        found = await scripted(url)
        if found != pages * CONTRACTS:
            raise Wrong(f"the script counted {found} contracts of {pages * CONTRACTS}")

    return count


async def scripted(url: str) -> int:
    counts: Counter[str] = Counter()
    body: dict[str, Any] = {"migration_id": 4, "record_time": TAKEN, "page_size": CONTRACTS}
    async with aiohttp.ClientSession(headers={"Accept-Encoding": "identity"}) as session:
        while True:
            async with session.post(f"{url}/v2/state/acs", json=body) as answer:
                page = await answer.json()
            counts.update(contract["template_id"] for contract in page["created_events"])
            if page["next_page_token"] is None:
                break
            body["after"] = page["next_page_token"]
    return counts.total()


def by_curl(pages: int, *flags: str) -> Count:
    """Return what takes the same pages by one curl, to nowhere."""

    async def take(url: str) -> None:
        tokens = ["", *(f',"after":"{number}"' for number in range(1, pages))]
        bodies = [f'{{"page_size":{CONTRACTS}{token}}}' for token in tokens]  # white space would end it
        options = "".join(f"{flag}\n" for flag in ("silent", "fail", *flags))  # for each anew, as `next` forgets them
        route = f"{url}/v2/state/acs"
        asked = [f"{options}url = {route}\noutput = /dev/null\ndata = {body}\n" for body in bodies]
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("next\n".join(asked))
            file.flush()
            process = await asyncio.create_subprocess_exec("curl", "-K", file.name)
            if await process.wait():
                raise Wrong("curl failed; is it installed?")

    return take


def compare(url: str, *counts: Count, rounds: int) -> list[float]:
    """Return the median seconds of each, taken in turns."""
    times: list[list[float]] = [[] for _ in counts]
    for _ in range(rounds):
        for count, spent in zip(counts, times, strict=True):
            started = time.perf_counter()
            asyncio.run(count(url))  # type: ignore[arg-type]
            spent.append(time.perf_counter() - started)
    return [statistics.median(spent) for spent in times]


def counting(size: Size) -> Iterator[Row]:
    """Counts active contracts; a count that is off fails the row."""
    pages, rounds = size.pages, size.rounds

    def per_million(seconds: float) -> str:
        return f"{seconds * 1e6 / pages / CONTRACTS:.2f} s a million"

    with node(pages) as url:
        mine, script, curl = compare(url, ours(pages), by_script(pages), by_curl(pages), rounds=rounds)
        yield Row("count of contracts, against aiohttp and json", mine / script, "", "<= 0.15", per_million(mine))
        yield Row("  against curl to nowhere", mine / curl, "", "<= 2.5")
        mine, curl = compare(url, ours(pages, "gzip"), by_curl(pages, "compressed"), rounds=rounds)
        yield Row("  the same, with gzip", mine / curl, "", "<= 1.6", per_million(mine))
    with node(pages, 0.02) as url:
        cursors = ours(pages, templates=TEMPLATES, cursors=len(TEMPLATES))
        mine, curl, many = compare(url, ours(pages), by_curl(pages), cursors, rounds=min(rounds, 3))
        yield Row("  against curl, where the node thinks for 20 ms a page", mine / curl, "", "<= 1.15")
        yield Row("  8 cursors against 1, where it thinks", mine / many, "x", ">= 6")
    command = [sys.executable, "-m", __name__, str(max(1, size.many_pages // 40)), str(size.many_pages)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise Wrong(finished.stderr.strip().rpartition("\n")[2])
    idle, few, most = map(int, finished.stdout.split())
    yield Row(f"  peak memory of {size.many_pages} 000 contracts, over idle", (most - idle) / 1024, "MB", "<= 12")
    yield Row("  the same, over that of a fortieth", (most - few) / 1024, "MB", "<= 5")


def peak_memory() -> int:
    """Return the most memory this process had since its peak was reset, in kB."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])


def remember_memory() -> None:
    print(peak_memory())
    for pages in map(int, sys.argv[1:]):
        with node(pages) as url:
            asyncio.run(ours(pages)(url))  # type: ignore[arg-type]
        print(peak_memory())


if __name__ == "__main__":
    Path("/proc/self/clear_refs").write_text("5")  # so that the peak begins here
    remember_memory()
