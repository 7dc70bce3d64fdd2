"""Measures speed as ratios within one run: machines are noisy, and a number alone says little."""

import asyncio
import gzip
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
from aiohttp import web
from apscheduler.events import EVENT_JOB_SUBMITTED, JobSubmissionEvent
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from benchmarks.counting import counting
from benchmarks.targets import targets
from exporter.budget import Budgets
from exporter.clock import Clock
from exporter.collectors import discover
from exporter.commands import raise_file_limit
from exporter.configuration import check
from exporter.exposition import Format, Lines, Pages, write_page
from exporter.fleet import Fleet
from exporter.metric import Metric

SERIES = 10_000
THING = Metric("canton_bench_things", "Things.", ("contract", "template"))
COMMON = {"target": "my-participant", "network": "mainnet", "role": "own"}
SAMPLES = [THING.sample(index, contract=f"00{index:08x}", template="pkg:Mod:Ent") for index in range(SERIES)]
TARGETS, SECONDS = 1_000, 45


def row(name: str, figure: str, target: str = "", measured: str = "") -> None:
    print(f"{name:<62} {figure:>9}  {target:<9} {measured}", flush=True)


def median_of(function: Callable[[], object], rounds: int = 9) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def rendering() -> None:
    """A page of 10 000 series, by the library and by us: all anew, and joined from lines that stand."""
    registry = CollectorRegistry()
    gauge = Gauge(THING.name, THING.help, [*THING.labels, *COMMON], registry=registry)
    for sample in SAMPLES:
        gauge.labels(*sample.labels, *COMMON.values()).set(sample.value)
    lines = Lines(SAMPLES, COMMON)
    library = median_of(lambda: generate_latest(registry))
    anew = median_of(lambda: write_page([Lines(SAMPLES, COMMON)], Format.TEXT_0))
    joined = median_of(lambda: write_page([lines], Format.TEXT_0))
    row("10k series rendered anew, against the library", f"{anew / library:.2f}", "", f"{anew * 1000:.1f} ms")
    row("10k series joined from lines, against the library", f"{joined / library:.3f}", "", f"{joined * 1000:.2f} ms")


async def stalling() -> None:
    """How long the event loop waits while a page of 10 000 new series is made."""

    async def by_thread() -> None:
        pages = Pages(Clock())
        await pages.get("page", lambda: 0, lambda: [Lines(SAMPLES, COMMON)], Format.TEXT_0, packed=True)
        pages.close()

    async def inline() -> None:
        gzip.compress(write_page([Lines(SAMPLES, COMMON)], Format.TEXT_0), 6)

    ratio = await longest_wait(by_thread) / await longest_wait(inline)
    row("longest stall of the loop while 10k series render, against inline", f"{ratio:.2f}", "<= 0.2")


async def longest_wait(work: Callable[[], Awaitable[None]]) -> float:
    waits: list[float] = []

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            waits[-1] = max(waits[-1], time.perf_counter() - before)

    watcher = asyncio.create_task(watch())
    for _ in range(7):
        waits.append(0.0)
        await asyncio.sleep(0)
        await work()
        await asyncio.sleep(0)
    watcher.cancel()
    return statistics.median(waits)


async def scraping() -> None:
    """A warm scrape of 10 000 series against a handler that only sends the same bytes."""
    pages, lines = Pages(Clock()), Lines(SAMPLES, COMMON)
    ready = await pages.get("page", lambda: 0, lambda: [lines], Format.TEXT_0, packed=True)
    headers = {"Content-Encoding": "gzip", "Content-Type": Format.TEXT_0.value}

    async def cached(request: web.Request) -> web.Response:
        body = await pages.get("page", lambda: 0, lambda: [lines], Format.TEXT_0, packed=True)
        return web.Response(body=body, headers=headers)

    async def plain(request: web.Request) -> web.Response:
        return web.Response(body=ready, headers=headers)

    app = web.Application()
    app.router.add_get("/cached", cached)
    app.router.add_get("/plain", plain)
    times: dict[str, list[float]] = {"/cached": [], "/plain": []}
    async with serving(app) as url, aiohttp.ClientSession(auto_decompress=False) as session:
        for _ in range(300):
            for path, spent in times.items():
                started = time.perf_counter()
                async with session.get(url + path) as answer:
                    await answer.read()
                spent.append(time.perf_counter() - started)
    ratio = statistics.median(times["/cached"]) / statistics.median(times["/plain"])
    row("warm scrape of 10k series, against sending the same bytes", f"{ratio:.2f}", "", f"{pages.rendered} render")
    pages.close()


