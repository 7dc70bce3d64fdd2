"""ledger_completions: each completion counted once, by user and code."""

from typing import Any

import pytest

from exporter.collectors.ledger_completions import SOURCE, ledger_completions
from tests.conftest import Lines
from tests.nodes import TestNode

PARTIES: dict[str, Any] = {"parties": ["a::12"]}
OPTIONS: dict[str, Any] = {**PARTIES, "user": "app"}


def at(node: TestNode, end: int, pruned: int = 0) -> None:
    node.get("/v2/state/ledger-end", answers={"offset": end})
    node.get("/v2/state/latest-pruned-offsets", answers={"participantPrunedUpToInclusive": pruned})


def tell(node: TestNode, begin: int, *responses: Any, limit: int = 1, user: str = "", **answer: Any) -> None:
    body = {"parties": ["a::12"], "beginExclusive": begin, "userId": user or ""}
    answers = [{"completionResponse": response} for response in responses]
    path = f"/v2/commands/completions?limit={limit}&stream_idle_timeout_ms=2000"
    node.post(path, body, **(answer or {"answers": answers}))


def stream(node: TestNode, begin: int, *responses: Any, user: str = "") -> None:
    """Tell what an open-ended stream gives: full answers at once, the last when nothing more comes."""
    node.lenient = True
    limit = 1
    while True:
        given, responses = responses[:limit], responses[limit:]
        tell(node, begin, *given, limit=limit, user=user)
        if len(given) < limit:
            return
        [(_, last)] = given[-1].items()
        begin, limit = last["value"]["offset"], min(2 * limit, 200)


def completion(offset: int, code: int | None = 0, user: str = "app") -> Any:
    return {"Completion": {"value": {"offset": offset, "userId": user, "status": {"code": code, "message": "x"}}}}


def checkpoint(offset: int) -> Any:
    return {"OffsetCheckpoint": {"value": {"offset": offset}}}


def answer_well(node: TestNode) -> None:
    at(node, 100)


def by_code(lines: list[str]) -> list[str]:
    """Return the lines that count by gRPC code, and one that says what went wrong."""
    return [
        line for line in lines if not line.startswith(("canton_ledger_completions_rej", "canton_ledger_completions_tr"))
    ]


def counted(lines: list[str], name: str) -> dict[str, float]:
    """Return the values of a name by their labels."""
    chosen = [line for line in lines if line.startswith(f"canton_ledger_completions_{name}{{")]
    return {line.partition("{")[2].partition("}")[0]: float(line.split()[-1]) for line in chosen}


async def begun(node: TestNode, lines: Lines, **options: Any) -> None:
    at(node, 100)
    await lines(ledger_completions, **PARTIES, **options)


async def test_counts_by_user_and_code(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 120)
    answers: tuple[Any, ...] = (
        completion(101),
        completion(103, 5, "bot"),
        completion(104, None),
        {"Empty": {}},
        checkpoint(120),
    )
    stream(node, 100, *answers)
    first = await lines(ledger_completions)
    assert by_code(first) == [
        'canton_ledger_completions_total{code="0",user="app"} 2.0',
        'canton_ledger_completions_total{code="5",user="bot"} 1.0',
    ]
    assert await lines(ledger_completions) == first, "the ledger's end is where it was"


@pytest.mark.parametrize("status", [None, {}, {"code": None}])
async def test_a_command_without_a_code_was_accepted(node: TestNode, lines: Lines, status: Any) -> None:
    await begun(node, lines)
    at(node, 101)
    stream(node, 100, {"Completion": {"value": {"offset": 101, "userId": "app", "status": status}}})
    assert by_code(await lines(ledger_completions)) == ['canton_ledger_completions_total{code="0",user="app"} 1.0']


def rejected(offset: int, message: Any, code: int = 10, user: str = "app") -> Any:
    status = {"code": code, "message": message, "details": []}
    return {"Completion": {"value": {"offset": offset, "userId": user, "status": status}}}


