"""The demo, as a user starts it: the whole exporter on the simulated network."""

import asyncio
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest

from exporter.collectors import discover, metrics_of

PAGE = "http://127.0.0.1:{port}/metrics"
CONTROL = "http://127.0.0.1:10070"
LATE = {"canton_target_certificate_expiry_timestamp_seconds"}  # there is no TLS on loopback


class Demo:
    """A demo that runs, and its page."""

    def __init__(self, process: asyncio.subprocess.Process, session: aiohttp.ClientSession, port: int) -> None:
        self.process = process
        self.session = session
        self.port = port

    async def page(self) -> str:
        async with self.session.get(PAGE.format(port=self.port)) as answer:
            return await answer.text()

    async def page_when(self, holds: Callable[[str], object]) -> str:
        """Return the first page on which something holds; the test's time limit ends it if none does."""
        while self.process.returncode is None:
            try:
                page = await self.page()
                if holds(page):
                    return page
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.2)
        pytest.fail("the demo ended")


@pytest.fixture
async def demo() -> AsyncIterator[Demo]:
    for port in range(10070, 10076):
        with socket.socket() as taken:
            if taken.connect_ex(("127.0.0.1", port)) == 0:
                pytest.fail(f"port {port} is taken; does a demo run already?")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "exporter", "demo", f"--web.listen-address=127.0.0.1:{port}"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with aiohttp.ClientSession() as session:
        yield Demo(process, session, port)
    if process.returncode is None:
        process.send_signal(signal.SIGINT)
    _, errors = await process.communicate()
    assert process.returncode == 0
    assert b"Traceback" not in errors
    assert b"Warning" not in errors


def series(page: str, name: str, **labels: str) -> dict[str, float]:
    lines = (line for line in page.splitlines() if line.split("{")[0] == name)
    chosen = (line for line in lines if all(f'{key}="{value}"' in line for key, value in labels.items()))
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in chosen}


@pytest.mark.timeout(60)
async def test_every_metric_is_there_and_moves_and_a_stopped_node_does_not_take_the_others_along(demo: Demo) -> None:
    expected = {metric.name for name in discover() for metric in metrics_of(name)} - LATE
    first = await demo.page_when(lambda page: all(f"\n{name}" in page for name in expected))
    assert await check_metrics(first) == ""
    ends = series(first, "canton_ledger_end_offset")
    assert len(ends) == 2
    assert {round(lag) < 60 for lag in series(first, "canton_ledger_lag_seconds").values()} == {True}

    async with demo.session.put(f"{CONTROL}/nodes/my-participant/fault", json={"kind": "down"}) as answer:
        assert answer.status == 200
    is_down = await demo.page_when(
        lambda page: (
            0.0 in series(page, "canton_up", target="my-participant").values()
            and series(page, "canton_collector_failure_info", collector="ledger_offsets")
        )
    )
    assert sorted(series(is_down, "canton_up").values()) == [0.0, 1.0, 1.0, 1.0, 1.0]
    moved = series(is_down, "canton_ledger_end_offset", target="my-next-participant")
    assert all(moved[name] > ends[name] for name in moved)

    async with demo.session.delete(f"{CONTROL}/nodes/my-participant/fault") as answer:
        assert answer.status == 200
    await demo.page_when(lambda page: sorted(series(page, "canton_up").values()) == [1.0] * 5)


async def check_metrics(page: str) -> str:
    """Return what promtool finds wrong with a page."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not here; Debian's package prometheus has it")
    process = await asyncio.create_subprocess_exec(
        *(promtool, "check", "metrics"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate(page.encode())
    return output.decode()
