"""ledger_completions: each completion counted once, by user and code."""

from typing import Any

from exporter.collectors.ledger_completions import ledger_completions
from tests.conftest import Lines
from tests.nodes import TestNode

PARTIES: dict[str, Any] = {"parties": ["a::12"]}
OPTIONS: dict[str, Any] = {**PARTIES, "user": "app"}


def at(node: TestNode, end: int, pruned: int = 0) -> None:
    node.get("/v2/state/ledger-end", answers={"offset": end})
    node.get("/v2/state/latest-pruned-offsets", answers={"participantPrunedUpToInclusive": pruned})


def tell(node: TestNode, begin: int, *responses: Any, limit: int = 200, user: str = "", **answer: Any) -> None:
    body = {"parties": ["a::12"], "beginExclusive": begin, **({"userId": user} if user else {})}
    answers = [{"completionResponse": response} for response in responses]
    path = f"/v2/commands/completions?limit={limit}&stream_idle_timeout_ms=1000"
    node.post(path, body, **(answer or {"answers": answers}))


def completion(offset: int, code: int | None = 0, user: str = "app") -> Any:
    return {"Completion": {"value": {"offset": offset, "userId": user, "status": {"code": code, "message": "x"}}}}


def checkpoint(offset: int) -> Any:
    return {"OffsetCheckpoint": {"value": {"offset": offset}}}


def answer_well(node: TestNode) -> None:
    at(node, 100)


async def begun(node: TestNode, lines: Lines, **options: Any) -> None:
    at(node, 100)
    await lines(ledger_completions, **PARTIES, **options)


async def test_counts_by_user_and_code(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 120)
    tell(node, 100, completion(101), {"Empty": {}}, completion(103, 5, "bot"), completion(104, None), checkpoint(120))
    first = await lines(ledger_completions)
    assert first == [
        'canton_ledger_completions_total{code="0",user="app"} 2.0',
        'canton_ledger_completions_total{code="5",user="bot"} 1.0',
    ]
    assert await lines(ledger_completions) == first, "the ledger's end is where it was"


async def test_a_user_that_is_named_has_a_counter_from_the_beginning(node: TestNode, lines: Lines) -> None:
    node.get("/v2/state/ledger-end", answers={"offset": 100})
    assert await lines(ledger_completions, **PARTIES, user="bot") == [
        'canton_ledger_completions_total{code="0",user="bot"} 0.0'
    ]
    at(node, 101)
    tell(node, 100, completion(101, 9, "bot"), user="bot")
    assert 'canton_ledger_completions_total{code="9",user="bot"} 1.0' in await lines(ledger_completions)


async def test_reads_on_until_the_end(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 400)
    tell(node, 100, *(completion(offset) for offset in range(101, 301)))
    tell(node, 300, completion(350), checkpoint(420))
    assert await lines(ledger_completions) == ['canton_ledger_completions_total{code="0",user="app"} 201.0']


async def test_where_nothing_comes_it_asks_again_from_there(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100)
    assert await lines(ledger_completions) == []
    tell(node, 100, completion(105), checkpoint(110))
    assert await lines(ledger_completions) == ['canton_ledger_completions_total{code="0",user="app"} 1.0']


async def test_a_node_with_a_lower_limit_is_asked_for_less(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100, status=413, answers={"code": "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", "cause": "201"})
    tell(node, 100, completion(110), limit=100)
    assert await lines(ledger_completions) == ['canton_ledger_completions_total{code="0",user="app"} 1.0']


async def test_what_would_count_twice_is_malformed(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100, completion(105), completion(105))
    [line] = await lines(ledger_completions)
    assert line.startswith("malformed: POST /v2/commands/completions: offset 105 where one from 106")


async def test_a_gap_is_told(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 200, pruned=150)
    tell(node, 150, checkpoint(200))
    await lines(ledger_completions)
    assert lines.run.news == ("completions were missed up to offset 150: pruned",)


async def test_a_node_where_it_is_off_is_unsupported(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100, status=400, answers={"code": "DEPRECATED_API_DISABLED", "cause": "off"})
    [line] = await lines(ledger_completions)
    assert line.startswith("unsupported: POST /v2/commands/completions: 400 DEPRECATED_API_DISABLED")
