"""What one more target costs: the whole exporter with few and with many, on nodes of the built-in simulated network."""

import asyncio
import json
import multiprocessing
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import cpu_seconds, exporter, fetch, megabytes, running
from benchmarks.row import Row, Size, Wrong
from exporter.cli.demo import demo_token
from exporter.simulator import Dialect, Kind, Network, NodeSpec

SCRAPES = 4
FIRST_PORT = 10480


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


def targets(size: Size) -> Iterator[Row]:
    """Measure each kind of target by itself: default collectors at default intervals, scraped each 15 s."""
    token = demo_token()
    counts = few_of, many_of = max(1, size.targets // 100), size.targets // 10 + size.targets // 100 + 1
    with simulated(token) as urls:
        exporters = [Watched(kind, url, token, count) for kind, url in urls.items() for count in counts]
        costs = measured(exporters, size)
    for kind, few, many in zip(urls, costs[::2], costs[1::2], strict=True):
        more = many_of - few_of
        note = f"{few.cpu:.0f} m with {few_of}, {many.cpu:.0f} m with {many_of}"
        yield Row(f"one more {kind}: CPU, in thousandths of a core", (many.cpu - few.cpu) / more, "m", note=note)
        note = f"{few.memory:.0f} MB with {few_of}, {many.memory:.0f} MB with {many_of}"
        yield Row("  memory", (many.memory - few.memory) / more, "MB", note=note)


def measured(exporters: list[Watched], size: Size) -> list[Cost]:
    """Run all exporters side by side, and measure each once its first round is over."""
    seconds = size.seconds * 2
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ports = range(FIRST_PORT, FIRST_PORT + len(exporters))
        configs = [write(Path(folder), port, each) for port, each in zip(ports, exporters, strict=True)]
        commands = [exporter(config, port) for port, config in zip(ports, configs, strict=True)]
        pages = [f"http://127.0.0.1:{port}/metrics" for port in ports]
        started = [stack.enter_context(running(*each)) for each in zip(commands, pages, strict=True)]
        time.sleep(size.settle_seconds * 3)
        before = [cpu_seconds(each.pid) for each in started]
        for _ in range(SCRAPES):
            time.sleep(seconds / SCRAPES)
            for page in pages:
                judge(fetch(page).decode())
        used = [cpu_seconds(each.pid) - earlier for each, earlier in zip(started, before, strict=True)]
        return [Cost(cpu / seconds * 1000, megabytes(each.pid)) for cpu, each in zip(used, started, strict=True)]


def judge(page: str) -> None:
    """Raise Wrong unless every watch of a page succeeded."""
    failing = re.findall(r"^canton_collector_failure_info\{.*", page, re.MULTILINE)
    if failing or "canton_collector_success{" not in page:
        raise Wrong(f"{len(failing)} watches fail, such as {failing[0] if failing else 'all: none has run'}")


def write(folder: Path, port: int, watched: Watched) -> Path:
    node = {"kind": watched.kind, "url": watched.url, "role": "own"}
    target = node if watched.kind == Kind.SCAN else {**node, "auth": {"type": "bearer", "token": watched.token}}
    nodes = {f"node-{number}": target for number in range(watched.number)}
    config = folder / f"{port}.yaml"
    config.write_text(json.dumps({"budget": {"rate": 10_000, "burst": 10_000}, "targets": nodes}))
    return config


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
