"""What a caller of /v2/updates asks for, and what is wrong with it."""

from dataclasses import dataclass

from exporter.simulator.dialect import Dialect
from exporter.simulator.http.canton_error import invalid_argument
from exporter.simulator.ledger.limits import check_not_negative, read_limits
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.request import (
    Query,
    page_size,
    read_body,
    read_field,
    read_page_token,
    require,
)
from exporter.simulator.ledger.update_format import UpdateFormat, read_format, read_update_format

ON_A_PAGE = 100
MOST_ON_A_PAGE = 2000


@dataclass(frozen=True)
class UpdatesRequest:
    begin: int
    end: int | None
    descending: bool
    format: UpdateFormat
    rows: int
    idle_seconds: float


def read_request(query: Query, content: bytes, dialect: Dialect, list_limit: int) -> UpdatesRequest:
    rows, idle_seconds = read_limits(query, list_limit)
    body = read_body(content)
    begin = require(read_field(body, "beginExclusive", int), "beginExclusive")
    end = read_field(body, "endInclusive", int)
    descending = bool(read_field(body, "descendingOrder", bool)) and dialect.knows_descending_order
    shown = read_format(body, dialect)
    check_not_negative(begin)
    if descending and end is None:
        raise invalid_argument("descending_order needs end_inclusive.")
    return UpdatesRequest(begin, end, descending, shown, rows, idle_seconds)


@dataclass(frozen=True)
class PageRequest:
    begin: int
    end: int
    descending: bool
    format: UpdateFormat
    size: int
    left: tuple[int, int]  # of the range, what is on this page and those that follow


def read_page_request(content: bytes, dialect: Dialect, participant: Participant) -> PageRequest:
    """A page is of the whole ledger unless told; that of a token is of the range of the page before."""
    body = read_body(content)
    begin = read_field(body, "beginOffsetExclusive", int)
    end = read_field(body, "endOffsetInclusive", int)
    descending = bool(read_field(body, "descendingOrder", bool))
    shown = read_update_format(require(read_field(body, "updateFormat", dict), "updateFormat"), dialect)
    size = page_size(read_field(body, "maxPageSize", int), MOST_ON_A_PAGE, ON_A_PAGE)
    token = read_page_token(read_field(body, "pageToken", str), parts=3)
    if token is not None:
        begin, end, reached = token
        left = (begin, reached) if descending else (reached, end)
    else:
        begin = participant.pruned() if begin is None else begin
        end = participant.end().offset if end is None else end
        left = (begin, end)
    check_not_negative(begin)
    return PageRequest(begin, end, descending, shown, size, left)
