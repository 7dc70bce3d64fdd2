"""How a stream is followed, apart from what it holds: spans, limits, time and failures."""

from collections.abc import Awaitable, Callable

import pytest

from exporter.api.stream_cursor import WIDEST, Position, ResumePoint, check_order, follow
from exporter.errors import Malformed, Refused, TooLarge
from exporter.node.client import Node
from tests.conftest import Asking, FakeClock

Read = Callable[[Position, int], Awaitable[int]]


@pytest.fixture
async def node(asking: Asking) -> Node:
    return asking("http://127.0.0.1:9", seconds=12)


def most(updates: int, asked: list[tuple[int, int, int]]) -> Read:
    """Return what reads a ledger with an update at every offset, of which it gives no more than so many."""

    async def read(position: Position, upto: int) -> int:
        asked.append((position.offset, upto, position.limit))
        if min(upto - position.offset, position.limit) > updates:
            raise TooLarge("too much", 413)
        return min(upto, position.offset + position.limit)

    return read


@pytest.mark.parametrize("updates", [1, 2, 50, 199, 200])
async def test_every_offset_is_read_whatever_the_nodes_limit(node: Node, updates: int) -> None:
    asked: list[tuple[int, int, int]] = []
    position = await follow(node, ResumePoint(Position(0), 3000), most(updates, asked))
    assert position.offset == 3000
    assert len(asked) < 3000 / max(1, updates // 2) + 30


async def test_what_fits_into_one_answer_is_one_question(node: Node) -> None:
    asked: list[tuple[int, int, int]] = []
    await follow(node, ResumePoint(Position(0), 150), most(200, asked))
    assert asked == [(0, 150, 200)]


async def test_a_long_way_is_gone_in_spans(node: Node) -> None:
    asked = []

    async def read(position: Position, upto: int) -> int:
        asked.append((position.offset, upto))
        return upto

    await follow(node, ResumePoint(Position(0), WIDEST + 1), read)
    assert asked == [(0, WIDEST), (WIDEST, WIDEST + 1)]


async def test_it_stops_while_there_is_time_to_say_how_far_it_came(node: Node, clock: FakeClock) -> None:
    async def read(position: Position, upto: int) -> int:
        clock.advance(4)
        return position.offset + 1

    assert (await follow(node, ResumePoint(Position(0), 100), read)).offset == 3


async def test_a_failure_is_raised_only_if_nothing_was_read(node: Node) -> None:
    async def read(position: Position, upto: int) -> int:
        if position.offset == 2:
            raise Refused("no")
        return position.offset + 1

    assert (await follow(node, ResumePoint(Position(0), 100), read)).offset == 2
    with pytest.raises(Refused):
        await follow(node, ResumePoint(Position(2), 100), read)


async def test_where_nothing_is_read_it_waits_for_the_next_run(node: Node) -> None:
    async def read(position: Position, upto: int) -> int:
        return position.offset

    assert (await follow(node, ResumePoint(Position(5), 100), read)).offset == 5


def test_offsets_rise() -> None:
    check_order([2, 3, 9], 1, 9, "GET /x")
    for offsets in ([1], [2, 2], [3, 2], [10]):
        with pytest.raises(Malformed, match="GET /x: offset"):
            check_order(offsets, 1, 9, "GET /x")
