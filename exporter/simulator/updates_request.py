"""What a caller of /v2/updates asks for, and what is wrong with it."""

from dataclasses import dataclass
from typing import Any

from exporter.simulator.canton_error import CantonError, invalid_argument
from exporter.simulator.dialect import Dialect
from exporter.simulator.ledger_request import Query, read_body, read_field, read_query, require, undecodable
from exporter.simulator.participant import Event

LIST_LIMIT = 200
IDLE_MILLISECONDS = 500
UNSPECIFIED = "TRANSACTION_SHAPE_UNSPECIFIED"
SHAPES = (UNSPECIFIED, "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS")


@dataclass(frozen=True)
class Parties:
    """Whose contracts a stream shows."""

    named: frozenset[str] = frozenset()
    everybody: bool = False

    def __bool__(self) -> bool:
        return self.everybody or bool(self.named)

    def include(self, event: Event) -> bool:
        return event.party is not None and (self.everybody or event.party in self.named)


@dataclass(frozen=True)
class UpdatesRequest:
    begin: int
    end: int | None
    descending: bool
    parties: Parties
    rows: int
    idle_seconds: float


def read_request(query: Query, content: bytes, dialect: Dialect) -> UpdatesRequest:
    limit = read_query(query, "limit")
    idle = read_query(query, "stream_idle_timeout_ms")
    body = read_body(content)
    begin = require(read_field(body, "beginExclusive", int), "beginExclusive")
    end = read_field(body, "endInclusive", int)
    descending = bool(read_field(body, "descendingOrder", bool)) and dialect.knows_descending_order
    parties = read_parties(body, dialect)
    if begin < 0:
        raise CantonError(400, "NEGATIVE_OFFSET", f"Offset {begin} is negative.", category=8, grpc=3)
    if descending and end is None:
        raise invalid_argument("descending_order needs end_inclusive.")
    # A limit above the list limit is no limit: one row too many is taken, by which the answer is seen to be too large.
    rows = LIST_LIMIT + 1 if limit is None else min(limit, LIST_LIMIT + 1)
    return UpdatesRequest(begin, end, descending, parties, rows, (IDLE_MILLISECONDS if idle is None else idle) / 1000)


def read_parties(body: dict[str, Any], dialect: Dialect) -> Parties:
    """Whose contracts to show, by the update format or by the legacy fields in its place."""
    update_format = read_field(body, "updateFormat", dict)
    legacy = read_field(body, "filter", dict)
    verbose = read_field(body, "verbose", bool)
    if dialect.legacy_is_disabled and (legacy is not None or verbose is not None):
        cause = "The fields filter and verbose are deprecated and disabled. Use update_format."
        raise CantonError(400, "DEPRECATED_API_DISABLED", cause, category=9, grpc=9)
    if update_format is None:
        # The document derives a format even from no filter at all: one that shows nothing.
        if legacy is None and dialect.is_network:
            raise invalid_argument("Either filter or update_format is required.")
        return read_filters(legacy, dialect)
    # On the network a verbose of false is the same as none.
    if legacy is not None or verbose or (verbose is not None and not dialect.is_network):
        raise invalid_argument("Filter and verbose exclude update_format.")
    return read_update_format(update_format, dialect)


def read_update_format(of: dict[str, Any], dialect: Dialect) -> Parties:
    """Reassignments and topology events may be asked for, but this network has none."""
    for name in ("includeReassignments", "includeTopologyEvents"):
        read_field(of, name, dict)
    transactions = read_field(of, "includeTransactions", dict)
    if transactions is None:
        return Parties()
    event_format = read_field(transactions, "eventFormat", dict)
    shape = read_field(transactions, "transactionShape", str)
    if event_format is None or shape not in SHAPES:
        raise undecodable("body", "Missing or unknown value in 'includeTransactions'")
    if shape == UNSPECIFIED:
        raise CantonError(400, "MISSING_FIELD", "Missing mandatory field: transaction_shape", category=8, grpc=3)
    return read_filters(event_format, dialect)


def read_filters(of: dict[str, Any] | None, dialect: Dialect) -> Parties:
    """Filters count by party only: a filter by template shows all contracts of its party."""
    if of is None:
        return Parties()
    by_party = read_field(of, "filtersByParty", dict) or {}
    everybody = read_field(of, "filtersForAnyParty", dict) is not None
    if not by_party and not everybody and dialect.is_network:
        raise invalid_argument("filtersByParty and filtersForAnyParty cannot be empty simultaneously.")
    return Parties(frozenset(by_party), everybody)
