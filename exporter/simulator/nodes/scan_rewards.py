"""What a scan tells of rewards: the weights of super validators, and how the rewards of each round come about."""

import math
import re
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from exporter.simulator.node import Operation
from exporter.simulator.nodes.splice import SpliceNode, public
from exporter.simulator.nodes.splice_request import bad_request, not_found, read_body, read_field, read_time, require

PARTY = re.compile(r"[^:\s]+::1220[0-9a-f]*")
# What the totals of a round had in them before there were statuses.
EARLIER_TOTALS = ("round_number", "total_app_activity_weight", "active_parties_count", "activity_records_count")
ROUND = r"{round_number:-?\d{1,18}}"


class RewardOperations(SpliceNode):
    def operations(self) -> Iterator[Operation]:
        yield from super().operations()
        if self.dialect.tells_sv_weights:
            yield public("POST", "/v0/admin/sv/previous-sv-reward-weight", self.reward_weight)
        path = self.dialect.reward_accounting
        if path is not None:
            yield public("GET", f"{path}/{ROUND}/batches/{{batch_hash}}", self.batch)
        if path is not None and self.dialect.is_network:
            yield public("GET", f"{path}/earliest-available", self.earliest_round)
            yield public("GET", f"{path}/{ROUND}/root-hash", self.root_hash)
            yield public("GET", f"{path}/{ROUND}/activity-totals", self.activity_totals)

    async def reward_weight(self, request: web.Request) -> web.Response:
        body = read_body(await request.read())
        party = require(read_field(body, "svParty", str), "svParty")
        before = read_field(body, "effectiveBefore", str)
        if not PARTY.fullmatch(party):
            raise bad_request(f"Invalid unique identifier `{party}` with missing namespace.")
        sv, until = self.world.svs.get(party), math.inf if before is None else read_time(before, "effectiveBefore")
        weight = None if sv is None else sv.weight(self.world.now(), until)
        return self.json({"rewardWeight": None if weight is None else str(weight)})

    async def batch(self, request: web.Request) -> web.Response:
        number, name = round_number(request), request.match_info["batch_hash"]
        batch = self.world.rewards.batch(number, name.lower())
        if batch is None:
            raise not_found(f"No reward accounting batch {name} found for round {number}")
        return self.json(batch)

    async def earliest_round(self, request: web.Request) -> web.Response:
        return self.json({"earliest_round": self.world.rewards.earliest})

    async def root_hash(self, request: web.Request) -> web.Response:
        number, rewards = round_number(request), self.world.rewards
        known = {"round_number": number, "root_hash": rewards.root_hash(number)} if rewards.knows(number) else None
        return self._known(number, known, "root hash")

    async def activity_totals(self, request: web.Request) -> web.Response:
        number, rewards = round_number(request), self.world.rewards
        known = rewards.activity(number) if rewards.knows(number) else None
        if known is not None and not self.dialect.tells_reward_status:
            known = {field: known[field] for field in EARLIER_TOTALS}
        return self._known(number, known, "activity totals")

    def _known(self, number: int, known: dict[str, Any] | None, what: str) -> web.Response:
        """What is known of a round, with its status; a release without statuses has 404 for what is not known."""
        if self.dialect.tells_reward_status:
            return self.json({"status": self.world.rewards.status(number)} | (known or {}))
        if known is None:
            raise not_found(f"No {what} found for round {number}")
        return self.json(known)


def round_number(request: web.Request) -> int:
    return int(request.match_info["round_number"])
