"""Which updates a caller wants to see, and in which shape."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.http.canton_error import CantonError, invalid_argument
from exporter.simulator.ledger.event_format import EventFormat, read_event_format
from exporter.simulator.ledger.request import read_field, read_strings, undecodable


class Shape(StrEnum):
    UNSPECIFIED = "TRANSACTION_SHAPE_UNSPECIFIED"
    ACS_DELTA = "TRANSACTION_SHAPE_ACS_DELTA"
    LEDGER_EFFECTS = "TRANSACTION_SHAPE_LEDGER_EFFECTS"


@dataclass(frozen=True)
class UpdateFormat:
    """What is None is not shown."""

    transactions: EventFormat | None = None
    shape: Shape = Shape.ACS_DELTA
    reassignments: EventFormat | None = None
    topology: frozenset[str] | None = None  # of these parties; if it is empty, of all

    def __bool__(self) -> bool:
        return not (self.transactions is None and self.reassignments is None and self.topology is None)


def read_format(body: dict[str, Any], dialect: Dialect) -> UpdateFormat:
    """What to show, by the update format or by the legacy fields in its place."""
    update_format = read_field(body, "updateFormat", dict)
    legacy = read_legacy(body, update_format, "updateFormat", dialect)
    if update_format is not None:
        return read_update_format(update_format, dialect)
    if legacy is None:
        return UpdateFormat()
    events = read_event_format(legacy, dialect)
    # The topology of all parties that are named, or of all if there is a filter for any.
    is_open = bool(events.for_anybody)
    named = None if not is_open and not events.by_party else frozenset([] if is_open else events.by_party)
    return UpdateFormat(events, Shape.ACS_DELTA, events, named)


def read_legacy(body: dict[str, Any], new: Any, name: str, dialect: Dialect) -> dict[str, Any] | None:
    """The legacy filter, if it stands in place of the new format; None in the document even if it does not."""
    legacy = read_field(body, "filter", dict)
    verbose = read_field(body, "verbose", bool)
    if dialect.legacy_is_disabled and (legacy is not None or verbose is not None):
        cause = f"The fields filter and verbose are deprecated and disabled. Use {name}."
        raise CantonError(400, "DEPRECATED_API_DISABLED", cause, category=9, grpc=9)
    if new is None:
        # The document derives a format even from no filter at all: one that shows nothing.
        if legacy is None and dialect.is_network:
            raise invalid_argument(f"Either filter or {name} is required.")
        return legacy
    # On the network a verbose of false is the same as none.
    if legacy is not None or verbose or (verbose is not None and not dialect.is_network):
        raise invalid_argument(f"Filter and verbose exclude {name}.")
    return None


def read_update_format(of: dict[str, Any], dialect: Dialect) -> UpdateFormat:
    transactions, shape = read_transactions(of, dialect)
    reassignments = read_field(of, "includeReassignments", dict)
    topology = read_field(of, "includeTopologyEvents", dict)
    authorizations = None if topology is None else read_field(topology, "includeParticipantAuthorizationEvents", dict)
    return UpdateFormat(
        transactions,
        shape,
        None if reassignments is None else read_event_format(reassignments, dialect),
        None if authorizations is None else frozenset(read_strings(authorizations, "parties")),
    )


def read_transactions(of: dict[str, Any], dialect: Dialect) -> tuple[EventFormat | None, Shape]:
    transactions = read_field(of, "includeTransactions", dict)
    if transactions is None:
        return None, Shape.ACS_DELTA
    event_format = read_field(transactions, "eventFormat", dict)
    shape = read_field(transactions, "transactionShape", str)
    if event_format is None or shape not in list(Shape):
        raise undecodable("body", "Missing or unknown value in 'includeTransactions'")
    if shape == Shape.UNSPECIFIED:
        raise CantonError(400, "MISSING_FIELD", "Missing mandatory field: transaction_shape", category=8, grpc=3)
    return read_event_format(event_format, dialect), Shape(shape)
