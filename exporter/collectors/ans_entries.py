"""When each name of a party in the name service expires.

Asks: GET /v0/scan-proxy/ans-entries/by-party/{party} of a validator or /v0/ans-entries/by-party/{party} of a scan.
Needs: of a validator a token for its audience, without rights; of a scan nothing.
Costs: a small request a run for each party.
"""

from typing import Annotated

from pydantic import Field

from exporter.answers import Moment, Struct
from exporter.api import Node
from exporter.collector import Yielded, Yields, collector, minutes
from exporter.metric import Metric
from exporter.scan import Name, prefix
from exporter.settings import Kind, PartyId, Strict

SOURCE = "GET /v0/scan-proxy/ans-entries/by-party/{party} or /v0/ans-entries/by-party/{party}"
FOUND = Metric("canton_ans_entry_found", "1 if the party has a name, else 0.", ("party",), source=SOURCE)
EXPIRY = Metric(
    "canton_ans_entry_expiry_timestamp_seconds",
    "When the entry expires; absent where it never does, as names of the network itself.",
    ("party", "name"),
    source=SOURCE,
)


class Options(Strict):
    parties: Annotated[list[PartyId], Field(min_length=1)]
    """Whose names to watch."""


class Entry(Struct):
    name: Name
    expires_at: Moment | None = None


class Answer(Struct):
    entry: Entry


@collector(Kind.VALIDATOR, Kind.SCAN, interval=minutes(10), timeout=minutes(1), options=Options)
async def ans_entries(node: Node, options: Options, previous: Yielded) -> Yields:
    async def ask(party: str) -> Answer | None:
        return await node.find(f"{prefix(node)}/ans-entries/by-party/{{party}}", Answer, party=party)

    for party, answer in (await node.of_each(options.parties, ask)).items():
        yield FOUND.sample(answer is not None, party=party)
        if answer and answer.entry.expires_at:
            yield EXPIRY.sample(answer.entry.expires_at.timestamp(), party=party, name=answer.entry.name)
