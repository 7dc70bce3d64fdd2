"""Programs that a benchmark runs beside itself: nodes, the exporter, others; and what they use."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.row import Wrong

TICK = os.sysconf("SC_CLK_TCK")
START_SECONDS = 30.0


@contextmanager
def listening(module: str, *arguments: str) -> Iterator[str]:
    """Run a module that prints its port once it listens; give its address."""
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        port = process.stdout.readline().strip() if process.stdout else ""
        if not port.isdigit():
            raise Wrong(f"{module} did not start")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def running(command: Sequence[str], answers: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program whose log nobody needs, from when it answers at an address."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(process, answers)
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_for(process: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            fetch(address)
        except OSError as error:
            if process.poll() is not None or time.monotonic() > until:
                raise Wrong(f"{address} does not answer: {error}") from error
            time.sleep(0.005)
        else:
            return


def fetch(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=START_SECONDS) as answer:  # noqa: S310 - http, on loopback
        body: bytes = answer.read()
    return body


def exporter(config: Path, port: int) -> list[str]:
    """Return the command that runs the exporter without a word."""
    flags = [f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    return [sys.executable, "-m", "exporter", *flags]


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def megabytes(pid: int) -> float:
    """Return the memory that a process has now."""
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024
