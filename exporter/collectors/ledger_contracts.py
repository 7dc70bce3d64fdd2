"""How many active contracts of each template a participant holds, of some parties or of all.

Asks: POST /v2/state/active-contracts-page, page after page; on older releases GET. Where neither is, GET
/v2/state/ledger-end and POST /v2/state/active-contracts for 200 at a time, each time after the last; and on Canton 3.4,
which cannot go on after them, a websocket to /v2/state/active-contracts for more than 200 contracts.
Needs: a token that may read as the parties, or as any party. On Canton 3.4, for more than 200 contracts, that proxies
on the way let websockets through.
Costs: a request for every 1 000 contracts, of about 1 to 2 MB, at no more than half of the request budget; or
one for every 200; or on Canton 3.4 a few in all, of which one streams all contracts as fast as they are read.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec
from pydantic import Field

from exporter.api.ledger import Event, Seen, ledger_end
from exporter.collector import (
    Circle,
    Kind,
    Malformed,
    Mark,
    Metric,
    Node,
    Refused,
    RunOutput,
    Share,
    Struct,
    TooLarge,
    Unreachable,
    Unsupported,
    Yields,
    collector,
    limits,
    minutes,
)

CONTRACTS = Metric(
    "canton_ledger_contracts",
    "Number of active contracts of a template, including those in reassignment; 0 if a configured or earlier seen "
    "template has none.",
    ("template",),
    source="/v2/state/active-contracts-page or /v2/state/active-contracts",
)

PAGES, LIST = "/v2/state/active-contracts-page", "/v2/state/active-contracts"
MOST_LISTED = 200
"""How many elements a node gives in a list, unless its http-list-max-elements-limit differs."""


class Options(Seen):
    page_size: int = Field(default=1000, ge=1, le=10_000)
    """How many contracts to request at once."""


class Active(Struct):
    created: Event = msgspec.field(name="createdEvent")


class Assigned(Struct):
    assigned: Active = msgspec.field(name="assignedEvent")


class Entry(Struct):
    """A contract that is active, or that is on its way from one synchronizer to another: here it counts as well."""

    active: Active | None = msgspec.field(name="JsActiveContract", default=None)
    assigned: Assigned | None = msgspec.field(name="JsIncompleteAssigned", default=None)
    unassigned: Active | None = msgspec.field(name="JsIncompleteUnassigned", default=None)

    @property
    def event(self) -> Event | None:
        held = self.active or (self.assigned.assigned if self.assigned else None) or self.unassigned
        return held.created if held else None


class Element(Struct):
    entry: Entry | None = msgspec.field(name="contractEntry", default=None)
    token: str | None = msgspec.field(name="streamContinuationToken", default=None)


class Message(Struct):
    """An element of a websocket, where an error comes as well: only an element has the entry."""

    entry: Entry | None = msgspec.field(name="contractEntry")


class Page(Struct):
    elements: tuple[Element, ...] = msgspec.field(name="activeContracts")
    next_page_token: str | None = msgspec.field(name="nextPageToken", default=None)


@collector(
    Kind.LEDGER, interval=minutes(60), timeout=minutes(30), options=Options, share=Share.HALF, on_by_default=False
)
async def ledger_contracts(node: Node, options: Options, previous: RunOutput) -> Yields:
    posted = partial(by_pages, node, options, "POST")
    counts = await node.first(posted, partial(by_pages_got, node, options), partial(by_list, node, options))
    seen = (sample.labels[0] for sample in previous.of(CONTRACTS))
    for template in list(dict.fromkeys((*counts, *options.templates, *seen)))[: limits.TEMPLATES]:
        yield CONTRACTS.sample(counts[template], template=template)


class Count(Counter[str]):
    """Contracts by template; of the contracts themselves nothing is kept."""

    taken = 0

    def take(self, node: Node, operation: str, elements: Iterable[Element | Message]) -> None:
        for element in elements:
            if element.entry and (event := element.entry.event):
                self[event.template] += 1
                self.taken += 1
        if len(self) > limits.TEMPLATES:
            raise TooLarge(f"{operation}: more than {limits.TEMPLATES} templates; name the ones to count")
        node.progress(f"{self.taken:,} contracts")


async def by_pages(node: Node, options: Options, method: str) -> Count:
    wanted = {"eventFormat": options.event_format(), "maxPageSize": options.page_size}

    def body(token: Mark) -> dict[str, Any]:
        return wanted if token is None else {**wanted, "pageToken": token}

    counts = Count()
    async for page in node.pages(PAGES, Page, body, method=method):
        counts.take(node, f"{method} {PAGES}", page.elements)
    return counts


async def by_pages_got(node: Node, options: Options) -> Count:
    """Send a GET with a body. What refuses it may be a proxy that does not know such requests: try the next way."""
    try:
        return await by_pages(node, options, "GET")
    except Refused as refusal:
        if refusal.status is None or refusal.pause is not None:
            raise
        raise Unsupported(str(refusal)) from refusal


async def by_list(node: Node, options: Options) -> Count:
    """Ask for a few hundred at a time, which have to be those of one offset; an answer of fewer is the last one.

    Without `stream_idle_timeout_ms`, with which a node that pauses would give fewer as well.
    """
    wanted = {"activeAtOffset": await ledger_end(node), "eventFormat": options.event_format()}
    counts, circle, size, token = Count(), Circle(), MOST_LISTED, None
    while True:
        body = wanted if token is None else {**wanted, "streamContinuationToken": token}
        try:
            query = {"limit": str(size)}
            elements = await node.post(LIST, tuple[Element, ...], body, query=query, most_bytes=limits.PAGE_BYTES)
        except TooLarge:
            if size == 1:
                raise
            size //= 2  # the node's limit is lower than usual, or contracts are large
            continue
        except Unsupported as lack:
            if token is None:
                raise
            raise Refused(f"{lack}, after {counts.taken} contracts") from lack
        counts.take(node, f"POST {LIST}", elements)
        if len(elements) < size:
            return counts
        token = elements[-1].token
        if not token:
            more = partial(by_websocket, node, wanted, counts.taken), partial(at_once, node, wanted)
            return await node.first(*more)
        if circle.is_closed_by(token):
            raise Malformed(f"POST {LIST}: the token {token[:40]!r} came again, so the contracts have no end")


async def by_websocket(node: Node, wanted: dict[str, Any], least: int) -> Count:
    """Count what a websocket gives, which has to be no less than the list gave before it was cut."""
    counts = Count()
    try:
        async with aclosing(node.stream(LIST, Message, wanted)) as messages:
            async for message in messages:
                counts.take(node, f"GET {LIST}", (message,))
    except Refused as refusal:
        if counts.taken or refusal.status in (None, 401, 403) or refusal.pause is not None:
            raise
        raise Unsupported(str(refusal)) from refusal
    if counts.taken < least:
        raise Unreachable(f"GET {LIST}: the answer is not complete: {counts.taken} contracts, and a list had {least}")
    return counts


async def at_once(node: Node, wanted: dict[str, Any]) -> Count:
    """Ask for all in one list, which is whole where a node's limit was raised."""
    counts = Count()
    try:
        elements = await node.post(LIST, tuple[Element, ...], wanted, most_bytes=limits.PAGE_BYTES)
    except TooLarge as error:
        change = (
            "let websockets to the node through, name fewer parties or templates, or raise its "
            "http-list-max-elements-limit"
        )
        raise Unsupported(f"{error}; {change}") from error
    counts.take(node, f"POST {LIST}", elements)
    return counts
