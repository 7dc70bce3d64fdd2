"""How much of the rewards each super validator gets, as last decided by a vote.

Asks: POST /v0/admin/sv/previous-sv-reward-weight, which despite its name needs no rights.
Needs: nothing; a scan knows no tokens.
Costs: a small request a run for each party.
"""

from typing import Annotated

import msgspec
from pydantic import AwareDatetime, Field

from exporter.collector import Kind, Metric, Node, PartyId, RunOutput, Strict, Struct, Whole, Yields, collector, minutes

WEIGHT = Metric(
    "canton_sv_reward_weight",
    "Reward weight of the super validator in basis points, from the last accepted vote; absent if there was none.",
    ("sv",),
    source="POST /v0/admin/sv/previous-sv-reward-weight",
)


class Options(Strict):
    parties: Annotated[list[PartyId], Field(min_length=1)]
    """The super validators' party ids."""
    effective_before: AwareDatetime | None = None
    """Consider only changes that take effect before this time, such as `2026-12-01T00:00:00Z`."""


class Answer(Struct):
    weight: Whole | None = msgspec.field(name="rewardWeight", default=None)


@collector(Kind.SCAN, interval=minutes(10), timeout=minutes(1), options=Options)
async def sv_reward_weight(node: Node, options: Options, previous: RunOutput) -> Yields:
    before = {} if options.effective_before is None else {"effectiveBefore": options.effective_before.isoformat()}

    async def ask(party: str) -> Answer:
        return await node.post("/v0/admin/sv/previous-sv-reward-weight", Answer, {"svParty": party, **before})

    for party, answer in (await node.for_each(options.parties, ask)).items():
        if answer.weight is not None:
            yield WEIGHT.sample(float(answer.weight), sv=party)
