"""How a stream of a ledger is followed from run to run, so that nothing is lost and nothing counted twice."""

from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from exporter.api import Node
from exporter.errors import Failed, Malformed, TooLarge
from exporter.ledger import ledger_end, pruned_offset

SPARE_SECONDS = 1.0
"""How long before a run's end it asks for nothing more: what it has read is whole, and must not be lost."""
WIDEST = 2**16


class Position(NamedTuple):
    """Up to which offset a stream was read, and how much the node gave at once without complaint."""

    offset: int
    limit: int = 200
    """How many elements to ask for; a node gives no more than 200, unless it is configured to."""
    width: int = WIDEST
    """How many offsets to ask for."""


class Start(NamedTuple):
    """Where a run goes on, the ledger's end, and why there is a gap before: `pruned`, `reset`, or None."""

    position: Position
    end: int
    gap: str | None = None


async def go_on(node: Node, known: Position | None) -> Start:
    """Return where to go on from what was read last; at first from the ledger's end."""
    end = await ledger_end(node)
    if known is None:
        return Start(Position(end), end)
    if end < known.offset:  # the participant was rebuilt, and counts its offsets anew
        return Start(known._replace(offset=end), end, "reset")
    pruned = await pruned_offset(node)
    if pruned > known.offset:
        return Start(known._replace(offset=min(pruned, end)), end, "pruned")
    return Start(known, end)


async def follow(node: Node, start: Start, read: Callable[[Position, int], Awaitable[int]]) -> Position:
    """Read on until the end, or as long as there is time; return how far that was.

    `read` asks for what is behind a position, up to an offset, and returns up to where it has counted. What goes wrong
    is raised only if nothing was counted; else the next run will meet it.
    """
    position = start.position
    while position.offset < start.end and node.time_left() > SPARE_SECONDS:
        upto = min(position.offset + position.width, start.end)
        try:
            reached = await read(position, upto)
        except TooLarge:
            if upto - position.offset <= 1:
                raise
            position = position._replace(limit=max(1, position.limit // 2), width=(upto - position.offset) // 2)
            continue
        except Failed:
            if position.offset == start.position.offset:
                raise
            break
        if reached == position.offset:
            break
        position = position._replace(offset=reached, width=min(2 * position.width, WIDEST))
    return position


def check_order(offsets: Iterable[int], after: int, upto: int, asked: str) -> None:
    """Raise Malformed unless offsets rise, behind one and up to another: else something would be counted twice."""
    for offset in offsets:
        if not after < offset <= upto:
            raise Malformed(f"{asked}: offset {offset} where one from {after + 1} to {upto} should be")
        after = offset
