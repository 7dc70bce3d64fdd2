"""How many active contracts of each template a participant holds, of some parties or of all.

Asks: POST /v2/state/active-contracts-page, page after page; where that is missing, GET /v2/state/ledger-end and POST
/v2/state/active-contracts, which gives up beyond 200 contracts.
Needs: a token that may read as the parties, or as any party.
Costs: a request for every 1 000 contracts, of about 1 to 2 MB, at no more than half of the host's request budget.
"""

from collections import Counter
from typing import Any

import msgspec
from pydantic import Field

from exporter.answers import Struct
from exporter.api import Node
from exporter.budget import Share
from exporter.collector import Yielded, Yields, collector, minutes
from exporter.errors import TooLarge
from exporter.ledger import Event, Seen, ledger_end
from exporter.metric import Metric
from exporter.paging import Mark
from exporter.settings import Kind

CONTRACTS = Metric(
    "canton_ledger_contracts",
    "Active contracts, those on their way between synchronizers too; 0 for templates asked for or seen before.",
    ("template",),
    source="POST /v2/state/active-contracts-page or /v2/state/active-contracts",
)

MOST_TEMPLATES = 10_000


class Options(Seen):
    page_size: int = Field(default=1000, ge=1, le=10_000)
    """How many contracts to ask for at once."""


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


class Page(Struct):
    elements: tuple[Element, ...] = msgspec.field(name="activeContracts")
    next_page_token: str | None = msgspec.field(name="nextPageToken", default=None)


@collector(Kind.LEDGER, interval=minutes(60), timeout=minutes(30), options=Options, share=Share.HALF, is_on=False)
async def ledger_contracts(node: Node, options: Options, previous: Yielded) -> Yields:
    counts = await node.first(lambda: by_pages(node, options), lambda: at_once(node, options))
    seen = (sample.labels[0] for sample in previous.of(CONTRACTS))
    for template in list(dict.fromkeys((*counts, *options.templates, *seen)))[:MOST_TEMPLATES]:
        yield CONTRACTS.sample(counts[template], template=template)


async def by_pages(node: Node, options: Options) -> Counter[str]:
    route = "/v2/state/active-contracts-page"
    wanted = {"eventFormat": options.event_format(), "maxPageSize": options.page_size}

    def body(token: Mark) -> dict[str, Any]:
        return wanted if token is None else {**wanted, "pageToken": token}

    counts: Counter[str] = Counter()
    async for page in node.pages(route, Page, body):
        counts.update(templates(page.elements))
        if len(counts) > MOST_TEMPLATES:
            raise TooLarge(f"POST {route}: more than {MOST_TEMPLATES} templates; name the ones to count")
        node.progress(f"{counts.total():,} contracts")
    return counts


async def at_once(node: Node, options: Options) -> Counter[str]:
    route = "/v2/state/active-contracts"
    body = {"activeAtOffset": await ledger_end(node), "eventFormat": options.event_format()}
    try:
        return Counter(templates(await node.post(route, tuple[Element, ...], body)))
    except TooLarge as error:
        change = "name fewer parties or templates, or raise the node's http-list-max-elements-limit"
        raise TooLarge(f"{error}; {change}", error.status, error.code) from error


def templates(elements: tuple[Element, ...]) -> list[str]:
    events = (element.entry.event for element in elements if element.entry)
    return [event.template for event in events if event]
