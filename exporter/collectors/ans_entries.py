"""When the names of a party in the name service expire.

Asks: GET /v0/scan-proxy/ans-entries/by-party/{party} of a validator or /v0/ans-entries/by-party/{party} of a scan, for
one name of a party: the first in the alphabet that has not expired. With name_prefixes also GET
/v0/scan-proxy/ans-entries or /v0/ans-entries, which list the names of all parties by how they begin: no operation lists
them by party.
Needs: of a validator a token for its audience, without rights; of a scan nothing.
Costs: a small request a run for each party, and one for each prefix, whose answer may have 1 000 names (500 kB) and no
next page.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Annotated

import msgspec
from pydantic import Field

from exporter.api.scan import prefix
from exporter.collector import (
    Kind,
    Metric,
    Moment,
    Name,
    Node,
    PartyId,
    RunOutput,
    Strict,
    Struct,
    Yields,
    collector,
    limits,
    minutes,
)

SOURCE = "GET /v0/scan-proxy/ans-entries/by-party/{party} or /v0/ans-entries/by-party/{party}"
FOUND = Metric(
    "canton_ans_entry_found", "1 if the party has an entry in the name service, 0 if not.", ("party",), source=SOURCE
)
EXPIRY = Metric(
    "canton_ans_entry_expiry_timestamp_seconds",
    "Unix time in seconds when a name of the party expires; absent if it never does.",
    ("party", "name"),
    source="GET /v0/scan-proxy/ans-entries and /v0/scan-proxy/ans-entries/by-party/{party}, or the same below /v0",
)

MOST_NAMES = 1_000
"""More than this many no node lists at once."""


class Options(Strict):
    parties: Annotated[list[PartyId], Field(min_length=1)]
    """Whose names to watch."""
    name_prefixes: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=50)] = []
    """How names of the parties begin, for parties with more than one: the whole name, or what many have in common.

    An empty one lists all names of the network, where these are fewer than 1 000.
    """


class Entry(Struct):
    name: Name
    expires_at: Moment | None = None


class ListedEntry(Entry, kw_only=True):
    user: Name


class Answer(Struct):
    entry: Entry


class Entries(Struct):
    entries: Annotated[tuple[ListedEntry, ...], msgspec.Meta(max_length=MOST_NAMES)]


@collector(Kind.VALIDATOR, Kind.SCAN, interval=minutes(10), timeout=minutes(1), options=Options)
async def ans_entries(node: Node, options: Options, previous: RunOutput) -> Yields:
    async def ask(party: str) -> Answer | None:
        return await node.find(f"{prefix(node)}/ans-entries/by-party/{{party}}", Answer, party=party)

    names: dict[str, dict[str, datetime | None]] = {}
    for party, answer in (await node.for_each(options.parties, ask)).items():
        names[party] = {answer.entry.name: answer.entry.expires_at} if answer else {}
    for entry in await listed(node, options.name_prefixes):
        if entry.user in names:
            names[entry.user][entry.name] = entry.expires_at

    for party, found in names.items():
        yield FOUND.sample(bool(found), party=party)
        for name, expires_at in found.items():
            if expires_at:
                yield EXPIRY.sample(expires_at.timestamp(), party=party, name=name)


async def listed(node: Node, prefixes: Sequence[str]) -> list[ListedEntry]:
    """Return the names that begin in these ways, of any party; none where the node does not list names."""

    async def ask(begin: str) -> Entries:
        query = {"page_size": str(MOST_NAMES), **({"name_prefix": begin} if begin else {})}
        return await node.get(f"{prefix(node)}/ans-entries", Entries, query=query, most_bytes=limits.PAGE_BYTES)

    answers = await node.or_none(partial(node.for_each, prefixes, ask))
    if answers is None:
        node.remark("the node does not list names, so only the first of each party is seen")
        return []
    for begin, answer in answers.items():
        if len(answer.entries) == MOST_NAMES:
            node.remark(f"more names begin with {begin!r} than a node lists; write longer name_prefixes")
    return [entry for answer in answers.values() for entry in answer.entries]
