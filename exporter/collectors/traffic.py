"""How much traffic a member of the synchronizer has bought, and how much of it is used up.

Asks: GET /v0/domains/{domain_id}/members/{member_id}/traffic-status; for the synchronizer, where it is not configured,
POST /v0/amulet-rules.
Needs: nothing; a scan knows no tokens.
Costs: a small request a run for each member, and once the rules.
"""

from functools import partial
from typing import Annotated

import msgspec
from pydantic import Field

from exporter.answers import Int64, Struct
from exporter.api import Node
from exporter.collector import Note, Yielded, Yields, collector, minutes
from exporter.errors import Refused
from exporter.metric import Metric
from exporter.scan import Name
from exporter.settings import Kind, Strict, named

SOURCE = "GET /v0/domains/{domain_id}/members/{member_id}/traffic-status"
LIMIT = Metric("canton_traffic_limit_bytes", "The extra traffic a member ever bought.", ("member",), source=SOURCE)
CONSUMED = Metric("canton_traffic_consumed_bytes", "How much of it is consumed.", ("member",), source=SOURCE)

MOST_BYTES = 2**22


Member = Annotated[str, named(r"[A-Z]{3}::[^\s]{1,400}::[0-9a-f]{1,200}", "PAR::NAME::FINGERPRINT")]


class Options(Strict):
    members: Annotated[list[Member], Field(min_length=1)]
    """The members' ids, such as `PAR::participant::1220...`."""
    synchronizer: str | None = Field(default=None, min_length=1)
    """The synchronizer's id; by default that of the network's rules."""


class Actual(Struct):
    total_consumed: Int64
    total_limit: Int64


class Status(Struct):
    actual: Actual


class Answer(Struct):
    status: Status = msgspec.field(name="traffic_status")


class Update(Struct):
    domain_id: Name | None = None


class AmuletRules(Struct):
    update: Update = msgspec.field(name="amulet_rules_update")


class CoinRules(Struct):
    update: Update = msgspec.field(name="coin_rules_update")


SYNCHRONIZER = Note[str]()


@collector(Kind.SCAN, interval=minutes(5), timeout=minutes(1), options=Options)
async def traffic(node: Node, options: Options, previous: Yielded) -> Yields:
    synchronizer = options.synchronizer or previous.note(SYNCHRONIZER) or await find_synchronizer(node)

    async def ask(member: str) -> Answer | None:
        route = "/v0/domains/{domain_id}/members/{member_id}/traffic-status"
        return await node.find(route, Answer, domain_id=synchronizer, member_id=member)

    answers = await node.of_each(options.members, ask)
    if None not in answers.values():  # else it may be another by now
        yield SYNCHRONIZER.of(synchronizer)
    for member, answer in answers.items():
        if answer is None:
            node.remark(f"the synchronizer does not know the member {member}")
            continue
        yield LIMIT.sample(answer.status.actual.total_limit, member=member)
        yield CONSUMED.sample(answer.status.actual.total_consumed, member=member)


async def find_synchronizer(node: Node) -> str:
    async def ask(route: str, answer: type[AmuletRules | CoinRules]) -> Update:
        return (await node.post(route, answer, {}, most_bytes=MOST_BYTES)).update

    update = await node.first(partial(ask, "/v0/amulet-rules", AmuletRules), partial(ask, "/v0/coin-rules", CoinRules))
    if not update.domain_id:
        raise Refused("the rules are between two synchronizers just now; wait, or set the option synchronizer")
    return update.domain_id
