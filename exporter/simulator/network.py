"""A whole pretend network: its nodes and its control endpoint, started and stopped together."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from exporter.simulator.control.application import control_application
from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import Clock
from exporter.simulator.http.listener import Listener
from exporter.simulator.node import Node
from exporter.simulator.nodes.ledger import LedgerNode
from exporter.simulator.nodes.scan import ScanNode
from exporter.simulator.nodes.validator import ValidatorNode
from exporter.simulator.world.world import World


class Kind(StrEnum):
    SCAN = "scan"
    LEDGER = "ledger"
    VALIDATOR = "validator"


@dataclass(frozen=True)
class NodeSpec:
    name: str
    kind: Kind
    dialect: Dialect = Dialect.V0_9
    port: int = 0
    token: str | None = None
    # For ledgers only: how many parties they know, whether the token is an administrator's, how long a list may be, and
    # how many contracts are active.
    left_synchronizer: bool = False
    parties: int = 30
    is_admin: bool = True
    list_limit: int = 200
    active_contracts: int = 300
    # For scans only: how many requests one client may send.
    most_per_second: float | None = None

    def build(self, world: World) -> Node:
        match self.kind:
            case Kind.SCAN:
                return ScanNode(
                    self.name, world, self.dialect, self.port, self.token, most_per_second=self.most_per_second
                )
            case Kind.VALIDATOR:
                return ValidatorNode(self.name, world, self.dialect, self.port, self.token)
            case Kind.LEDGER:
                return LedgerNode(
                    self.name,
                    world,
                    self.dialect,
                    self.port,
                    self.token,
                    left_synchronizer=self.left_synchronizer,
                    parties=self.parties,
                    is_admin=self.is_admin,
                    list_limit=self.list_limit,
                    active_contracts=self.active_contracts,
                )


class Network:
    """Port 0, of a node or of the control endpoint, is any free port, which is kept from the first start on."""

    def __init__(
        self,
        specs: Sequence[NodeSpec],
        *,
        clock: Clock = time.time,
        seed: int = 0,
        control_port: int = 0,
        checkpoint_interval: float = 15.0,
        contracts: int = 3_000,
        snapshot_interval: float = 3 * 3600,
        snapshot_delay: float = 60.0,
        rules_interval: float = 3600.0,
        transfer_interval: float = 60.0,
        failing_transfers: bool = True,
        round_interval: float = 600.0,
        reward_providers: int = 40,
    ) -> None:
        self.world = World(
            clock,
            seed,
            checkpoint_interval,
            contracts=contracts,
            snapshot_interval=snapshot_interval,
            snapshot_delay=snapshot_delay,
            rules_interval=rules_interval,
            transfer_interval=transfer_interval,
            failing_transfers=failing_transfers,
            round_interval=round_interval,
            reward_providers=reward_providers,
            participants=[spec.name for spec in specs if spec.kind is Kind.LEDGER],
        )
        self.nodes = {spec.name: spec.build(self.world) for spec in specs}
        if len(self.nodes) < len(specs):
            raise ValueError("Two nodes have the same name.")
        self._control = Listener(lambda: control_application(self.world, self.nodes), control_port)

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    @property
    def control_url(self) -> str:
        return self._control.url

    async def start(self) -> None:
        try:
            for node in self.nodes.values():
                await node.start()
            await self._control.open()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        # The control endpoint first: it could start a node again.
        await self._control.close()
        await asyncio.gather(*(node.stop() for node in self.nodes.values()))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.stop()