class serving:  # noqa: N801 - reads as `async with serving(app) as url`
    def __init__(self, app: web.Application) -> None:
        self._runner = web.AppRunner(app, access_log=None)

    async def __aenter__(self) -> str:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()


NODE = r"""
import asyncio
BODY = b'{"offset": 7, "synchronizerTimes": [], "dummy": true}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
async def answer(reader, writer):
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


async def fleeting() -> None:
    """3 000 watches every 15 s, against a node that answers at once in a process of its own."""
    node = subprocess.Popen([sys.executable, "-c", NODE], stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    port = int(node.stdout.readline() if node.stdout else 0)
    every = {"interval": "15s"}
    target = {
        "kind": "scan",
        "role": "own",
        "url": f"http://127.0.0.1:{port}",
        "collectors": {"feature_support": every},
    }
    ledger = {"kind": "ledger", "url": f"http://127.0.0.1:{port}"}
    targets = {f"n{index}": ledger if index % 2 else target for index in range(TARGETS * 3 // 2)}
    settings, faults = check({"targets": targets, "budget": {"rate": 1e6, "burst": 10**6}}, discover())
    if settings is None:
        raise ValueError(faults)
    fleet = Fleet(discover(), Budgets(), Clock())
    late: list[float] = []

    def submitted(event: JobSubmissionEvent) -> None:
        late.extend(time.time() - due.timestamp() for due in event.scheduled_run_times)

    fleet.scheduler.add_listener(submitted, EVENT_JOB_SUBMITTED)
    fleet.start(settings)
    await asyncio.sleep(15)  # the first round opens connections
    late.clear()
    used, started = time.process_time(), time.perf_counter()
    await asyncio.sleep(SECONDS - 15)
    share = (time.process_time() - used) / (time.perf_counter() - started)
    watches = [standing for standing in fleet.standings() if standing.last]
    missed = sum(sample.value for each in watches for sample in each.tally.samples() if "skipped" in sample.metric.name)
    failed = sum(each.last is not None and each.last.reason is not None for each in watches)
    p99 = sorted(late)[int(len(late) * 0.99)] * 1000
    name = f"{len(watches)} watches at 15 s: CPU of one core"
    row(name, f"{share:.0%}", "<= 30 %", f"{len(late)} runs, {missed:.0f} missed, {failed} failing")
    row("  p99 late", f"{p99:.1f} ms", "<= 50 ms", f"worst {max(late) * 1000:.0f} ms")
    await fleet.stop()
    node.terminate()
    node.wait()


def starting() -> None:
    """The whole command, from its start to its first page, against Python doing nothing."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "exporter.yaml"
        config.write_text("targets: {a: {kind: ledger, url: 'http://127.0.0.1:9'}}")
        nothing = median_of(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
        times, memory = [], 0
        for _ in range(5):
            started = time.perf_counter()
            process, memory = first_page(config)
            times.append(time.perf_counter() - started)
            process.terminate()
            process.wait()
    row("start to first page, against python -c pass", f"{statistics.median(times) / nothing:.0f}", "<= 25")
    row("idle memory", f"{memory / 1024:.0f} MB", "<= 60 MB")


def first_page(config: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start the exporter; return it when it has served a page, with its memory in kB."""
    address = "127.0.0.1:10466"
    command = [sys.executable, "-m", "exporter", f"--config.file={config}", f"--web.listen-address={address}"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while subprocess.run(["curl", "-sfo", "/dev/null", f"http://{address}/metrics"], check=False).returncode:
        time.sleep(0.005)
    status = Path(f"/proc/{process.pid}/status").read_text()
    return process, int(status.split("VmRSS:")[1].split()[0])


def main() -> None:
    raise_file_limit()
    rendering()
    for measure in (stalling, scraping, fleeting):
        asyncio.run(measure())
    counting(row)
    starting()
    targets(row)


if __name__ == "__main__":
    main()
