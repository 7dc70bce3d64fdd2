"""What bounds any answer of a ledger: how long a list may be, and which offsets there are."""

from exporter.simulator.http.canton_error import CantonError
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.request import Query, read_query

IDLE_MILLISECONDS = 500


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


def check_range(participant: Participant, begin: int, end: int | None) -> None:
    ledger_end = participant.end().offset
    for name, offset in (("Begin", begin), ("End", end)):
        if offset is not None and offset > ledger_end:
            cause = f"{name} offset ({offset}) is after ledger end ({ledger_end})"
            raise CantonError(400, "OFFSET_AFTER_LEDGER_END", cause, category=12, grpc=11)
    if end is not None and end < begin:
        cause = f"End offset {end} is before begin offset {begin}."
        raise CantonError(400, "OFFSET_OUT_OF_RANGE", cause, category=9, grpc=9)
    check_pruned(participant, begin, "Updates")


def check_pruned(participant: Participant, begin: int, what: str) -> None:
    pruned = participant.pruned()
    if begin < pruned:
        cause = f"{what} request from {begin} precedes pruned offset {pruned}"
        context = {"earliest_offset": str(pruned)}
        raise CantonError(400, "PARTICIPANT_PRUNED_DATA_ACCESSED", cause, category=9, grpc=9, context=context)
