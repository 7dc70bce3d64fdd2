"""Measures a count of active contracts: against the script a user writes, against curl to nowhere, and its memory."""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.node import CONTRACTS, TAKEN
from exporter.budget import Budgets
from exporter.clock import Clock
from exporter.collector import Yielded
from exporter.collectors import discover
from exporter.collectors.acs import CONTRACTS as COUNTED
from exporter.configuration import check
from exporter.connection import Connection
from exporter.runner import Watch

PAGES = 200
ROUNDS = 5
TEMPLATES = [f"splice-amulet:Splice.Amulet:Amulet{number}" for number in range(8)]

Count = Callable[[str], Awaitable[None]]


@contextmanager
def node(pages: int, think: float = 0.0) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.node", str(pages), str(think)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield f"http://127.0.0.1:{process.stdout.readline().strip() if process.stdout else 0}"
    process.terminate()
    process.wait()


def ours(pages: int, encoding: str = "identity", **options: Any) -> Count:
    """Return what counts as the exporter does, the whole way from the watch to its run."""

    async def count(url: str) -> None:
        target = {"kind": "scan", "role": "own", "url": url, "headers": {"Accept-Encoding": encoding}}
        target["collectors"] = {"acs": {"options": options}}
        settings, faults = check({"targets": {"scan": target}, "budget": {"rate": 1e6, "burst": 10**6}}, discover())
        if settings is None:
            raise ValueError(faults)
        configured = settings.targets["scan"]
        connection = Connection("scan", configured.target, Budgets(), settings.budget, Clock())
        watch = Watch("scan", configured.target, discover()["acs"], configured.schedules["acs"])
        run = await connection.run(watch, Yielded())
        await connection.close()
        total = sum(sample.value for sample in run.yielded.of(COUNTED))
        if total != pages * CONTRACTS:
            raise ValueError(f"{total} contracts, {run.error}")

    return count


async def by_script(url: str) -> None:
    """Count as the script does that a user writes."""
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
    if counts.total() != PAGES * CONTRACTS:
        raise ValueError(counts)


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
                raise ValueError("curl failed")

    return take


def compare(url: str, *counts: Count, rounds: int = ROUNDS) -> list[float]:
    """Return the median seconds of each, taken in turns."""
    times: list[list[float]] = [[] for _ in counts]
    for _ in range(rounds):
        for count, spent in zip(counts, times, strict=True):
            started = time.perf_counter()
            asyncio.run(count(url))  # type: ignore[arg-type]
            spent.append(time.perf_counter() - started)
    return [statistics.median(spent) for spent in times]


def counting(row: Callable[..., None]) -> None:
    with node(PAGES) as url:
        mine, script, curl = compare(url, ours(PAGES), by_script, by_curl(PAGES))
        row("count of contracts, against aiohttp and json", f"{mine / script:.2f}", "<= 0.25", per_million(mine))
        row("  against curl to nowhere", f"{mine / curl:.1f}", "<= 3.5")
        mine, curl = compare(url, ours(PAGES, "gzip"), by_curl(PAGES, "compressed"))
        row("  the same, with gzip", f"{mine / curl:.2f}", "<= 1.6", per_million(mine))
    with node(160, 0.02) as url:
        mine, curl, many = compare(url, ours(160), by_curl(160), ours(160, templates=TEMPLATES, cursors=8), rounds=3)
        row("  against curl, where the node thinks for 20 ms a page", f"{mine / curl:.2f}", "<= 1.15")
        row("  8 cursors against 1, where it thinks", f"{mine / many:.1f} x", ">= 6")
    idle, few, most = (int(text) for text in subprocess.check_output([sys.executable, "-m", __name__]).split())
    row("  peak memory of 4 M contracts, over idle", f"{(most - idle) / 1024:.1f} MB", "<= 12 MB")
    row("  the same, over that of 100 k", f"{(most - few) / 1024:.1f} MB", "<= 5 MB")


def per_million(seconds: float) -> str:
    return f"{seconds * 1e6 / PAGES / CONTRACTS:.2f} s a million"


def peak_memory() -> int:
    """Return the most memory this process had since its peak was reset, in kB."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])


def remember_memory() -> None:
    print(peak_memory())
    for pages in (100, 4_000):
        with node(pages) as url:
            asyncio.run(ours(pages)(url))  # type: ignore[arg-type]
        print(peak_memory())


if __name__ == "__main__":
    Path("/proc/self/clear_refs").write_text("5")  # so that the peak begins here
    remember_memory()
