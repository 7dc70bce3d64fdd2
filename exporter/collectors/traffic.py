"""How much traffic a member of the synchronizer has bought and used up, what is left, and what is still to come.

Asks: GET /v0/domains/{domain_id}/members/{member_id}/traffic-status; for the synchronizer, where it is not configured,
POST /v0/amulet-rules.
Needs: nothing; a scan knows no tokens.
Costs: a small request a run for each member, and once the rules.
"""

from functools import partial
from typing import Annotated

import msgspec
from pydantic import Field

from exporter.collector import (
    Kind,
    Memo,
    Metric,
    Name,
    Node,
    NotNegative,
    Refused,
    RunOutput,
    Strict,
    Struct,
    Yields,
    collector,
    limits,
    minutes,
    named,
    seconds,
)

SOURCE = "GET /v0/domains/{domain_id}/members/{member_id}/traffic-status"
PURCHASED = Metric(
    "canton_traffic_purchased_bytes_total",
    "Extra traffic in bytes that a member has bought; if the scan does not report it, the traffic limit in effect.",
    ("member",),
    source=SOURCE,
)
CONSUMED = Metric(
    "canton_traffic_consumed_bytes_total",
    "Extra traffic in bytes that a member has consumed, not counting free traffic.",
    ("member",),
    source=SOURCE,
)
LEFT = Metric(
    "canton_traffic_left_bytes",
    "Extra traffic in bytes that a member has left, at least 0.",
    ("member",),
    source=SOURCE,
)
PENDING = Metric(
    "canton_traffic_pending_bytes",
    "Extra traffic in bytes bought but not in effect yet, at least 0; absent if the scan does not report it.",
    ("member",),
    source=SOURCE,
)


Member = Annotated[
    str, named(r"[A-Z]{3}::[^\s]{1,400}::[0-9a-f]{1,200}", "is not a member; write PAR::NAME::FINGERPRINT")
]


class Options(Strict):
    members: Annotated[list[Member], Field(min_length=1)]
    """The members' ids, such as `PAR::participant::1220...`."""
    synchronizer: str | None = Field(default=None, min_length=1)
    """The synchronizer's id; by default that of the network's rules."""


class Actual(Struct):
    total_consumed: NotNegative
    total_limit: NotNegative


class Target(Struct):
    total_purchased: NotNegative


class Status(Struct):
    actual: Actual
    target: Target | None = None


class Answer(Struct):
    status: Status = msgspec.field(name="traffic_status")


class Update(Struct):
    domain_id: Name | None = None


class AmuletRules(Struct):
    update: Update = msgspec.field(name="amulet_rules_update")


class CoinRules(Struct):
    update: Update = msgspec.field(name="coin_rules_update")


SYNCHRONIZER = Memo[str]()


@collector(Kind.SCAN, interval=minutes(1), timeout=seconds(30), options=Options)
async def traffic(node: Node, options: Options, previous: RunOutput) -> Yields:
    known = options.synchronizer or previous.memo(SYNCHRONIZER)
    synchronizer = known or await find_synchronizer(node)
    try:
        answers = await node.for_each(options.members, partial(ask, node, synchronizer))
    except Refused as refusal:
        if options.synchronizer or known is None or refusal.status != 400:
            raise
        synchronizer = await find_synchronizer(node)  # what was known may be one that was left
        answers = await node.for_each(options.members, partial(ask, node, synchronizer))
    if None not in answers.values():  # else it may have changed
        yield SYNCHRONIZER.of(synchronizer)
    for member, answer in answers.items():
        if answer is None:
            node.remark(f"the synchronizer does not know the member {member}")
            continue
        actual, target = answer.status.actual, answer.status.target
        yield PURCHASED.sample(target.total_purchased if target else actual.total_limit, member=member)
        yield CONSUMED.sample(actual.total_consumed, member=member)
        yield LEFT.sample(max(0, actual.total_limit - actual.total_consumed), member=member)
        if target:
            # A limit may be above what was bought: super validators' is, and that of who was there before a migration.
            yield PENDING.sample(max(0, target.total_purchased - actual.total_limit), member=member)


async def ask(node: Node, synchronizer: str, member: str) -> Answer | None:
    route = "/v0/domains/{domain_id}/members/{member_id}/traffic-status"
    return await node.find(route, Answer, domain_id=synchronizer, member_id=member)


async def find_synchronizer(node: Node) -> str:
    async def ask(route: str, answer: type[AmuletRules | CoinRules]) -> Update:
        return (await node.post(route, answer, {}, most_bytes=limits.CONTRACT_BYTES)).update

    update = await node.first(partial(ask, "/v0/amulet-rules", AmuletRules), partial(ask, "/v0/coin-rules", CoinRules))
    if not update.domain_id:
        raise Refused("the coin rules are on their way between two synchronizers; wait, or set the option synchronizer")
    return update.domain_id
