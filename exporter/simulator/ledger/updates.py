"""The operations of a ledger that tell its updates: a stream of them, and pages."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from aiohttp import web

from exporter.simulator.dialect import Dialect
from exporter.simulator.ledger.indexed_events import Event
from exporter.simulator.ledger.limits import check_length, check_range
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.request import LedgerOperation, page_token
from exporter.simulator.ledger.stream import Stream
from exporter.simulator.ledger.updates_json import Update, Updates
from exporter.simulator.ledger.updates_request import UpdatesRequest, read_page_request, read_request


class UpdateOperations:
    def __init__(self, participant: Participant, dialect: Dialect, list_limit: int) -> None:
        self._participant = participant
        self._dialect = dialect
        self._list_limit = list_limit

    def operations(self) -> Iterator[LedgerOperation]:
        yield LedgerOperation("POST", "/v2/updates", self.updates)
        if self._dialect.has_update_pages:
            yield LedgerOperation("POST", "/v2/updates/get-updates-page", self.page)

    async def updates(self, request: web.Request) -> Any:
        asked = read_request(request.query, await request.read(), self._dialect, self._list_limit)
        check_range(self._participant, asked.begin, asked.end)
        if asked.end is None:
            updates = await self._until_idle(asked)
        else:
            updates = self._bounded(asked, asked.end)
        check_length(len(updates), self._list_limit)
        return updates

    async def page(self, request: web.Request) -> Any:
        asked = read_page_request(await request.read(), self._dialect, self._participant)
        check_range(self._participant, asked.begin, asked.end)
        updates = Updates(self._participant, asked.format, self._dialect)
        low, high = asked.left
        shown: list[Update] = []
        events = in_order(self._participant, low, high, descending=asked.descending) if asked.format else ()
        # Before one update too many is found, nobody knows that there is another page.
        for event in events:
            update = updates.show(event)
            if update is not None and len(shown) == asked.size:
                break
            if update is not None:
                shown.append(update)
                last = event.offset
        else:
            return page_json(shown, low, high, None)
        if asked.descending:
            return page_json(shown, last - 1, high, page_token(asked.begin, asked.end, last - 1))
        return page_json(shown, low, last, page_token(asked.begin, asked.end, last))

    async def _until_idle(self, asked: UpdatesRequest) -> list[Update]:
        updates = Updates(self._participant, asked.format, self._dialect)
        early = self._dialect.checks_early_for_a_checkpoint
        show = updates.show if asked.format else None
        stream = Stream(self._participant, asked.begin, show, updates.show_checkpoint, checks_early=early)
        return await stream.until_idle(asked.rows, asked.idle_seconds)

    def _bounded(self, asked: UpdatesRequest, end: int) -> list[Update]:
        """The updates of a range that ends. They come without checkpoints."""
        if not asked.format:
            return []  # however long the range
        updates = Updates(self._participant, asked.format, self._dialect)
        events = in_order(self._participant, asked.begin, end, descending=asked.descending)
        shown = (updates.show(event) for event in events)
        return list(islice((update for update in shown if update is not None), asked.rows))


def page_json(updates: list[Update], low: int, high: int, following: str | None) -> dict[str, Any]:
    return {
        "updates": updates,
        "lowestPageOffsetExclusive": low,
        "highestPageOffsetInclusive": high,
        "nextPageToken": following,
    }


def in_order(participant: Participant, after: int, until: int, *, descending: bool) -> Iterator[Event]:
    events = participant.between(after, until)
    return reversed(list(events)) if descending else events