async def test_what_was_rejected_is_counted_by_the_error_code_that_its_message_begins_with(
    node: TestNode, lines: Lines
) -> None:
    await begun(node, lines)
    at(node, 110)
    answers: tuple[Any, ...] = (
        rejected(101, "LOCAL_VERDICT_LOCKED_CONTRACTS(2,ab12): Rejected transaction"),
        rejected(102, "LOCAL_VERDICT_TIMEOUT(2,0): Rejected transaction"),
        rejected(103, "LOCAL_VERDICT_LOCKED_CONTRACTS(2,cd34): Rejected transaction", user="bot"),
        completion(104),
        rejected(105, "LOCAL_VERDICT_TIMEOUT(2,0): Rejected transaction"),
        rejected(106, "LOCAL_VERDICT_TIMEOUT(2,0): accepted all the same", code=0),
        checkpoint(110),
    )
    stream(node, 100, *answers)
    for _ in range(2):
        shown = await lines(ledger_completions)
        assert counted(shown, "rejected_total") == {
            'error="LOCAL_VERDICT_LOCKED_CONTRACTS",user="app"': 1,
            'error="LOCAL_VERDICT_LOCKED_CONTRACTS",user="bot"': 1,
            'error="LOCAL_VERDICT_TIMEOUT",user="app"': 2,
        }
    assert by_code(shown) == [
        'canton_ledger_completions_total{code="10",user="app"} 3.0',
        'canton_ledger_completions_total{code="10",user="bot"} 1.0',
        'canton_ledger_completions_total{code="0",user="app"} 2.0',
    ]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("CONTRACT_NOT_FOUND(11,77aa): not there", "CONTRACT_NOT_FOUND"),
        ("E2(9,0): x", "E2"),
        ("A" * 63 + "(9,0): x", "A" * 63),
        ("A" * 64 + "(9,0): x", "other"),
        ("An error occurred. Please contact the operator", "other"),
        ("CONTRACT_NOT_FOUND", "other"),
        ("CONTRACT_NOT_FOUND: not there", "other"),
        (" CONTRACT_NOT_FOUND(11,77aa): not there", "other"),
        ("contract_not_found(11,77aa): not there", "other"),
        ("(11,77aa): not there", "other"),
        ("", "other"),
        (None, "other"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_a_message_without_an_error_code_is_another(
    node: TestNode, lines: Lines, message: Any, error: str
) -> None:
    await begun(node, lines)
    at(node, 101)
    stream(node, 100, rejected(101, message))
    assert counted(await lines(ledger_completions), "rejected_total") == {f'error="{error}",user="app"': 1}


async def test_error_codes_without_end_are_others(
    node: TestNode, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.collectors.ledger_completions.MOST_ERRORS", 3)
    await begun(node, lines)
    at(node, 110)
    stream(node, 100, *(rejected(100 + number, f"E{number}(9,0): x") for number in range(1, 6)), checkpoint(110))
    first = {f'error="{error}",user="app"': count for error, count in (("E1", 1), ("E2", 1), ("E3", 1), ("other", 2))}
    assert counted(await lines(ledger_completions), "rejected_total") == first
    at(node, 120)
    stream(node, 110, rejected(111, "E6(9,0): x"), rejected(112, "E1(9,0): x"), checkpoint(120))
    assert counted(await lines(ledger_completions), "rejected_total") == {
        'error="E1",user="app"': 2,
        'error="E2",user="app"': 1,
        'error="E3",user="app"': 1,
        'error="other",user="app"': 3,
    }


async def test_adds_up_what_commands_cost_rejected_ones_too(node: TestNode, lines: Lines) -> None:
    def costing(offset: int, cost: Any, code: int = 0, user: str = "app") -> Any:
        said = rejected(offset, "x", code, user)
        said["Completion"]["value"]["paidTrafficCost"] = cost
        return said

    await begun(node, lines)
    at(node, 110)
    each: tuple[Any, ...] = (costing(101, 1500), costing(102, 800, 10), costing(103, None), costing(104, 7, user="bot"))
    stream(node, 100, *each, checkpoint(110))
    for _ in range(2):
        assert counted(await lines(ledger_completions), "traffic_cost_bytes_total") == {
            'user="app"': 2300,
            'user="bot"': 7,
        }
    at(node, 120)
    stream(node, 110, costing(115, -1))
    [line] = await lines(ledger_completions)
    assert line.startswith("malformed: POST /v2/commands/completions: not the documented answer: ")


async def test_a_user_that_is_named_has_a_counter_from_the_beginning(node: TestNode, lines: Lines) -> None:
    node.get("/v2/state/ledger-end", answers={"offset": 100})
    assert await lines(ledger_completions, **PARTIES, user="bot") == [
        'canton_ledger_completions_total{code="0",user="bot"} 0.0',
        'canton_ledger_completions_rejected_total{error="other",user="bot"} 0.0',
        'canton_ledger_completions_traffic_cost_bytes_total{user="bot"} 0.0',
    ]
    at(node, 101)
    stream(node, 100, completion(101, 9, "bot"), user="bot")
    assert 'canton_ledger_completions_total{code="9",user="bot"} 1.0' in await lines(ledger_completions)


async def test_reads_on_until_the_end(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 1000)
    stream(node, 100, *(completion(offset) for offset in range(101, 800)), checkpoint(1020))
    assert by_code(await lines(ledger_completions)) == ['canton_ledger_completions_total{code="0",user="app"} 699.0']


async def test_on_a_busy_node_that_is_never_silent_what_came_is_counted(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 1000)
    tell(node, 100, completion(101))
    tell(node, 101, completion(102), completion(103), limit=2)
    tell(node, 103, limit=4, status=504, body=b"")
    assert by_code(await lines(ledger_completions)) == ['canton_ledger_completions_total{code="0",user="app"} 3.0']


async def test_a_checkpoint_where_it_begins_does_not_hold_it_up(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 104)
    tell(node, 100, checkpoint(100))
    tell(node, 100, checkpoint(100), completion(104), limit=2)
    assert by_code(await lines(ledger_completions)) == ['canton_ledger_completions_total{code="0",user="app"} 1.0']


@pytest.mark.parametrize("empty", [{}, {"completionResponse": None}])
async def test_an_element_without_a_response_is_passed_over(node: TestNode, lines: Lines, empty: Any) -> None:
    await begun(node, lines)
    at(node, 120)
    node.lenient = True
    tell(node, 100, answers=[empty])
    tell(node, 100, limit=2, answers=[empty, {"completionResponse": completion(120)}])
    assert 'canton_ledger_completions_total{code="0",user="app"} 1.0' in await lines(ledger_completions, **PARTIES)


async def test_where_nothing_comes_it_asks_again_from_there(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    stream(node, 100)
    assert by_code(await lines(ledger_completions)) == []
    stream(node, 100, completion(105), checkpoint(110))
    assert by_code(await lines(ledger_completions)) == ['canton_ledger_completions_total{code="0",user="app"} 1.0']


async def test_a_node_with_a_lower_limit_is_asked_for_less(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 107)
    tell(node, 100, completion(101))
    tell(node, 101, limit=2, status=413, answers={"code": "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"})
    tell(node, 101, *(completion(offset) for offset in (102, 104, 106, 107)), limit=4)
    assert by_code(await lines(ledger_completions)) == ['canton_ledger_completions_total{code="0",user="app"} 5.0']


async def test_more_than_was_asked_for_is_malformed(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100, completion(101), completion(102))
    [line] = await lines(ledger_completions)
    assert line == f"malformed: {SOURCE}: 2 completions, where 1 were asked for"


async def test_what_would_count_twice_is_malformed(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100, completion(100))
    [line] = await lines(ledger_completions)
    assert line.startswith(f"malformed: {SOURCE}: offset 100 where one from 101")


async def test_a_gap_is_told(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 200, pruned=150)
    tell(node, 150, checkpoint(200))
    await lines(ledger_completions)
    assert lines.run.news == ("completions may have been missed up to offset 150: pruned",)


OFF: dict[str, Any] = {"status": 400, "answers": {"code": "DEPRECATED_API_DISABLED", "cause": "off"}}
NEWER = "/v2/commands/command-completions"


def tell_newer(node: TestNode, begin: int, *responses: Any, limit: int = 1, **answer: Any) -> None:
    answers = [{"completionResponse": response} for response in responses]
    path = f"{NEWER}?limit={limit}&stream_idle_timeout_ms=2000"
    node.post(path, {"parties": ["a::12"], "beginExclusive": begin}, **(answer or {"answers": answers}))


async def test_where_it_is_off_the_newer_operation_is_asked_and_that_is_remembered(
    node: TestNode, lines: Lines
) -> None:
    at(node, 100)
    options = {**PARTIES, "user": "app"}
    await lines(ledger_completions, **options)
    at(node, 103)
    tell(node, 100, user="app", **OFF)
    tell_newer(node, 100, completion(101, 5))
    tell_newer(node, 101, completion(102, 0, "somebody else"), completion(103), limit=2)
    shown = ['canton_ledger_completions_total{code="0",user="app"} 1.0']
    shown.append('canton_ledger_completions_total{code="5",user="app"} 1.0')
    assert by_code(await lines(ledger_completions)) == shown
    at(node, 104)
    tell_newer(node, 103, checkpoint(104))
    assert by_code(await lines(ledger_completions)) == shown
    paths = [request.path for request in node.requests if request.method == "POST"]
    assert paths == ["/v2/commands/completions", NEWER, NEWER, NEWER]


async def test_a_node_with_neither_operation_is_unsupported(node: TestNode, lines: Lines) -> None:
    await begun(node, lines)
    at(node, 110)
    tell(node, 100, **OFF)
    tell_newer(node, 100, status=404, body=b"")
    [line] = await lines(ledger_completions)
    assert line == (f"unsupported: POST /v2/commands/completions: 400 DEPRECATED_API_DISABLED: off; POST {NEWER}: 404")


async def test_users_without_end_are_counted_as_others(
    node: TestNode, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.collectors.ledger_completions.MOST_USERS", 2)
    await begun(node, lines)
    at(node, 103)
    stream(node, 100, *(completion(offset, user=f"user-{offset}") for offset in (101, 102, 103)))
    found = counted(await lines(ledger_completions, **PARTIES), "total")
    assert found == {f'code="0",user="{user}"': 1.0 for user in ("user-101", "user-102", "other")}
