"""A validator: its own user, and what its scan proxy lets those with a token read."""

from collections.abc import Iterator

from aiohttp import web

from exporter.simulator.node import Operation
from exporter.simulator.splice import SpliceNode


class ValidatorNode(SpliceNode):
    kind = "validator"
    base = "/api/validator"

    def operations(self) -> Iterator[Operation]:
        yield from super().operations()
        if self.dialect.is_network:
            yield Operation("GET", "/v0/scan-proxy/dso-party-id", self.dso_party_id)
            yield Operation("GET", "/v0/scan-proxy/amulet-rules", self.amulet_rules)
        if self.dialect.proxies_transfer_commands:
            yield Operation("GET", "/v0/scan-proxy/transfer-command/status", self.transfer_command_status)
        if self.dialect.proxies_transfer_commands and self.dialect.is_network:
            path = "/v0/scan-proxy/transfer-command-counter/{party}"
            yield Operation("GET", path, self.transfer_command_counter)

    async def dso_party_id(self, request: web.Request) -> web.Response:
        return self.json({"dso_party_id": self.world.dso_party})

    async def amulet_rules(self, request: web.Request) -> web.Response:
        contract = self.world.rules.contract(self.dialect)
        return self.json({"amulet_rules": {"contract": contract, "domain_id": self.world.synchronizer}})
