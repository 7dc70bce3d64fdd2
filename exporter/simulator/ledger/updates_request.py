"""What a caller of /v2/updates asks for, and what is wrong with it."""

from dataclasses import dataclass

from exporter.simulator.dialect import Dialect
from exporter.simulator.http.canton_error import CantonError, invalid_argument
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.request import (
    Query,
    page_size,
    read_body,
    read_field,
    read_page_token,
    read_query,
    require,
)
from exporter.simulator.ledger.update_format import UpdateFormat, read_format, read_update_format

IDLE_MILLISECONDS = 500
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


def read_limits(query: Query, list_limit: int) -> tuple[int, float]:
    """How many rows are taken, and for how many seconds an idle stream is waited for."""
    limit = read_query(query, "limit")
    idle = read_query(query, "stream_idle_timeout_ms")
    # A limit above the list limit is no limit: one row too many is taken, by which the answer is seen to be too large.
    rows = list_limit + 1 if limit is None else min(limit, list_limit + 1)
    return rows, (IDLE_MILLISECONDS if idle is None else idle) / 1000


def check_not_negative(offset: int) -> None:
    if offset < 0:
        raise CantonError(400, "NEGATIVE_OFFSET", f"Offset {offset} is negative.", category=8, grpc=3)


def check_length(found: int, list_limit: int) -> None:
    if found > list_limit:
        cause = f"The number of matching elements ({found}) is greater than the node limit ({list_limit})."
        code = "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
        raise CantonError(413, code, cause, category=2, grpc=10, retry="1 second")
