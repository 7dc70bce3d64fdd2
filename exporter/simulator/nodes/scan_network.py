"""What a scan tells of the network itself: its rounds, its parties, its upgrades, the traffic of its members."""

import re
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from exporter.simulator.facts import fingerprint, moment
from exporter.simulator.node import Operation
from exporter.simulator.nodes.splice import SpliceNode, public
from exporter.simulator.nodes.splice_request import bad_request, not_found, read_body, read_field, read_strings, require
from exporter.simulator.world.super_validators import Sv

SYNCHRONIZER = re.compile(r"[^:]+::1220[0-9a-f]+")
MEMBER = re.compile(r"(PAR|MED)::[^:]+::1220[0-9a-f]+")


class NetworkOperations(SpliceNode):
    def operations(self) -> Iterator[Operation]:
        yield from super().operations()
        if self.dialect.is_network:
            yield public("POST", "/v0/open-and-issuing-mining-rounds", self.mining_rounds)
            yield public("GET", "/v0/dso-party-id", self.dso_party_id)
            yield public("GET", "/v0/domains/{domain_id}/members/{member_id}/traffic-status", self.traffic_status)
            yield public("GET", "/v0/scans", self.scans)
            yield public("GET", "/v0/dso-sequencers", self.sequencers)
            yield public("GET", "/v0/ans-entries/by-party/{party}", self.ans_entry)
            yield public("GET", "/v0/ans-entries", self.ans_names)
        if self.dialect.tells_the_serial:
            yield public("GET", "/v0/active-synchronizer-serial", self.active_serial)
        if self.dialect.tells_of_upgrades:
            yield public("GET", "/v0/lsu", self.announced_upgrade)

    async def mining_rounds(self, request: web.Request) -> web.Response:
        """The rounds; of a contract that the caller knows there is only the id."""
        body, rounds = read_body(await request.read()), self.world.rounds
        known = read_ids(body, "cached_open_mining_round_contract_ids")
        known |= read_ids(body, "cached_issuing_round_contract_ids")

        def shown(contracts: list[dict[str, Any]]) -> dict[str, Any]:
            return {
                contract["contract_id"]: {
                    "contract": None if contract["contract_id"] in known else contract,
                    "domain_id": self.world.synchronizer,
                }
                for contract in contracts
            }

        answer = {
            "time_to_live_in_microseconds": round(rounds.interval * 1_000_000),
            "open_mining_rounds": shown(rounds.open(self.dialect)),
            "issuing_mining_rounds": shown(rounds.issuing(self.dialect)),
        }
        return self.json(answer)

    async def active_serial(self, request: web.Request) -> web.Response:
        return self.json({"serial": self.world.upgrades.serial})

    async def announced_upgrade(self, request: web.Request) -> web.Response:
        return self.json({"lsu": self.world.upgrades.json()})

    async def traffic_status(self, request: web.Request) -> web.Response:
        synchronizer, identity = request.match_info["domain_id"], request.match_info["member_id"]
        if not SYNCHRONIZER.fullmatch(synchronizer):
            raise bad_request(f"Could not decode domain ID: {synchronizer}")
        if not MEMBER.fullmatch(identity):
            raise bad_request(f"Could not decode member ID: {identity}")
        member = self.world.members.get(identity)
        if synchronizer != self.world.synchronizer or member is None:
            raise not_found(f"No traffic state found for member {identity} on {synchronizer}")
        return self.json({"traffic_status": member.status()})

    async def scans(self, request: web.Request) -> web.Response:
        """Those of the super validators, which are elsewhere: they are no nodes of this network."""
        found = [{"publicUrl": f"https://scan.{sv.name}.example", "svName": sv.name} for sv in self.world.svs.values()]
        return self.json({"scans": [{"domainId": self.world.synchronizer, "scans": found}]})

    async def sequencers(self, request: web.Request) -> web.Response:
        found = [self._sequencer(sv) for sv in self.world.svs.values()]
        return self.json({"domainSequencers": [{"domainId": self.world.synchronizer, "sequencers": found}]})

    def _sequencer(self, sv: Sv) -> dict[str, Any]:
        """A sequencer, which since synchronizers have serials belongs to no migration."""
        has_serial, world = self.dialect.tells_the_serial, self.world
        sequencer = {
            "migrationId": -1 if has_serial else world.migration.id,
            "id": f"SEQ::{sv.name}::1220{fingerprint(world.seed, 'sequencer', sv.name)}",
            "url": f"https://sequencer.{sv.name}.example",
            "svName": sv.name,
            "availableAfter": moment(world.migration.began),
        }
        return sequencer | ({"synchronizerSerial": world.upgrades.serial} if has_serial else {})


def read_ids(body: dict[str, Any], name: str) -> set[str]:
    require(read_field(body, name, list), name)
    return set(read_strings(body, name))
