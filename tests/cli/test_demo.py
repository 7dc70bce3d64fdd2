"""The demo, as a user starts it: the whole exporter on the simulated network."""

import asyncio
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import aiohttp
import pytest
import yaml

from dashboards.source.rules import rules
from exporter.collectors import discover, metrics_of
from tests.nodes import free_port
from tests.panels import questions
from tests.promql import selectors

pytestmark = pytest.mark.slow  # and its ports are its own

PAGE = "http://127.0.0.1:{port}/metrics"
CONTROL = "http://127.0.0.1:10070"
PROMETHEUS = "http://127.0.0.1:10076"
LATE = {"canton_target_certificate_expiry_timestamp_seconds", "canton_down_info"}  # no TLS on loopback; all are up

# What a healthy demo has no series of in its first minutes, and why.
SILENT = {
    "canton_target_certificate_expiry_timestamp_seconds": "there is no TLS on loopback",
    "canton_collector_failure_info": "no question fails",
    "canton_collector_failures_total": "no question has failed",
    "canton_transfer_command_oldest_timestamp_seconds": "none is under way, but for moments",
    "canton:ledger_stuck": "it looks back 45 minutes",
    "canton:network_advances": "it looks back ten minutes",
    "canton:traffic_runway_seconds": "it looks back an hour",
    "canton:template_backlog_limit_seconds": "who wants limits records them",
}


RULES = [rule for group in yaml.safe_load(rules(switched_on=True))["groups"] for rule in group["rules"]]


class Demo:
    """A demo that runs, and its page."""

    def __init__(self, process: asyncio.subprocess.Process, session: aiohttp.ClientSession, port: int) -> None:
        self.process = process
        self.session = session
        self.port = port

    async def page(self) -> str:
        async with self.session.get(PAGE.format(port=self.port)) as answer:
            return await answer.text()

    async def link(self, title: str) -> str:
        """Return the address that the welcome gives for something."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            if title in line.decode():
                return line.split()[0].decode()
        pytest.fail(f"the welcome has no {title!r}")

    async def query(self, expression: str) -> list[dict[str, Any]]:
        """Return what the demo's Prometheus answers; pytest fails if it cannot be asked so."""
        async with self.session.get(f"{PROMETHEUS}/api/v1/query", params={"query": expression}) as answer:
            body = await answer.json()
        assert body["status"] == "success", f"{expression}: {body}"
        series: list[dict[str, Any]] = body["data"]["result"]
        return series

    async def answered_all(self, expressions: Iterable[str]) -> None:
        """Ask until each expression has had data, for half a minute at most."""
        waiting = list(dict.fromkeys(expressions))
        for _ in range(60):
            waiting = [each for each in waiting if not await self.query(each)]
            if not waiting:
                return
            await asyncio.sleep(0.5)
        pytest.fail(f"no data for: {waiting}")

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
    for port in range(10070, 10077):
        with socket.socket() as taken:
            if taken.connect_ex(("127.0.0.1", port)) == 0:
                pytest.fail(f"port {port} is taken; does a demo run already?")
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "exporter", "demo", f"--web.listen-address=127.0.0.1:{port}"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    async with aiohttp.ClientSession() as session:
        yield Demo(process, session, port)
    if process.returncode is None:
        process.send_signal(signal.SIGHUP)  # as a terminal does that is closed
    _, errors = await process.communicate()
    assert process.returncode == 0
    assert b"Traceback" not in errors
    assert b"Warning" not in errors


def series(page: str, name: str, **labels: str) -> dict[str, float]:
    lines = (line for line in page.splitlines() if line.split("{")[0] == name)
    chosen = (line for line in lines if all(f'{key}="{value}"' in line for key, value in labels.items()))
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in chosen}


async def test_metrics_panels_and_rules_have_data_and_a_stopped_node_does_not_take_others_along(demo: Demo) -> None:
    expected = {metric.name for name in discover() for metric in metrics_of(name)} - LATE
    first = await demo.page_when(lambda page: all(f"\n{name}" in page for name in expected))
    assert await check_metrics(first) == ""
    ends = series(first, "canton_ledger_end_offset")
    assert len(ends) == 2
    assert {round(lag) < 60 for lag in series(first, "canton_ledger_lag_seconds").values()} == {True}
    async with demo.session.get(await demo.link("Prometheus, with the rules and alerts loaded")) as answer:
        assert (answer.status, answer.content_type) == (200, "text/html")

    await demo.answered_all(question.expression for question in questions() if question.silence is None)
    for rule in RULES:
        await demo.query(rule["expr"])
    read = {selector.name for rule in RULES for selector in selectors(rule["expr"])} - {"up"}
    await demo.answered_all(sorted(read - SILENT.keys()))
    assert SILENT.keys() <= read | LATE, "what is not read needs no excuse"

    async with demo.session.post(f"http://127.0.0.1:{demo.port}/-/reload") as answer:
        assert answer.status == 403, "the demo has no configuration file"

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
