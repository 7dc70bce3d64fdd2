"""Pages: rendering them against the library, the event loop meanwhile, and a scrape against sending the same bytes."""

import asyncio
import gzip
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator

import aiohttp
from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from benchmarks.row import Row, Size, Wrong, median_of
from exporter.clock import Clock
from exporter.exposition.page_cache import Pages
from exporter.exposition.text import Format, Lines, write_page
from exporter.metrics.metric import Metric, Sample

THING = Metric("canton_bench_things", "Things.", ("contract", "template"))
COMMON = {"target": "my-participant", "network": "mainnet", "role": "own"}


def samples(size: Size) -> list[Sample]:
    return [THING.sample(index, contract=f"00{index:08x}", template="pkg:Mod:Ent") for index in range(size.series)]


def rendering(size: Size) -> Iterator[Row]:
    """A page by the library and by us: all anew, and joined from lines that stand."""
    registry, said = CollectorRegistry(), samples(size)
    gauge = Gauge(THING.name, THING.help, [*THING.labels, *COMMON], registry=registry)
    for sample in said:
        gauge.labels(*sample.labels, *COMMON.values()).set(sample.value)
    lines = Lines(said, COMMON)
    if len(write_page([lines], Format.TEXT_0)) != len(generate_latest(registry)):
        raise Wrong("the page is not what the library would write")
    library = median_of(lambda: generate_latest(registry), size.rounds)
    anew = median_of(lambda: write_page([Lines(said, COMMON)], Format.TEXT_0), size.rounds)
    joined = median_of(lambda: write_page([lines], Format.TEXT_0), size.rounds)
    yield Row(f"{size.series} series rendered anew, against the library", anew / library, note=f"{anew * 1000:.1f} ms")
    yield Row("  joined from lines that stand", joined / library, note=f"{joined * 1000:.2f} ms")


def stalling(size: Size) -> Iterator[Row]:
    """How long the event loop waits while a page of new series is made."""
    said = samples(size)

    async def by_thread() -> None:
        pages = Pages(Clock())
        await pages.get("page", lambda: 0, lambda: [Lines(said, COMMON)], Format.TEXT_0, gzipped=True)
        pages.close()

    async def inline() -> None:
        gzip.compress(write_page([Lines(said, COMMON)], Format.TEXT_0), 6)

    ratio = asyncio.run(longest_wait(by_thread, size)) / asyncio.run(longest_wait(inline, size))
    yield Row(f"longest stall of the loop while {size.series} series render, against inline", ratio, target="<= 0.2")


async def longest_wait(work: Callable[[], Awaitable[None]], size: Size) -> float:
    waits: list[float] = []

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            waits[-1] = max(waits[-1], time.perf_counter() - before)

    watcher = asyncio.create_task(watch())
    for _ in range(size.rounds + 2):
        waits.append(0.0)
        await asyncio.sleep(0)
        await work()
        await asyncio.sleep(0)
    watcher.cancel()
    return statistics.median(waits)


def scraping(size: Size) -> Iterator[Row]:
    """A warm scrape against a handler that only sends the same bytes."""
    yield from asyncio.run(scrapes(size))


async def scrapes(size: Size) -> list[Row]:
    pages, lines = Pages(Clock()), Lines(samples(size), COMMON)
    ready = await pages.get("page", lambda: 0, lambda: [lines], Format.TEXT_0, gzipped=True)
    headers = {"Content-Encoding": "gzip", "Content-Type": Format.TEXT_0.value}

    async def cached(request: web.Request) -> web.Response:
        body = await pages.get("page", lambda: 0, lambda: [lines], Format.TEXT_0, gzipped=True)
        return web.Response(body=body, headers=headers)

    async def plain(request: web.Request) -> web.Response:
        return web.Response(body=ready, headers=headers)

    app = web.Application()
    app.router.add_get("/cached", cached)
    app.router.add_get("/plain", plain)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    times: dict[str, list[float]] = {"/cached": [], "/plain": []}
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        for _ in range(60 * size.rounds):
            for path, spent in times.items():
                started = time.perf_counter()
                async with session.get(f"http://127.0.0.1:{runner.addresses[0][1]}{path}") as answer:
                    if await answer.read() != ready:
                        raise Wrong("a scrape is not the page that was made")
                spent.append(time.perf_counter() - started)
    await runner.cleanup()
    pages.close()
    ratio = statistics.median(times["/cached"]) / statistics.median(times["/plain"])
    return [Row(f"warm scrape of {size.series} series, against sending the same bytes", ratio, target="<= 4")]
