"""What an incident is: a small network, what befalls it, and which alerts have to fire, and which alone."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from exporter.config.durations import read_duration
from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.node import Node
from exporter.simulator.nodes.ledger import LedgerNode
from exporter.simulator.world.world import World

PARTICIPANT = NodeSpec("participant", Kind.LEDGER, dialect=Dialect.V0_7_5)
SCAN = NodeSpec("scan", Kind.SCAN, dialect=Dialect.V0_7_5)
VALIDATOR = NodeSpec("validator", Kind.VALIDATOR, dialect=Dialect.V0_7_5)

Alert = tuple[str, str]
"""Its name and its severity."""


class Scene:
    """The network of one incident while it is played. Durations are those of a real network."""

    def __init__(self, incident: "Incident", network: Network, scale: float, tokens: Mapping[str, str]) -> None:
        self.incident = incident
        self.network = network
        self.scale = scale
        self.tokens = tokens
        self.began = 0.0
        """When it happened, by the Unix clock."""

    @property
    def world(self) -> World:
        return self.network.world

    @property
    def participant(self) -> LedgerNode:
        node = self.network["participant"]
        assert isinstance(node, LedgerNode)  # noqa: S101 - for the types: a spec of that kind made it
        return node

    @property
    def scan(self) -> Node:
        return self.network["scan"]

    @property
    def validator(self) -> Node:
        return self.network["validator"]

    def short(self, duration: str) -> float:
        """How many real seconds a duration takes here."""
        return read_duration(duration).total_seconds() / self.scale

    async def passes(self, duration: str) -> None:
        await asyncio.sleep(self.short(duration))

    def happens(self) -> None:
        """From now on it counts how long alerts take."""
        self.began = time.time()


Play = Callable[[Scene], Awaitable[None]]


@dataclass(frozen=True)
class Incident:
    name: str
    """Also that of its network, so that incidents side by side stay apart."""
    story: str
    play: Play
    fires: Mapping[Alert, str]
    """Which alerts have to fire, and within which time."""
    silenced: frozenset[str] = frozenset()
    """What may fire beside them, because the example for Alertmanager silences it."""
    us_or_network: float | None = None
    """What canton:us_or_network of all that is our own says in the end, if it is to be looked at."""
    watched: str = "5m"
    """How long it is watched at least, after it happened."""
    nodes: Sequence[NodeSpec] = (PARTICIPANT, SCAN)
    roles: Mapping[str, str] = field(default_factory=dict)
    """Of which nodes the role is another than usual: scans are observed, all else is our own."""
    tokens: Mapping[str, float] = field(default_factory=dict)
    """For how many real seconds from the start the token of a node is good; the other nodes want none."""
    after: str = "6m"
    """For how long all is well before it happens."""
    options: Callable[[World], dict[str, dict[str, Any]]] = lambda _world: {}
    """The options of collectors, by collector."""

    @property
    def minutes(self) -> float:
        """How long it takes on a real network."""
        return max(read_duration(each).total_seconds() for each in (*self.fires.values(), self.watched)) / 60


INCIDENTS: dict[str, Incident] = {}


def incident(*fires: str, silenced: Sequence[str] = (), **how: Any) -> Callable[[Play], Play]:
    """Make a function an incident: its name says it, its docstring tells it, `fires` is `Alert severity within`."""

    def register(play: Play) -> Play:
        name = play.__name__.replace("_", "-")
        expected = {(alert, severity): within for alert, severity, within in map(str.split, fires)}
        INCIDENTS[name] = Incident(name, play.__doc__ or "", play, expected, frozenset(silenced), **how)
        return play

    return register
