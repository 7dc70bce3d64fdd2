"""The operations of a ledger that tell its active contracts: as one list, as a stream, and in pages."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from aiohttp import web

from exporter.simulator.dialect import Dialect
from exporter.simulator.http.canton_error import CantonError, invalid_argument
from exporter.simulator.ledger.contract_entries import ContractEntries
from exporter.simulator.ledger.event_format import EventFormat, read_event_format
from exporter.simulator.ledger.limits import check_length, check_not_negative, check_pruned, read_limits
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.request import (
    LedgerOperation,
    disabled,
    page_size,
    page_token,
    read_body,
    read_field,
    read_page_token,
    require,
)
from exporter.simulator.ledger.update_format import read_legacy

PAGE = "/v2/state/active-contracts-page"
ON_A_PAGE = 2_000
MOST_ON_A_PAGE = 10_000
# After so many contracts it is looked whether they are pruned.
CHECKED = 100


class ActiveContractsOperations:
    def __init__(self, participant: Participant, active: ContractEntries, dialect: Dialect, list_limit: int) -> None:
        self._participant = participant
        self._active = active
        self._dialect = dialect
        self._list_limit = list_limit

    def operations(self) -> Iterator[LedgerOperation]:
        yield LedgerOperation("POST", "/v2/state/active-contracts", self.whole)
        if not self._dialect.is_canton_3_4:
            yield LedgerOperation("GET", PAGE, disabled if self._dialect.legacy_is_disabled else self.page)
        if self._dialect.posts_acs_pages:
            yield LedgerOperation("POST", PAGE, self.page)

    async def whole(self, request: web.Request) -> Any:
        rows, _ = read_limits(request.query, self._list_limit)
        found = list(islice(self.stream(await request.read()), rows))
        check_length(len(found), self._list_limit)
        return found

    def stream(self, content: bytes) -> Iterator[dict[str, Any]]:
        """All there is of what a request asks for; it ends with an error if that is pruned meanwhile."""
        body = read_body(content)
        offset = require(read_field(body, "activeAtOffset", int), "activeAtOffset")
        asked = self._read_format(body)
        token = None if self._dialect.is_canton_3_4 else read_field(body, "streamContinuationToken", str)
        [begin, of] = read_page_token(token, parts=2) or [0, offset]
        self._check(offset)
        if of != offset:
            raise invalid_argument("The token is of another offset.")
        for number, entry in self._shown(offset, begin, asked):
            if number % CHECKED == 0:
                self._check(offset)
            # A stream may be continued after each of its elements, but not before Canton 3.5.
            after = {} if self._dialect.is_canton_3_4 else {"streamContinuationToken": page_token(number + 1, offset)}
            yield {**entry, **after}

    async def page(self, request: web.Request) -> Any:
        body = read_body(await request.read())
        asked = read_event_format(require(read_field(body, "eventFormat", dict), "eventFormat"), self._dialect)
        given = read_field(body, "activeAtOffset", int)
        size = page_size(read_field(body, "maxPageSize", int), MOST_ON_A_PAGE, ON_A_PAGE)
        token = read_page_token(read_field(body, "pageToken", str), parts=2)
        offset, begin = token or [self._participant.end().offset if given is None else given, 0]
        self._check(offset)
        # One more than the page has says whether there is another page.
        found = list(islice(self._shown(offset, begin, asked), size + 1))
        following = page_token(offset, found[size][0]) if len(found) > size else None
        contracts = [{**entry, "streamContinuationToken": None} for _, entry in found[:size]]
        return {"activeContracts": contracts, "activeAtOffset": offset, "nextPageToken": following}

    def _read_format(self, body: dict[str, Any]) -> EventFormat:
        event_format: dict[str, Any] | None = read_field(body, "eventFormat", dict)
        legacy = read_legacy(body, event_format, "eventFormat", self._dialect)
        given = legacy if event_format is None else event_format
        return EventFormat() if given is None else read_event_format(given, self._dialect)

    def _shown(self, offset: int, begin: int, asked: EventFormat) -> Iterator[tuple[int, dict[str, Any]]]:
        for number in self._active.at(offset, begin):
            entry = self._active.show(number, asked, self._dialect)
            if entry is not None:
                yield number, {"workflowId": "", "contractEntry": entry}

    def _check(self, offset: int) -> None:
        """Whether the contracts of an offset can be told; at the start of the ledger there were none."""
        check_not_negative(offset)
        end = self._participant.end().offset
        if offset > end:
            cause = f"active_at_offset ({offset}) is after ledger end ({end})"
            raise CantonError(400, "OFFSET_AFTER_LEDGER_END", cause, category=12, grpc=11)
        if offset:
            check_pruned(self._participant, offset, "Active contracts")
