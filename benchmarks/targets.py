"""What one more target costs: the whole exporter with few and with many, on nodes of the built-in simulated network."""

import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from exporter.demo import demo_token
from exporter.simulator import Dialect, Kind, Network, NodeSpec

FEW, MANY = 10, 110
SETTLE_SECONDS = 75
SCRAPES, EVERY_SECONDS = 4, 15
FIRST_PORT = 10480
TICK = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """What a process uses: of a core, in thousandths, and memory in megabytes."""

    cpu: float
    memory: float


class Watched(NamedTuple):
    """So many targets of a kind, that are all one node."""

    kind: str
    url: str
    token: str
    number: int


def targets(row: Callable[..., None]) -> None:
    """Measure each kind of target by itself: default collectors at default intervals, scraped each 15 s."""
    token = demo_token()
    with simulated(token) as urls:
        costs = measured([Watched(kind, url, token, count) for kind, url in urls.items() for count in (FEW, MANY)])
    for kind, few, many in zip(urls, costs[::2], costs[1::2], strict=True):
        cpu = (many.cpu - few.cpu) / (MANY - FEW)
        memory = (many.memory - few.memory) / (MANY - FEW)
        row(f"one more {kind}: CPU", f"{cpu:.2f} m", "", f"{few.cpu:.0f} m with {FEW}, {many.cpu:.0f} m with {MANY}")
        row("  memory", f"{memory:.2f} MB", "", f"{few.memory:.0f} MB with {FEW}, {many.memory:.0f} MB with {MANY}")


def measured(exporters: list[Watched]) -> list[Cost]:
    """Run all exporters side by side, and measure each once its first round is over."""
    with tempfile.TemporaryDirectory() as folder:
        running = [start(Path(folder), FIRST_PORT + number, each) for number, each in enumerate(exporters)]
        try:
            time.sleep(SETTLE_SECONDS)
            before, started = [used_seconds(each.pid) for each in running], time.monotonic()
            for _ in range(SCRAPES):
                time.sleep(EVERY_SECONDS)
                for number in range(len(running)):
                    urllib.request.urlopen(f"http://127.0.0.1:{FIRST_PORT + number}/metrics").read()
            seconds = time.monotonic() - started
            used = [used_seconds(each.pid) - earlier for each, earlier in zip(running, before, strict=True)]
            return [Cost(cpu / seconds * 1000, memory(each.pid)) for cpu, each in zip(used, running, strict=True)]
        finally:
            for each in running:
                each.terminate()
            for each in running:
                each.wait()


def start(folder: Path, port: int, watched: Watched) -> subprocess.Popen[bytes]:
    node = {"kind": watched.kind, "url": watched.url, "role": "own"}
    target = node if watched.kind == Kind.SCAN else {**node, "auth": {"type": "bearer", "token": watched.token}}
    nodes = {f"node-{number}": target for number in range(watched.number)}
    config = folder / f"{port}.yaml"
    config.write_text(json.dumps({"budget": {"rate": 10_000, "burst": 10_000}, "targets": nodes}))
    flags = [f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    return subprocess.Popen([sys.executable, "-m", "exporter", *flags])


def used_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid: int) -> float:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def simulated(token: str) -> Iterator[dict[str, str]]:
    """Run one node of each kind in a process of its own; give their addresses."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=[theirs, token])
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def serve(pipe: "Connection[object, object]", token: str) -> None:
    asyncio.run(run(pipe, token))


async def run(pipe: "Connection[object, object]", token: str) -> None:
    kinds = (Kind.LEDGER, Kind.SCAN, Kind.VALIDATOR)
    specs = [
        NodeSpec(str(kind), kind, dialect=Dialect.V0_7_5, token=None if kind is Kind.SCAN else token) for kind in kinds
    ]
    network = Network(specs)
    await network.start()
    pipe.send({spec.name: network[spec.name].url for spec in specs})
    await asyncio.Event().wait()
