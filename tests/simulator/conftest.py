"""A network whose clock stands until it is advanced, and a client that asks it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest

from exporter.simulator import Dialect, Kind, Network, Node, NodeSpec
from exporter.simulator.nodes.ledger import LedgerNode

EVERYBODY: dict[str, Any] = {"filtersForAnyParty": {}}
START = 1_795_240_000.0  # 2026-11-21T05:46:40Z


class StandingClock:
    """Goes only when it is told to."""

    def __init__(self) -> None:
        self.seconds = START

    def __call__(self) -> float:
        return self.seconds

    def advance(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass(frozen=True)
class Reply:
    status: int
    media: str
    text: str
    json: Any
    date: str = field(compare=False)  # two answers may be of two seconds


class Client:
    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def ask(
        self,
        node: Node | str,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        token: str | None = None,
        accept: str | None = None,
    ) -> Reply:
        """GET without a body and POST with one, unless told."""
        url = (node if isinstance(node, str) else node.url) + path
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if accept is not None:
            headers["Accept"] = accept
        sent: dict[str, Any] = {"data": body} if isinstance(body, bytes) else {"json": body}
        if body is None:
            sent = {}
        async with self._session.request(
            method or ("GET" if body is None else "POST"), url, headers=headers, **sent
        ) as answer:
            text = await answer.text(errors="replace")
            found = await answer.json() if answer.content_type == "application/json" and "\x00" not in text else None
            return Reply(answer.status, answer.content_type, text, found, answer.headers["Date"])

    async def updates(self, node: Node, body: Any, *, limit: int | None = None, idle: int = 0) -> Reply:
        query = f"?stream_idle_timeout_ms={idle}" + ("" if limit is None else f"&limit={limit}")
        return await self.ask(node, f"/v2/updates{query}", body)


def transactions(filters: dict[str, Any], shape: str = "ACS_DELTA") -> dict[str, Any]:
    return {"includeTransactions": {"eventFormat": filters, "transactionShape": f"TRANSACTION_SHAPE_{shape}"}}


def ledger(network: Network, dialect: str = "0.7.5") -> LedgerNode:
    node = network[f"ledger-{dialect}"]
    assert isinstance(node, LedgerNode)
    return node


def kinds(reply: Reply) -> list[str]:
    assert reply.status == 200, reply.text
    return [next(iter(element["update"])) for element in reply.json]


def offsets(reply: Reply) -> list[int]:
    assert reply.status == 200, reply.text
    return [value["offset"] for element in reply.json for [value] in [next(iter(element["update"].values())).values()]]


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(session)


@pytest.fixture
async def network(clock: StandingClock) -> AsyncIterator[Network]:
    """A node of every kind in every dialect, named for both: scan-0.9."""
    specs = [NodeSpec(f"{kind}-{dialect}", kind, dialect) for kind in Kind for dialect in Dialect]
    async with Network(specs, clock=clock) as network:
        yield network
