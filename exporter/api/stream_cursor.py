"""How a stream of a ledger is followed from run to run, so that nothing is lost and nothing counted twice."""

from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from exporter.api.ledger import ledger_end, pruned_offset
from exporter.collector import Failed, Malformed, Node, TooLarge

SPARE_SECONDS = 1.0
"""How long before a run's end it requests nothing more: what it has read is whole, and must not be lost."""
WIDEST = 2**16


class Position(NamedTuple):
    """Up to which offset a stream was read, and how much the node gave at once without complaint."""

    offset: int
    limit: int = 200
    """How many elements to request; a node gives no more than 200, unless it is configured to."""
    width: int = WIDEST
    """How many offsets to request."""
    is_beyond_the_end: bool = False
    """Whether the last run found the ledger's end below the offset."""


class ResumePoint(NamedTuple):
    """Where a run goes on, the ledger's end, and why there is a gap before: `pruned`, `reset`, or None."""

    position: Position
    end: int
    gap: str | None = None


async def go_on(node: Node, known: Position | None) -> ResumePoint:
    """Return where to go on from what was read last; at first from the ledger's end."""
    end = await ledger_end(node)
    if known is None:
        return ResumePoint(Position(end), end)
    if end < known.offset:
        if not known.is_beyond_the_end:  # one answer may be a mistake, or another replica's
            node.remark(
                "the ledger end went back", f"to {end}; if the next run finds it so too, the ledger counts as a new one"
            )
            return ResumePoint(known._replace(is_beyond_the_end=True), end)
        return ResumePoint(known._replace(offset=end, is_beyond_the_end=False), end, "reset")
    known = known._replace(is_beyond_the_end=False)
    pruned = await pruned_offset(node)
    if pruned > known.offset:
        return ResumePoint(known._replace(offset=min(pruned, end)), end, "pruned")
    return ResumePoint(known, end)


async def follow(node: Node, start: ResumePoint, read: Callable[[Position, int], Awaitable[int]]) -> Position:
    """Read on until the end, or as long as there is time; return how far that was.

    `read` requests what is behind a position, up to an offset, and returns up to where it has counted. What goes wrong
    is raised only if nothing was counted or learned of the node's limits; else the next run will meet it.
    """
    position, too_large = start.position, None
    while position.offset < start.end and node.time_left() > SPARE_SECONDS:
        upto = min(position.offset + position.width, start.end)
        try:
            reached = await read(position, upto)
        except Failed as failure:
            if isinstance(failure, TooLarge) and upto - position.offset > 1:
                limit = max(1, position.limit // 2) if failure.status == 413 else position.limit
                position = position._replace(limit=limit, width=(upto - position.offset) // 2)
                too_large = failure
                continue
            if position == start.position:
                raise
            break
        too_large = None
        if reached == position.offset:
            break
        position = position._replace(offset=reached, width=min(2 * position.width, WIDEST))
    if too_large and position.offset == start.position.offset:
        node.remark("the answer was too large; less of the stream is requested at once", str(too_large))
    return position


def check_order(offsets: Iterable[int], after: int, upto: int, operation: str) -> None:
    """Raise Malformed unless offsets rise, behind `after` and up to `upto`: else something would be counted twice."""
    for offset in offsets:
        if not after < offset <= upto:
            raise Malformed(f"{operation}: offset {offset} where one from {after + 1} to {upto} should be")
        after = offset
