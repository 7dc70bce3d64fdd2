"""All active contracts of a ledger are counted, each once, by every way in which a release gives more than a list."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from exporter.collectors.ledger_contracts import ledger_contracts
from exporter.node.auth import StaticToken
from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.faults import Status
from exporter.simulator.nodes.ledger import LedgerNode
from tests.conftest import Connect, FakeClock, Lines
from tests.nodes import TestNode

PAGE, LIST = "/v2/state/active-contracts-page", "/v2/state/active-contracts"
FEW, MANY, MOST = 250, 10_000, 100_000
WAYS: dict[str, tuple[Dialect, bool, tuple[str, str]]] = {
    "pages": (Dialect.V0_9, True, ("POST", PAGE)),
    "pages by GET": (Dialect.V0_6, True, ("GET", PAGE)),
    "lists": (Dialect.V0_6, False, ("POST", LIST)),
    "websocket": (Dialect.V0_5, True, ("GET", LIST)),
    "websocket of 3.4.11": (Dialect.V0_5_10, True, ("GET", LIST)),
}
"""By release, and whether its pages are there: with what the last request is."""


@asynccontextmanager
async def ledger(dialect: Dialect, clock: FakeClock, count: int, **spec: Any) -> AsyncIterator[LedgerNode]:
    spec = {"active_contracts": count, **spec}
    async with Network([NodeSpec("ledger", Kind.LEDGER, dialect, **spec)], clock=clock.now) as network:
        node = network["ledger"]
        assert isinstance(node, LedgerNode)
        yield node


def counting(node: TestNode, connect: Connect, clock: FakeClock, url: str, token: str | None = None) -> Lines:
    """Return what runs the collector against an address."""
    node.url = url
    lines = Lines(node, connect, clock)
    if token:
        lines.auth = StaticToken(token)
    return lines


def counts(lines: list[str]) -> dict[str, int]:
    return {line.split('"')[1]: int(float(line.split()[-1])) for line in lines}


def truth(node: LedgerNode) -> dict[str, int]:
    """Return what there is by template; a contract on its way is there too."""
    found: Counter[str] = Counter()
    for (_, template), number in node.active(node.participant.end().offset).items():
        if template:
            found[template] += number
    return dict(found)


@pytest.mark.parametrize("number", [FEW, MANY])
@pytest.mark.parametrize("way", WAYS)
async def test_each_contract_is_counted_once(
    node: TestNode, connect: Connect, clock: FakeClock, way: str, number: int
) -> None:
    dialect, has_pages, last = WAYS[way]
    async with ledger(dialect, clock, number) as simulated:
        if not has_pages:
            await simulated.set_fault(Status(404, path=PAGE))
        lines = counting(node, connect, clock, simulated.url)
        assert counts(await lines(ledger_contracts, within=60)) == truth(simulated)
        assert lines.run.requests[-1][:2] == last


@pytest.mark.parametrize("dialect", [Dialect.V0_5, Dialect.V0_6])
async def test_a_lower_list_limit_is_found_out(
    node: TestNode, connect: Connect, clock: FakeClock, dialect: Dialect
) -> None:
    async with ledger(dialect, clock, FEW, list_limit=30) as simulated:
        await simulated.set_fault(Status(404, path=PAGE))
        lines = counting(node, connect, clock, simulated.url)
        assert counts(await lines(ledger_contracts)) == truth(simulated)


async def test_a_websocket_is_opened_with_the_token(node: TestNode, connect: Connect, clock: FakeClock) -> None:
    async with ledger(Dialect.V0_5, clock, FEW, token="sesame") as simulated:
        lines = counting(node, connect, clock, simulated.url, "sesame")
        assert counts(await lines(ledger_contracts)) == truth(simulated)


@pytest.fixture
async def cheap() -> AsyncIterator[Callable[..., Any]]:
    """Return a function that runs a ledger of contracts that cost nothing to make: of seven templates in turn."""
    runners = []

    async def end(request: web.Request) -> web.Response:
        return web.json_response({"offset": 41})

    async def cheap(has_tokens: bool) -> str:
        app = web.Application()
        app.router.add_get("/v2/state/ledger-end", end)
        app.router.add_post(LIST, listed(has_tokens))
        app.router.add_get(LIST, streamed)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        runners.append(runner)
        return f"http://127.0.0.1:{runner.addresses[0][1]}"

    yield cheap
    for runner in runners:
        await runner.cleanup()


def element(number: int, **more: Any) -> dict[str, Any]:
    created = {"templateId": f"9f9f:Main:T{number % 7}", "packageName": "demo", "offset": 41}
    return {"workflowId": "", "contractEntry": {"JsActiveContract": {"createdEvent": created}}, **more}


def listed(has_tokens: bool) -> Callable[[web.Request], Any]:
    async def listed(request: web.Request) -> web.Response:
        begin = int((await request.json()).get("streamContinuationToken", 0))
        numbers = range(begin, min(begin + int(request.query["limit"]), MOST))
        tokens = ({"streamContinuationToken": str(number + 1)} if has_tokens else {} for number in numbers)
        return web.json_response([element(number, **token) for number, token in zip(numbers, tokens, strict=True)])

    return listed


async def streamed(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse(protocols=("daml.ws.auth",))
    await socket.prepare(request)
    await socket.receive()
    texts = [json.dumps(element(number)) for number in range(7)]
    for number in range(MOST):
        await socket.send_str(texts[number % 7])
    await socket.close()
    return socket


@pytest.mark.parametrize("has_tokens", [True, False], ids=["lists", "websocket"])
async def test_a_hundred_thousand_are_counted_exactly(
    node: TestNode, connect: Connect, clock: FakeClock, cheap: Callable[..., Any], has_tokens: bool
) -> None:
    lines = counting(node, connect, clock, await cheap(has_tokens))
    found = counts(await lines(ledger_contracts, within=60))
    assert found == {f"demo:Main:T{kind}": len(range(kind, MOST, 7)) for kind in range(7)}
    assert sum(found.values()) == MOST
