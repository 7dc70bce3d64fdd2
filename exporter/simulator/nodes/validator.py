"""A validator: its own user, and what its scan proxy lets those with a token read."""

from collections.abc import Iterator
from typing import Any

from aiohttp import web

from exporter.simulator.facts import fingerprint
from exporter.simulator.node import Operation
from exporter.simulator.nodes.splice import SpliceNode, public


class ValidatorNode(SpliceNode):
    kind = "validator"
    base = "/api/validator"

    def operations(self) -> Iterator[Operation]:
        yield from super().operations()
        yield Operation("GET", "/v0/scan-proxy/ans-entries/by-party/{party}", self.ans_entry)
        if self.dialect.is_network:
            yield public("GET", "/v0/validator-user", self.validator_user)
            yield Operation("GET", "/v0/scan-proxy/ans-entries", self.ans_names)
            yield Operation("GET", "/v0/scan-proxy/open-and-issuing-mining-rounds", self.mining_rounds)
            yield Operation("GET", "/v0/scan-proxy/dso-party-id", self.dso_party_id)
            yield Operation("GET", "/v0/scan-proxy/amulet-rules", self.amulet_rules)
        if self.dialect.proxies_transfer_commands:
            yield Operation("GET", "/v0/scan-proxy/transfer-command/status", self.transfer_command_status)
        if self.dialect.proxies_transfer_commands and self.dialect.is_network:
            path = "/v0/scan-proxy/transfer-command-counter/{party}"
            yield Operation("GET", path, self.transfer_command_counter)

    async def validator_user(self, request: web.Request) -> web.Response:
        party = f"{self.name}::1220{fingerprint(self.world.seed, 'validator', self.name)}"
        return self.json({"party_id": party, "user_name": "administrator", "featured": False})

    async def mining_rounds(self, request: web.Request) -> web.Response:
        """The rounds in lists, where a scan has them by contract id."""

        def shown(contracts: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [{"contract": contract, "domain_id": self.world.synchronizer} for contract in contracts]

        rounds = self.world.rounds
        answer = {
            "open_mining_rounds": shown(rounds.open(self.dialect)),
            "issuing_mining_rounds": shown(rounds.issuing(self.dialect)),
        }
        return self.json(answer)

    async def amulet_rules(self, request: web.Request) -> web.Response:
        contract = self.world.rules.contract(self.dialect)
        return self.json({"amulet_rules": {"contract": contract, "domain_id": self.world.synchronizer}})
