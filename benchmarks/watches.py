"""Many watches: what they cost, how late they start, and what a page of all of them costs, while every one succeeds."""

import asyncio
import gc
import math
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

from benchmarks.processes import listening
from benchmarks.row import Row, Size, Wrong
from exporter.clock import Clock
from exporter.collectors import discover
from exporter.config.loader import check
from exporter.exposition.page_cache import Pages
from exporter.exposition.text import Format, Lines
from exporter.metrics import self_metrics
from exporter.metrics.metric import Metric
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.fleet import Fleet


def watches(size: Size) -> Iterator[Row]:
    """Ledgers with their default collectors against a node that answers at once, in a process of its own."""
    with listening("benchmarks.ledger_node") as url:
        yield from asyncio.run(measure(url, size))


async def measure(url: str, size: Size) -> list[Row]:
    fleet = Fleet(discover(), RateLimits(), Clock())
    late: list[float] = []
    fleet.scheduler.on_start(lambda start: late.append(start.late))
    targets = {f"ledger-{index}": {"kind": "ledger", "url": url} for index in range(size.targets)}
    settings, errors = check({"targets": targets, "budget": {"rate": 1e6, "burst": 10**6}}, discover())
    if settings is None:
        raise Wrong(str(errors))
    fleet.start(settings)
    try:
        await asyncio.wait_for(fleet.first_round.wait(), 60)  # it opens the connections
        await asyncio.sleep(size.settle_seconds)
        late.clear()
        gc.collect()
        before, used, started = totals(fleet), time.process_time(), time.perf_counter()
        await asyncio.sleep(size.seconds)
        seconds = time.perf_counter() - started
        used = time.process_time() - used
        done = totals(fleet) - before
        judge(fleet, done, seconds)
        page = await paging(fleet, size)
    finally:
        await fleet.stop()
    requests, runs = done[self_metrics.REQUESTS], done[self_metrics.RUNS]
    p99 = sorted(late)[int(len(late) * 0.99)] * 1000
    name = f"{size.targets} ledgers, all succeeding: CPU of one core"
    return [
        Row(name, used / seconds * 100, "%", "<= 20", f"{runs} runs, {requests} requests, none missed or failed"),
        Row("  CPU of a request", used / requests * 1000, "ms"),
        Row("  99 of 100 runs start late by at most", p99, "ms", "<= 50", f"worst {max(late) * 1000:.0f} ms"),
        *page,
    ]


def totals(fleet: Fleet) -> Counter[Metric]:
    """Return the sums of the counters over all targets."""
    tallies = [each.counters for each in fleet.targets.values()] + [each.counters for each in fleet.statuses()]
    sums: Counter[Metric] = Counter()
    for counters in tallies:
        for sample in counters.samples():
            sums[sample.metric] += int(sample.value)
    return sums


def judge(fleet: Fleet, done: Counter[Metric], seconds: float) -> None:
    """Raise Wrong unless every watch succeeded, none was missed, and there were as many runs as are due."""
    bad = [each for each in fleet.statuses() if each.last is None or each.last.outcome != "ok" or each.remarks]
    if bad:
        last = bad[0].last
        why = "no run yet" if last is None else last.error or "; ".join(map(str, last.remarks))
        raise Wrong(f"{len(bad)} watches do not succeed; {bad[0].watch.key}: {why}")
    for counter, what in ((self_metrics.FAILURES, "failed"), (self_metrics.SKIPPED, "were missed")):
        if done[counter]:
            raise Wrong(f"{done[counter]} runs {what}")
    intervals = [each.watch.collector_config.interval.total_seconds() for each in fleet.statuses()]
    check_count(done[self_metrics.RUNS], sum(seconds / interval for interval in intervals), len(intervals))


def check_count(runs: int, due: float, watches: int) -> None:
    """Raise Wrong unless about so many runs are due; one more or less of each watch evens out over many."""
    if abs(runs - due) > max(0.1 * due, 3 * math.sqrt(watches)):
        raise Wrong(f"{runs} runs ended, where about {due:.0f} were due")


async def paging(fleet: Fleet, size: Size) -> list[Row]:
    """Measure the page of all watches after a change of each: its CPU, and how long the event loop waits."""
    pages, cpu, stalls, page = Pages(Clock()), [], [], b""
    for number in range(size.rounds):
        for status in fleet.statuses():
            if status.last:
                status.take(status.last)
        watcher, longest = watch_loop()
        before = time.process_time()
        page = await pages.get(number, lambda: 0, partial(lines_of, fleet), Format.TEXT_0, gzipped=True)
        cpu.append(time.process_time() - before)
        watcher.cancel()
        stalls.append(longest[0])
    pages.close()
    return [
        Row("  a page after every watch changed: CPU", statistics.median(cpu) * 1000, "ms", "<= 100", f"{len(page)} B"),
        Row("    longest stall of the event loop", statistics.median(stalls) * 1000, "ms", "<= 5"),
    ]


def lines_of(fleet: Fleet) -> list[Lines]:
    return [block.lines for block in fleet.blocks()]


def watch_loop() -> tuple[asyncio.Task[None], list[float]]:
    """Return what notes the longest time that the event loop did nothing for others."""
    longest = [0.0]

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest[0] = max(longest[0], time.perf_counter() - before)

    return asyncio.create_task(watch()), longest
