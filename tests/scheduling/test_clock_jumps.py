"""The wall clock jumps, or the process is stopped, and runs go on evenly: a real exporter under libfaketime."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest

from exporter.collectors import discover
from exporter.config.models import Kind
from tests.nodes import TestNode, free_port

COMMAND = Path(sys.executable).with_name("canton-exporter")
[*LIBRARIES] = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
INTERVAL = 0.25
YEAR = 365 * 86400
JUMPS = (1, -1, 60, -60, 3600, -3600, 86400, -86400, YEAR, -YEAR, 10 * YEAR, -10 * YEAR)

OFF = {name for name, each in discover().items() if each.on_by_default and Kind.SCAN in each.kinds} - {
    "feature_support"
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not LIBRARIES, reason="libfaketime is not installed: apt install faketime"),
]


class Exporter:
    """An exporter whose wall clock can be set while it runs."""

    def __init__(self, node: TestNode, url: str, offset: Path, process: asyncio.subprocess.Process) -> None:
        self.node = node
        self.url = url
        self.process = process
        self._offset = offset

    def set_ahead(self, seconds: float) -> None:
        """Set its wall clock so many seconds ahead of the true one."""
        replacement = self._offset.with_suffix(".new")
        replacement.write_text(f"{seconds:+d}s\n")
        replacement.replace(self._offset)

    async def runs(self, count: int, within: float) -> None:
        """Wait until the node was asked so many times more; fail if that takes longer than `within` seconds."""
        enough = len(self.node.requests) + count
        async with asyncio.timeout(within):
            while len(self.node.requests) < enough:  # noqa: ASYNC110 - the node counts, and has no event
                await asyncio.sleep(0.02)

    async def get(self, path: str) -> tuple[int, str]:
        async with aiohttp.ClientSession() as session, session.get(f"{self.url}{path}") as response:
            return response.status, await response.text()


Begin = Callable[[int], Awaitable[Exporter]]


@pytest.fixture
async def begin(tmp_path: Path, node: TestNode) -> AsyncIterator[Begin]:
    """Return a function that starts an exporter with so many watches of one node, under libfaketime."""
    processes: list[asyncio.subprocess.Process] = []

    async def begin(watches: int) -> Exporter:
        node.answer_everything(answers={"dummy": True})
        collectors = ", ".join(["feature_support: {interval: 250ms}", *(f"{name}: {{enabled: false}}" for name in OFF)])
        target = f"{{kind: scan, role: own, url: '{node.url}', collectors: {{{collectors}}}}}"
        targets = [f"  t{number}: {target}" for number in range(watches)]
        text = "budget: {rate: 10000, burst: 10000}\ntargets:\n" + "\n".join(targets)
        (tmp_path / "exporter.yaml").write_text(text)
        (tmp_path / "offset").write_text("+0s\n")
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            COMMAND,
            "--config.file=exporter.yaml",
            f"--web.listen-address=127.0.0.1:{port}",
            cwd=tmp_path,
            stderr=asyncio.subprocess.DEVNULL,
            env={
                **os.environ,
                "LD_PRELOAD": str(LIBRARIES[0]),
                "FAKETIME_TIMESTAMP_FILE": str(tmp_path / "offset"),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            },
        )
        processes.append(process)
        exporter = Exporter(node, f"http://127.0.0.1:{port}", tmp_path / "offset", process)
        await exporter.runs(watches, within=60)
        return exporter

    yield begin
    for process in processes:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("watches", [1, 100])
async def test_runs_go_on_evenly_however_the_wall_clock_jumps(begin: Begin, watches: int) -> None:
    exporter = await begin(watches)
    for seconds in JUMPS:
        exporter.set_ahead(seconds)
        before = asyncio.get_running_loop().time()
        await exporter.runs(8 * watches, within=30)
        # 8 rounds take 2 s: not much less, since nothing is made up for, and the machine may be slow.
        assert asyncio.get_running_loop().time() - before > 6 * INTERVAL, seconds
        assert (await exporter.get("/-/healthy"))[0] == 200
    _, page = await exporter.get("/metrics")
    assert 'canton_collector_success{collector="feature_support"' in page
    assert "canton_feature_supported" in page, "values stay on the page"


async def test_after_a_stop_each_watch_runs_once_and_then_as_before(begin: Begin) -> None:
    exporter = await begin(10)
    exporter.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(5)
    stopped = len(exporter.node.requests)
    exporter.process.send_signal(signal.SIGCONT)
    assert (await exporter.get("/-/healthy"))[0] == 200
    before = asyncio.get_running_loop().time()
    await exporter.runs(stopped + 10 * 9 - len(exporter.node.requests), within=30)
    assert asyncio.get_running_loop().time() - before > 5 * INTERVAL, "20 runs were missed, and are not made up for"
