"""Runs every collector against a simulated network, and keeps what it asked, was answered, and how it read that."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pytest

from exporter.collector import Collector
from exporter.collectors import discover
from exporter.config.models import Kind
from exporter.node.client import Node
from exporter.node.messages import Request, Response
from exporter.node.rate_limit import Share
from exporter.node.transport import Transport
from exporter.scheduling.watch import Outcome
from exporter.simulator import Dialect, Network, NodeSpec, Status
from exporter.simulator import Kind as SimulatedKind
from exporter.simulator.nodes.ledger import LedgerNode
from tests.conftest import Connect, FakeClock, Lines
from tests.nodes import TestNode
from tests.shapes.direct import ALWAYS, direct, operations
from tests.shapes.table import anonymous

TEMPLATES = ["splice-amulet:Splice.Amulet:Amulet"]
NOBODY = "nobody::1220ff"


class Exchange(NamedTuple):
    """A question of a collector's, and the node's answer."""

    collector: str
    kind: str
    asked: Request
    status: int
    media: str
    body: bytes

    @property
    def operation(self) -> str:
        """Return the method and the path, without the names in it."""
        return f"{self.asked.method} {anonymous(self.asked.route)}"


class Asked(NamedTuple):
    """Who asks what kind of node for which operation, answered or not."""

    collector: str
    kind: str
    operation: str


class Reading(NamedTuple):
    """How a collector reads the answer of an operation."""

    asked: Asked
    meaning: Any


class Ran(NamedTuple):
    """How a run went with a node that has no fault: its outcome, and the error if there is one."""

    collector: str
    kind: str
    outcome: Outcome
    error: str


@dataclass
class Recording:
    exchanges: list[Exchange] = field(default_factory=list)
    """Those with a node that has no fault."""
    questions: list[Exchange] = field(default_factory=list)
    """Those of collectors, whatever was answered."""
    served: set[tuple[str, str]] = field(default_factory=set)
    """Each kind of node, and each operation it has."""
    asked: set[Asked] = field(default_factory=set)
    readings: set[Reading] = field(default_factory=set)
    runs: set[Ran] = field(default_factory=set)

    def answered(self, kind: str) -> set[str]:
        """Return the operations that gave a good answer."""
        return {each.operation for each in self.exchanges if each.kind == kind and each.status == 200}


def options(network: Network) -> dict[str, list[dict[str, Any]]]:
    """Return what collectors are configured with, one after the other, where nothing is not enough."""
    world, ledger = network.world, network[Kind.LEDGER]
    assert isinstance(ledger, LedgerNode)
    parties, senders, svs = [*ledger.participant.parties], [*world.senders], [*world.svs]
    migration = {"migration_id": world.migration.id}
    seen = {"parties": parties[:2], "templates": TEMPLATES}
    last = world.senders[senders[0]].next_nonce - 1
    known = {"round": world.rewards.newest, "root_hash": world.rewards.root_hash(world.rewards.newest)}
    return {
        "acs": [{}, {**migration, "templates": TEMPLATES, "party_ids": [world.dso_party], "page_size": 100}],
        "acs_snapshot": [{}, migration],
        "ans_entries": [{"parties": [*senders, svs[0], NOBODY], "name_prefixes": ["", "a"]}],
        "bootstrapping": [{"prefixes": [world.synchronizer_prefix, "nowhere"]}],
        "ledger_completions": [{"parties": parties}, {"parties": parties, "user": "app-backend"}],
        "ledger_contracts": [{"page_size": 100}, seen],
        "ledger_info": [{}, {"package_prefixes": ["nothing-"]}],
        "ledger_updates": [{"shape": "ledger_effects"}, seen],
        "reward_batches": [{}, {"rounds": [known]}],
        "scan_status": [{}, migration],
        "sv_reward_weight": [{"parties": svs}, {"parties": svs, "effective_before": "2026-11-01T00:00:00Z"}],
        "traffic": [{"members": [*world.members, "PAR::nobody::1220ff"]}],
        "transfer_commands": [
            {"commands": [{"sender": each} for each in senders]},
            {"commands": [{"sender": senders[0], "nonce": last}, {"sender": NOBODY, "nonce": 7}]},
        ],
        "update_lookup": [{"hashes": [*world.hashes.transactions, *world.hashes.reassignments, "1220ff"]}],
    }


class Recorder:
    """Runs collectors as the exporter would, three times for each way to configure them.

    The last is just after the node was restarted, so that it may have forgotten something. Then once more for each
    thing they asked, as if the node did not have it, which shows what they would ask instead.
    """

    def __init__(self, connect: Connect, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
        self._connect, self._clock = connect, clock
        self._now = ("", "")
        self._has_fault = False
        self._paths: dict[str, str] = {}
        self.recording = Recording()
        # A stream that is idle would be waited for, in real time.
        for collector in ("ledger_completions", "ledger_offsets"):
            monkeypatch.setattr(f"exporter.collectors.{collector}.IDLE_SECONDS", 0.0)
        # Whatever has pages is to have two of them.
        monkeypatch.setattr("exporter.simulator.ledger.parties.MOST_PARTIES", 20)
        monkeypatch.setattr("exporter.simulator.ledger.packages.MOST_VETTINGS", 1)
        monkeypatch.setattr(Transport, "request", self._requesting(Transport.request))
        monkeypatch.setattr(Transport, "stream", self._streaming(Transport.stream))
        for name in ("get", "post", "find", "pages", "listed", "stream"):
            monkeypatch.setattr(Node, name, self._reading(name, getattr(Node, name)))

    async def run(self, dialect: Dialect) -> Recording:
        sizes: dict[str, Any] = {"list_limit": 1000, "active_contracts": 200, "left_synchronizer": True}
        specs = [NodeSpec(kind, SimulatedKind(kind), dialect, **sizes) for kind in Kind]
        async with Network(specs, clock=self._clock.now, contracts=300) as network:
            for collector in discover().values():
                for kind in collector.kinds:
                    await self._try(network, collector, kind)
            await self._visit(network)
        return self.recording

    async def _try(self, network: Network, collector: Collector[Any], kind: Kind) -> None:
        node, ways = network[kind], options(network).get(collector.name, [{}])
        lines = Lines(TestNode(url=node.url), self._connect, self._clock)
        self._now, self._paths, self._has_fault = (collector.name, kind), {}, False
        for way in ways:
            lines.forget()
            for is_last in (False, False, True):
                if is_last:
                    await node.restart()
                await lines(collector, kind=kind, within=60, **way)
                self.recording.runs.add(Ran(*self._now, lines.run.outcome, lines.run.error or ""))
                self._clock.advance(60)
        self._has_fault = True
        for path in [*self._paths.values()]:
            lines.forget()
            await node.set_fault(Status(404, path=path))
            await lines(collector, kind=kind, within=60, **ways[-1])
            await node.clear_fault()

    async def _visit(self, network: Network) -> None:
        """Ask each node what no collector asks it, and what one asks too little of."""
        self._has_fault = False
        for kind in Kind:
            node, transport, self._now = network[kind], self._connect(network[kind].url), ("", kind)
            served = operations(node)
            self.recording.served |= {(kind, operation) for operation in served}
            for operation in sorted(served - self.recording.answered(kind) | served & ALWAYS):
                asked = direct(node, operation)
                if asked.method == "WS":
                    async for _ in transport.stream(asked, None, Share.NONE, 5.0):
                        pass
                else:
                    await transport.request(asked, None, Share.NONE, 5.0)
            await transport.close()

    def _requesting(self, request: Callable[..., Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
        async def requesting(transport: Transport, asked: Request, *more: Any) -> Response:
            reply = await request(transport, asked, *more)
            media = reply.headers.get("Content-Type", "-").partition(";")[0] if reply.body else "-"
            exchange = Exchange(*self._now, asked, reply.status, media, reply.body)
            self._keep(exchange)
            return reply

        return requesting

    def _streaming(self, stream: Callable[..., AsyncGenerator[Response, None]]) -> Callable[..., Any]:
        async def streaming(transport: Transport, asked: Request, *more: Any) -> AsyncGenerator[Response, None]:
            asked = replace(asked, method="WS")
            async with aclosing(stream(transport, asked, *more)) as replies:
                async for reply in replies:
                    if reply.status == 101:
                        media = "application/json" if reply.body else "-"
                        self._keep(Exchange(*self._now, asked, 200 if reply.body else 101, media, reply.body))
                    else:
                        self.recording.asked.add(Asked(*self._now, f"WS {anonymous(asked.route)}"))
                    yield reply

        return streaming

    def _keep(self, exchange: Exchange) -> None:
        if exchange.collector:
            self.recording.questions.append(exchange)
            self.recording.asked.add(Asked(*self._now, exchange.operation))
        if not self._has_fault and exchange.status != 101:
            self.recording.exchanges.append(exchange)
            self._paths.setdefault(exchange.operation, exchange.asked.path)

    def _reading(self, name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
        def reading(node: Node, route: str, answer: Any, *more: Any, **named: Any) -> Any:
            is_post = name in ("post", "pages") or (name == "find" and bool(more or "body" in named))
            method = named.get("method") or ("WS" if name == "stream" else "POST" if is_post else "GET")
            operation = f"{method} {anonymous(route)}"
            self.recording.readings.add(Reading(Asked(*self._now, operation), answer))
            return ask(node, route, answer, *more, **named)

        return reading
