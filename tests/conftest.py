"""What most tests need: a clock to advance, a node that answers what it was told, and the lines made of it."""

import os
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import trustme

from exporter.clock import Clock
from exporter.collector import Collector
from exporter.config.loader import check
from exporter.config.models import Budget, Kind, NoAuth, TargetConfig
from exporter.exposition.text import render
from exporter.metrics import self_metrics
from exporter.metrics.counters import Counters
from exporter.node.auth import Auth, NoToken, make_auth
from exporter.node.client import Node
from exporter.node.rate_limit import RateLimits, Share
from exporter.node.transport import Transport
from exporter.scheduling.runner import run
from exporter.scheduling.watch import Outcome, Run, Watch
from exporter.scheduling.watch_status import WatchStatus
from tests.nodes import TestNode

NOW = 1_795_240_000.0  # 2026-11-21T05:46:40Z
Connect = Callable[..., Transport]


class FakeClock(Clock):
    """A clock that stands until it is advanced."""

    def __init__(self) -> None:
        self._seconds = NOW

    def now(self) -> float:
        return self._seconds

    def monotonic(self) -> float:
        return self._seconds

    def advance(self, seconds: float) -> None:
        self._seconds += seconds


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no proxy or setting of the machine reach into a test."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("CANTON_EXPORTER_"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a question that failed for a moment be asked again at once."""
    monkeypatch.setattr("exporter.node.client.RETRY_SECONDS", (0.0, 0.0, 0.0))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@asynccontextmanager
async def running_node() -> AsyncIterator[TestNode]:
    """Run a node that fails the test for anything else it was asked, and for any answer never asked for."""
    node = await TestNode().start()
    yield node
    await node.stop()
    node.check()


@pytest.fixture
async def node() -> AsyncIterator[TestNode]:
    async with running_node() as node:
        yield node


@pytest.fixture
def counters() -> Counters:
    return Counters([self_metrics.THROTTLED, self_metrics.BUDGET_WAIT])


@pytest.fixture
async def connect(clock: FakeClock, counters: Counters) -> AsyncIterator[Connect]:
    """Return a function that opens a transport to a url; all are closed in the end."""
    opened = []

    def connect(url: str | None, budget: Budget | None = None, **settings: Any) -> Transport:
        target = TargetConfig.model_validate({"kind": "ledger", "url": url, **settings})
        allowed = budget or Budget(rate=1000, burst=1000)
        opened.append(Transport(target, partial(RateLimits().of, allowed=allowed), counters, clock))
        return opened[-1]

    yield connect
    for transport in opened:
        await transport.close()


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """Return a certificate authority that the exporter trusts."""
    authority = trustme.CA()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    monkeypatch.setattr("exporter.node.connector.tls_context", lambda: trusting)
    return authority


class Asking:
    """Makes the node that a run would ask."""

    def __init__(self, connect: Connect, clock: Clock) -> None:
        self._connect = connect
        self._clock = clock

    def __call__(
        self, url: str, auth: Auth | None = None, *, seconds: float = 5.0, share: Share = Share.WHOLE, **settings: Any
    ) -> Node:
        transport = self._connect(url, **settings)
        deadline = self._clock.monotonic() + seconds
        return Node(Kind.LEDGER, transport, auth or NoToken(), self._clock, deadline, share=share)


@pytest.fixture
def asking(connect: Connect, clock: FakeClock) -> Asking:
    return Asking(connect, clock)


class Lines:
    """Runs a collector as the exporter would and returns the lines that the page gets, without the target's labels.

    A second call is the watch's next run. A run that is not ok gives one line that says so.
    """

    def __init__(self, node: TestNode, connect: Connect, clock: FakeClock) -> None:
        self._node = node
        self._connect = connect
        self._clock = clock
        self._standings: dict[str, WatchStatus] = {}
        self.auth: Auth = make_auth(NoAuth())
        self.kept: Transport | None = None
        """What every run asks by, as the exporter's do; unless set, each has connections of its own."""
        self.run: Run

    async def __call__(
        self, collector: Collector[Any], *, within: float = 5.0, kind: str = "", **options: Any
    ) -> list[str]:
        status = self._standings.get(collector.name) or self._stand(collector, within, kind, options)
        transport = self.kept or self._connect(self._node.url)
        self.run = await run(status.watch, transport, self.auth, self._clock, status.previous)
        if transport is not self.kept:
            await transport.close()
        status.take(self.run)
        return text_lines(status)

    def forget(self) -> None:
        """Let the next call be a watch's first run."""
        self._standings.clear()

    def _stand(self, collector: Collector[Any], within: float, kind: str, options: dict[str, Any]) -> WatchStatus:
        kind = kind or min(collector.kinds)
        config = {"timeout": timedelta(seconds=within), "options": options}
        target = {"kind": kind, "role": "own", "url": self._node.url, "collectors": {collector.name: config}}
        settings, errors = check({"targets": {"t": target}}, {collector.name: collector})
        assert settings is not None, errors
        configured = settings.targets["t"]
        watch = Watch("t", configured.target_config, collector, configured.collector_configs[collector.name])
        status = self._standings[collector.name] = WatchStatus(watch, self._clock, Counters())
        return status


def text_lines(status: WatchStatus) -> list[str]:
    """Return what the page shows of a watch, one line a series, without the target's labels."""
    assert status.last is not None
    if status.last.outcome is Outcome.UNSUPPORTED:
        return [f"unsupported: {status.last.error}"]
    if status.last.outcome is Outcome.FAILED:
        return [f"{status.last.reason}: {status.last.error}"]
    return "".join(render(status.shown, {}).values()).splitlines()


@pytest.fixture
async def lines(node: TestNode, connect: Connect, clock: FakeClock) -> Lines:
    return Lines(node, connect, clock)
