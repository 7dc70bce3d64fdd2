"""How many parties a participant knows, and how many of them it hosts.

Asks: GET /v2/parties, page after page.
Needs: a token of a participant admin.
Costs: a request for each page of parties, which by default has up to 10 000.
"""

from collections import Counter

import msgspec

from exporter.collector import Kind, Mark, Metric, Node, RunOutput, Share, Strict, Struct, Yields, collector, minutes

PARTIES = Metric(
    "canton_ledger_parties",
    "Number of parties that the participant knows, hosted on it (local) or not.",
    ("local",),
    source="GET /v2/parties",
)


class Party(Struct):
    is_local: bool | None = msgspec.field(name="isLocal", default=None)


class Page(Struct):
    parties: tuple[Party, ...] = msgspec.field(name="partyDetails")
    next_page_token: str | None = msgspec.field(name="nextPageToken", default=None)


@collector(Kind.LEDGER, interval=minutes(60), timeout=minutes(30), share=Share.HALF, on_by_default=False)
async def ledger_parties(node: Node, options: Strict, previous: RunOutput) -> Yields:
    def query(token: Mark) -> dict[str, str]:
        return {} if token is None else {"pageToken": str(token)}

    counts = Counter({True: 0, False: 0})
    async for page in node.listed("/v2/parties", Page, query):
        counts.update(bool(party.is_local) for party in page.parties)
        node.progress(f"{counts.total():,} parties")
    for is_local, count in counts.items():
        yield PARTIES.sample(count, local="true" if is_local else "false")
