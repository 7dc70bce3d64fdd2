"""How long the command takes to its first page, and what it weighs while it does nothing."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.processes import exporter, megabytes, running
from benchmarks.row import Row, Size, median_of

PORT = 10466
IMPORTS = "import aiohttp, aiohttp.web, apscheduler.schedulers.asyncio, msgspec, prometheus_client, pydantic_settings"
"""What a server of this kind cannot do without."""


def starting(size: Size) -> Iterator[Row]:
    nothing = median_of(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), size.rounds)
    imports = median_of(lambda: subprocess.run([sys.executable, "-c", IMPORTS], check=True), size.rounds)
    version = [sys.executable, "-m", "exporter", "--version"]
    asked = median_of(lambda: subprocess.run(version, check=True, stdout=subprocess.DEVNULL), size.rounds)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "exporter.yaml"
        config.write_text("targets: {a: {kind: ledger, url: 'http://127.0.0.1:9'}}")
        times, memory = [], []
        for _ in range(size.rounds):
            started = time.perf_counter()
            with running(exporter(config, PORT), f"http://127.0.0.1:{PORT}/metrics") as process:
                times.append(time.perf_counter() - started)
                memory.append(megabytes(process.pid))
    first = statistics.median(times)
    yield Row("start to first page, against importing what a server needs", first / imports, target="<= 1.3")
    yield Row("  against python -c pass", first / nothing, note=f"{first * 1000:.0f} ms")
    yield Row("--version, against python -c pass", asked / nothing, target="<= 4")
    yield Row("idle memory", statistics.median(memory), "MB", "<= 60")
