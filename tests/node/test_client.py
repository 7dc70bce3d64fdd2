"""One node for one run: questions and their answers, tokens, pages, the request log, redaction and the deadline."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from exporter.clock import Clock
from exporter.config.models import Budget, Kind, TargetConfig
from exporter.errors import (
    Failed,
    Limited,
    Malformed,
    NoBudget,
    NoEntry,
    Refused,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unreachable,
    Unsupported,
)
from exporter.limits import REQUESTS_SHOWN
from exporter.metrics import self_metrics
from exporter.metrics.counters import Counters
from exporter.node.auth import Auth, FileToken, NoToken, StaticToken
from exporter.node.client import Node
from exporter.node.decoding import Int64, Struct
from exporter.node.messages import RequestLogEntry
from exporter.node.rate_limit import RateLimits, Share
from exporter.node.transport import Transport
from tests.conftest import NOW, Asking, Connect, FakeClock
from tests.nodes import RawNode, TestNode

PATH = "/v2/thing"
NO_ROUTE = {"error": "The requested resource could not be found: GET /v2/thing"}


class Thing(Struct):
    count: Int64 | None = None
    text: str | None = None


class Page(Struct):
    items: list[int] | None = None
    next_page_token: str | int | None = None


def log(node: Node) -> list[str]:
    """Return the request log without its times."""
    return [f"{request.method} {request.path} {request.outcome}" for request in node.requests]


# Questions


async def test_fills_a_route_in_and_counts_it_unfilled(node: TestNode, asking: Asking, counters: Counters) -> None:
    node.get("/v0/by-party/a%3A%3A12/b%2Fc%20%3F%23%25%C3%BC?limit=5", answers={"count": 1})
    route = "/v0/by-party/{party}/{name}"
    asked = asking(node.url)
    assert await asked.get(route, Thing, query={"limit": "5"}, party="a::12", name="b/c ?#%ü") == Thing(1)
    assert log(asked) == ["GET /v0/by-party/a%3A%3A12/b%2Fc%20%3F%23%25%C3%BC 200"]
    [labels] = [sample.labels for sample in counters.samples() if sample.metric is self_metrics.REQUESTS]
    assert labels == (route, "GET", "200", "")


@pytest.mark.parametrize("name", [".", ".."])
async def test_no_name_leads_out_of_its_route(node: TestNode, asking: Asking, name: str) -> None:
    node.answer_everything(answers={})
    await asking(node.url).get("/v0/by-name/{name}", Thing, name=name)
    assert node.requests[0].raw_path.startswith("/v0/by-name/%2E")


async def test_posts_a_body_and_a_query(node: TestNode, asking: Asking) -> None:
    node.post(f"{PATH}?limit=1", {"begin": 5, "format": {}}, answers={"count": 2})
    asked = asking(node.url)
    assert await asked.post(PATH, Thing, {"begin": 5, "format": {}}, query={"limit": "1"}) == Thing(2)
    assert log(asked) == [f"POST {PATH} 200"]


async def test_knows_what_it_is_and_what_time_it_is(node: TestNode, asking: Asking, clock: FakeClock) -> None:
    asked = asking(node.url, seconds=5)
    clock.advance(1.5)
    assert (asked.kind, asked.now(), asked.time_left()) == (Kind.LEDGER, NOW + 1.5, 3.5)


# What is no answer


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (401, b"The supplied authentication is invalid", Unauthorized, "401: The supplied authentication is invalid"),
        (403, b"", Unauthorized, "403"),
        (404, b"", Unsupported, "404"),
        (404, b'{"error":"No such thing"}', NoEntry, "404: No such thing"),
        (405, b"HTTP method not allowed", Unsupported, "405: HTTP method not allowed"),
        (413, b"", TooLarge, "413"),
        (429, b"", Limited, "429"),
        (501, b"", Unsupported, "501"),
        (500, b'{"code":"X","cause":"It broke."}', Refused, "500 X: It broke."),
        (410, b'{"code":"DEPRECATED_API_DISABLED","cause":"Off."}', Unsupported, "410 DEPRECATED_API_DISABLED: Off."),
        (200, b"<html>", Refused, "200 and an HTML page: is this the API's address?"),
        (200, b"", Malformed, "not the documented answer: Input data was truncated"),
        (200, b"{}{}", Malformed, "not the documented answer: JSON is malformed: trailing characters (byte 3)"),
    ],
)
async def test_says_of_each_question_what_is_wrong_with_its_answer(
    node: TestNode, asking: Asking, status: int, body: bytes, kind: type[Exception], said: str
) -> None:
    node.get(PATH, status=status, body=body)
    node.post(PATH, {}, status=status, body=body)
    asked = asking(node.url)
    asked_after_a_rest = asking(node.url)
    with pytest.raises(kind) as caught:
        await asked.get(PATH, Thing)
    assert (type(caught.value), str(caught.value)) == (kind, f"GET {PATH}: {said}")
    with pytest.raises(kind) as caught:
        await asked_after_a_rest.post(PATH, Thing, {})
    assert (type(caught.value), str(caught.value)) == (kind, f"POST {PATH}: {said}")
    assert log(asked) + log(asked_after_a_rest) == [f"GET {PATH} {status}", f"POST {PATH} {status}"]


async def test_finds_an_entry(node: TestNode, asking: Asking) -> None:
    node.get("/v0/thing/a?limit=1", answers={"count": 1})
    assert await asking(node.url).find("/v0/thing/{id}", Thing, query={"limit": "1"}, id="a") == Thing(1)


@pytest.mark.parametrize(
    "answer", [{"error": "No thing found"}, {"code": "CONTRACT_NOT_FOUND", "cause": "x"}, {"code": "NOT_FOUND"}]
)
async def test_an_entry_that_is_not_there_is_none(node: TestNode, asking: Asking, answer: dict[str, str]) -> None:
    node.get(PATH, status=404, answers=answer)
    asked = asking(node.url)
    assert await asked.find(PATH, Thing) is None
    assert log(asked) == [f"GET {PATH} 404"]
    with pytest.raises(Unsupported):
        await asked.get(PATH, Thing)


async def test_an_entry_may_be_looked_for_by_a_post(node: TestNode, asking: Asking) -> None:
    node.post(PATH, {"id": "a"}, answers={"count": 1})
    node.post(PATH, {"id": "b"}, status=404, answers={"error": "No thing found"})
    asked = asking(node.url)
    assert await asked.find(PATH, Thing, {"id": "a"}) == Thing(1)
    assert await asked.find(PATH, Thing, {"id": "b"}) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, b""),
        (404, b"Not Found"),
        (404, b'{"error":"The requested resource could not be found."}'),
        (404, b'{"error":"The requested resource could not be found: GET /v2/thing"}'),
        (405, b'{"error":"No"}'),
        (501, b'{"error":"No"}'),
        (400, b'{"code":"DEPRECATED_API_DISABLED","cause":"Off."}'),
    ],
)
async def test_an_entry_is_not_looked_for_where_there_is_no_such_operation(
    node: TestNode, asking: Asking, status: int, body: bytes
) -> None:
    node.get(PATH, status=status, body=body)
    with pytest.raises(Unsupported, match=f"GET {PATH}: {status}"):
        await asking(node.url).find(PATH, Thing)


async def test_a_page_for_people_is_not_an_entry_that_is_not_there(node: TestNode, asking: Asking) -> None:
    node.get(PATH, status=404, body=b"<html>404</html>")
    with pytest.raises(Refused, match="404 and an HTML page"):
        await asking(node.url).find(PATH, Thing)


# The first way of several


def ways(asked: Node, *paths: str) -> list[Callable[[], Awaitable[Thing]]]:
    return [partial(asked.get, path, Thing) for path in paths]


async def test_takes_the_first_way_the_node_has(node: TestNode, asking: Asking) -> None:
    node.get("/v2/thing", status=404, answers=NO_ROUTE)
    node.get("/v1/thing", answers={"count": 1})
    asked = asking(node.url)
    assert await asked.first(*ways(asked, "/v2/thing", "/v1/thing", "/v0/thing")) == Thing(1)
    assert log(asked) == ["GET /v2/thing 404", "GET /v1/thing 200"]


async def test_says_of_each_way_that_the_node_does_not_have_it(node: TestNode, asking: Asking) -> None:
    node.get("/v2/thing", status=404, body=b"")
    node.get("/v1/thing", status=405, body=b"")
    asked = asking(node.url)
    with pytest.raises(Unsupported) as caught:
        await asked.first(*ways(asked, "/v2/thing", "/v1/thing"))
    assert str(caught.value) == "GET /v2/thing: 404; GET /v1/thing: 405"


async def test_of_several_ways_one_that_says_there_is_no_entry_tells_most(node: TestNode, asking: Asking) -> None:
    node.get("/v2/thing", status=404, answers={"error": "No thing found"})
    node.get("/v1/thing", status=404, body=b"")
    asked = asking(node.url)
    with pytest.raises(NoEntry) as caught:
        await asked.first(*ways(asked, "/v2/thing", "/v1/thing"))
    assert str(caught.value) == "GET /v2/thing: 404: No thing found; GET /v1/thing: 404"


@pytest.mark.parametrize(("status", "kind"), [(500, Refused), (401, Unauthorized), (429, Limited), (200, Malformed)])
async def test_a_way_that_fails_is_not_gone_around(
    node: TestNode, asking: Asking, status: int, kind: type[Failed]
) -> None:
    node.get("/v2/thing", status=status, body=b"")
    asked = asking(node.url)
    with pytest.raises(kind):
        await asked.first(*ways(asked, "/v2/thing", "/v1/thing"))
    assert log(asked) == [f"GET /v2/thing {status}"]


# Several at once


async def test_asks_side_by_side_and_answers_in_order(node: TestNode, asking: Asking) -> None:
    for number in range(20):
        node.get(f"/v{number}/thing", answers={"count": number})
    asked = asking(node.url)
    found = await asked.gather(ways(asked, *(f"/v{number}/thing" for number in range(20))))
    assert found == [Thing(number) for number in range(20)]


async def test_asks_no_more_at_once_than_it_is_told() -> None:
    under_way, most, turns = 0, 0, asyncio.Event()

    async def way() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == 3:
            turns.set()
        await turns.wait()
        under_way -= 1

    await Node.gather(Node.__new__(Node), [way] * 9, at_once=3)
    assert most == 3


async def test_one_question_that_fails_ends_the_others(asking: Asking, node: TestNode) -> None:
    node.get("/v2/thing", status=500, body=b"")
    async with RawNode(stays=True) as silent:
        waiting = asking(silent.url)
        asked = asking(node.url)

        async def fail_when_the_other_waits() -> Thing:
            await silent.asked.wait()
            return await asked.get(PATH, Thing)

        with pytest.raises(Refused, match=f"GET {PATH}: 500"):
            await asked.gather([lambda: waiting.get(PATH, Thing), fail_when_the_other_waits])
    assert log(waiting) == [f"GET {PATH} cancelled"]


async def fails(*exceptions: Exception) -> Exception:
    """Return what is raised of questions that fail at the same moment."""

    async def fail(exception: Exception) -> None:
        raise exception

    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one is what the tests ask
        await Node.gather(Node.__new__(Node), [partial(fail, each) for each in exceptions])
    return caught.value


async def test_of_several_failures_a_bug_tells_more_than_a_failure_and_that_more_than_a_lack() -> None:
    lack, failure, bug = Unsupported("404"), Malformed("no"), KeyError("x")
    assert await fails(lack, failure) is failure
    assert await fails(failure, lack) is failure
    assert await fails(lack, failure, bug) is bug
    assert await fails(lack) is lack


async def test_of_several_failures_of_a_kind_the_first_tells() -> None:
    first, second = Malformed("first"), Unauthorized("second")
    assert await fails(first, second) is first


async def test_a_way_of_several_questions_may_be_one_the_node_does_not_have(node: TestNode, asking: Asking) -> None:
    node.get("/v2/thing", status=404, body=b"")
    node.get("/v1/thing", answers={"count": 1})
    asked = asking(node.url)
    found = await asked.first(
        lambda: asked.gather(ways(asked, "/v2/thing")), lambda: asked.gather(ways(asked, "/v1/thing"))
    )
    assert found == [Thing(1)]


# Page after page


def body_after(token: str | int | None) -> object:
    return {"after": token}


async def read(pages: AsyncIterator[Page]) -> list[int]:
    return [item async for page in pages for item in page.items or []]


@pytest.mark.parametrize(
    "last", [{"items": [3]}, {"items": [3], "next_page_token": None}, {"items": [3], "next_page_token": ""}]
)
@pytest.mark.parametrize(("second", "third"), [("b", "c"), (7, 0), ("0", "00"), (-1, 2**70)])
async def test_reads_page_after_page_to_the_last(
    node: TestNode, asking: Asking, last: dict[str, Any], second: str | int, third: str | int
) -> None:
    node.post(PATH, {"after": None}, answers={"items": [1], "next_page_token": second})
    node.post(PATH, {"after": second}, answers={"items": [2], "next_page_token": third})
    node.post(PATH, {"after": third}, answers=last)
    asked = asking(node.url)
    assert await read(asked.pages(PATH, Page, body_after)) == [1, 2, 3]
    assert log(asked) == [f"POST {PATH} 200"] * 3


async def test_one_page_may_be_all_and_empty(node: TestNode, asking: Asking) -> None:
    node.post("/v2/of/a%20b", {"after": None}, answers={})
    assert await read(asking(node.url).pages("/v2/of/{party}", Page, body_after, party="a b")) == []


async def test_pages_may_be_asked_for_by_a_query(node: TestNode, asking: Asking) -> None:
    node.get(f"{PATH}?size=1", answers={"items": [1], "next_page_token": "b"})
    node.get(f"{PATH}?size=1&after=b", answers={"items": [2], "next_page_token": ""})

    def query(token: str | int | None) -> dict[str, str]:
        return {"size": "1", **({"after": str(token)} if token else {})}

    assert await read(asking(node.url).listed(PATH, Page, query)) == [1, 2]


@pytest.mark.parametrize(("status", "answer"), [(404, {"error": "x"}), (405, {}), (200, {"count": 1})])
async def test_a_part_of_an_answer_may_be_missing(
    node: TestNode, asking: Asking, status: int, answer: dict[str, Any]
) -> None:
    node.get(PATH, status=status, answers=answer)
    asked = asking(node.url)
    assert await asked.or_none(lambda: asked.get(PATH, Thing)) == (Thing(1) if status == 200 else None)


async def test_no_page_is_asked_for_that_nobody_wants(node: TestNode, asking: Asking) -> None:
    node.post(PATH, {"after": None}, answers={"items": [1], "next_page_token": "b"})
    pages = asking(node.url).pages(PATH, Page, body_after)
    assert (await anext(pages)).items == [1]
    assert len(node.requests) == 1


@pytest.mark.parametrize(("tail", "circle"), [(0, 1), (0, 2), (0, 3), (1, 1), (3, 1), (2, 5), (10, 7), (1, 16)])
@pytest.mark.parametrize("kind", [str, int])
async def test_tokens_that_go_round_are_malformed(
    node: TestNode, asking: Asking, tail: int, circle: int, kind: type[str] | type[int]
) -> None:
    tokens = [kind(number) for number in range(100, 100 + tail + circle)]
    for before, after in zip([None, *tokens], [*tokens, tokens[tail]], strict=True):
        node.post(PATH, {"after": before}, answers={"next_page_token": after})
    with pytest.raises(Malformed, match=f"POST {PATH}: the page token '?[0-9]+'? came again, so the pages have no end"):
        await read(asking(node.url).pages(PATH, Page, body_after))
    assert len(node.requests) <= 3 * (tail + circle) + 3


async def test_a_token_that_stays_the_same_is_asked_for_once_only(node: TestNode, asking: Asking) -> None:
    node.post(PATH, {"after": None}, answers={"next_page_token": "x" * 100})
    node.post(PATH, {"after": "x" * 100}, answers={"next_page_token": "x" * 100})
    with pytest.raises(Malformed) as caught:
        await read(asking(node.url).pages(PATH, Page, body_after))
    assert str(caught.value) == f"POST {PATH}: the page token '{'x' * 40}' came again, so the pages have no end"
    assert len(node.requests) == 2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pauses before asking for a page again be short, those the node asks for too."""
    monkeypatch.setattr("exporter.node.client.RETRY_SECONDS", (0.01, 0.02, 0.04))
    monkeypatch.setattr(Transport, "back_off", lambda transport, endpoint, seconds: None)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_page_that_fails_for_a_moment_is_asked_for_again(asking: Asking, status: int) -> None:
    failing = b"HTTP/1.1 %d No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status
    last = b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{"items":[2]}'
    first = b'HTTP/1.1 200 OK\r\nContent-Length: 35\r\nConnection: close\r\n\r\n{"items":[1],"next_page_token":"b"}'
    async with RawNode(turns=[first, failing, failing, failing, last]) as node:
        asked = asking(node.url)
        assert await read(asked.pages(PATH, Page, body_after)) == [1, 2]
    assert [request.outcome for request in asked.requests] == ["200", *[str(status)] * 3, "200"]


async def test_a_page_is_asked_for_again_when_the_node_wants_it_and_not_later(connect: Connect) -> None:
    limited = b"HTTP/1.1 429 No\r\nRetry-After: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    last = b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{"items":[2]}'
    clock = Clock()
    async with RawNode(turns=[limited, last]) as node:
        target = TargetConfig.model_validate({"kind": "ledger", "url": node.url})
        budget_of = partial(RateLimits().of, allowed=Budget(rate=1000, burst=1000))
        transport = Transport(target, budget_of, Counters([self_metrics.THROTTLED, self_metrics.BUDGET_WAIT]), clock)
        asked = Node(Kind.LEDGER, transport, NoToken(), clock, clock.monotonic() + 20)
        started = clock.monotonic()
        assert await read(asked.pages(PATH, Page, body_after)) == [2]
        assert 2 <= clock.monotonic() - started < 3.5
        await transport.close()


@pytest.mark.usefixtures("impatient")
async def test_a_page_cut_short_is_asked_for_again(asking: Asking) -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"
    last = b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{"items":[2]}'
    async with RawNode(turns=[cut, b"", last]) as node:
        asked = asking(node.url)
        assert await read(asked.pages(PATH, Page, body_after)) == [2]
    assert [request.outcome for request in asked.requests] == ["unreachable", "unreachable", "200"]


@pytest.mark.usefixtures("impatient")
async def test_a_page_that_goes_on_failing_ends_the_pages(node: TestNode, asking: Asking) -> None:
    node.post(PATH, {"after": None}, answers={"items": [1], "next_page_token": "b"})
    node.post(PATH, {"after": "b"}, status=503, body=b"")
    pages = asking(node.url).pages(PATH, Page, body_after)
    assert (await anext(pages)).items == [1]
    with pytest.raises(Refused, match=f"POST {PATH}: 503"):
        await anext(pages)
    assert len(node.requests) == 1 + 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 501, 200])
async def test_a_page_that_fails_for_good_is_not_asked_for_again(node: TestNode, asking: Asking, status: int) -> None:
    node.post(PATH, {"after": None}, status=status, body=b"")
    with pytest.raises((Failed, Unsupported)):
        await read(asking(node.url).pages(PATH, Page, body_after))
    assert len(node.requests) == 1


async def test_an_operation_that_goes_away_in_the_middle_of_its_pages_is_a_failure(
    node: TestNode, asking: Asking
) -> None:
    node.post(PATH, {"after": None}, answers={"items": [1], "next_page_token": "b"})
    node.post(PATH, {"after": "b"}, status=404, body=b"")
    with pytest.raises(Refused) as caught:
        await read(asking(node.url).pages(PATH, Page, body_after))
    assert str(caught.value) == f"POST {PATH}: 404, in the middle of the pages"


async def test_a_page_is_not_asked_for_again_where_that_would_outlast_the_run(node: TestNode, asking: Asking) -> None:
    node.post(PATH, {"after": None}, status=429, body=b"", headers={"Retry-After": "5"})
    with pytest.raises(Limited):
        await read(asking(node.url, seconds=5).pages(PATH, Page, body_after))
    assert len(node.requests) == 1


async def test_a_node_that_wants_to_be_left_alone_is_asked_nothing_but_whether_it_is_there(
    node: TestNode, asking: Asking, connect: Connect, clock: FakeClock
) -> None:
    node.get(PATH, status=429, body=b"slower", headers={"Retry-After": "30"})
    node.get("/livez", body=b"")
    asked = asking(node.url, seconds=20)
    with pytest.raises(Limited, match=f"GET {PATH}: 429: slower"):
        await asked.get(PATH, Thing)
    clock.advance(8)
    with pytest.raises(Limited) as caught:
        await asked.get(PATH, Thing)
    assert str(caught.value) == f"GET {PATH}: not sent: the node asked to wait 22 s more (429)"
    assert (await asked.fetch("/livez")).status == 200
    assert log(asked) == [f"GET {PATH} 429", f"GET {PATH} limited", "GET /livez 200"]
    assert len(node.requests) == 2


async def test_a_node_that_wanted_to_be_left_alone_is_asked_again_afterwards(
    node: TestNode, asking: Asking, clock: FakeClock
) -> None:
    node.get(PATH, status=429, body=b"", headers={"Retry-After": "30"})
    asked = asking(node.url, seconds=60)
    with pytest.raises(Limited):
        await asked.get(PATH, Thing)
    clock.advance(30)
    node.get(PATH, answers={"count": 1})
    assert await asked.get(PATH, Thing) == Thing(1)


async def test_what_waits_while_a_node_asks_to_be_left_alone_waits_for_that_too(
    node: TestNode, asking: Asking, clock: FakeClock
) -> None:
    node.get(PATH, answers={"count": 1})
    asked = asking(node.url, seconds=20, budget=Budget(rate=10, burst=1))
    await asked.get(PATH, Thing)
    waiting = asyncio.create_task(asked.get(PATH, Thing))
    await asyncio.sleep(0)
    transport = asked._transport
    transport.back_off(transport.destination.endpoint(), 0.3)
    await asyncio.sleep(0.2)
    assert len(node.requests) == 1
    clock.advance(0.3)
    assert await waiting == Thing(1)


@pytest.mark.parametrize("status", [429, 503])
async def test_a_single_question_is_not_asked_again(node: TestNode, asking: Asking, status: int) -> None:
    node.get(PATH, status=status, body=b"")
    with pytest.raises(Refused):
        await asking(node.url).get(PATH, Thing)
    assert len(node.requests) == 1


async def test_in_a_long_run_a_single_question_is_asked_again_too(asking: Asking) -> None:
    failing = b"HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    last = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{"count":1}'
    async with RawNode(turns=[failing, last]) as node:
        long = asking(node.url, share=Share.HALF)
        assert await long.get(PATH, Thing) == Thing(1)


async def test_two_targets_of_one_node_leave_it_alone_together(
    node: TestNode, asking: Asking, counters: Counters, clock: FakeClock
) -> None:
    node.get(PATH, status=429, body=b"", headers={"Retry-After": "30"})
    budget_of = partial(RateLimits().of, allowed=Budget(rate=1000, burst=1000))
    target = TargetConfig.model_validate({"kind": "ledger", "url": node.url})
    elsewhere = TargetConfig.model_validate({"kind": "ledger", "url": "http://127.0.0.1:9"})
    transports = [Transport(each, budget_of, counters, clock) for each in (target, target, elsewhere)]
    first, second, other = (
        Node(Kind.LEDGER, transport, NoToken(), clock, clock.monotonic() + 5) for transport in transports
    )
    with pytest.raises(Limited, match="429"):
        await first.get(PATH, Thing)
    with pytest.raises(Limited, match="not sent"):
        await second.get(PATH, Thing)
    with pytest.raises(Unreachable):
        await other.get(PATH, Thing)
    for transport in transports:
        await transport.close()


async def test_pages_leave_half_of_the_budget_to_others(
    node: TestNode, asking: Asking, connect: Connect, counters: Counters
) -> None:
    node.post(PATH, {"after": None}, answers={"next_page_token": "b"})
    node.post(PATH, {"after": "b"}, answers={"next_page_token": "c"})
    node.get(PATH, answers={"count": 1})
    asked = asking(node.url, seconds=0.3, budget=Budget(rate=0.01, burst=4))
    pages = asked.pages(PATH, Page, body_after)
    await anext(pages)
    await anext(pages)
    with pytest.raises(NoBudget, match="our rate limit for this host allowed no request for"):
        await anext(pages)
    assert await asked.get(PATH, Thing) == Thing(1)
    assert await asked.get(PATH, Thing) == Thing(1)
    with pytest.raises(NoBudget, match="our rate limit for this host allowed no request for"):
        await asked.get(PATH, Thing)


async def test_a_node_may_be_asked_with_half_of_the_budget_only(
    node: TestNode, connect: Connect, clock: FakeClock
) -> None:
    node.get(PATH, answers={})
    transport = connect(node.url, budget=Budget(rate=0.01, burst=4))
    half, whole = (
        Node(Kind.LEDGER, transport, NoToken(), clock, clock.monotonic() + 0.2, share=share)
        for share in (Share.HALF, Share.WHOLE)
    )
    await half.get(PATH, Thing)
    await half.get(PATH, Thing)
    with pytest.raises(NoBudget, match="our rate limit for this host allowed no request for"):
        await half.get(PATH, Thing)
    await whole.get(PATH, Thing)


# Whatever the status


@pytest.mark.parametrize("status", [200, 204, 302, 401, 403, 404, 429, 500, 503])
async def test_a_knock_is_answered_whatever_its_status(node: TestNode, asking: Asking, status: int) -> None:
    node.get("/livez", status=status, body=b"")
    asked = asking(node.url)
    reply = await asked.fetch("/livez")
    assert (reply.status, reply.operation) == (status, "GET /livez")
    assert log(asked) == [f"GET /livez {status}"]


async def test_a_knock_passes_the_budget_by(node: TestNode, asking: Asking) -> None:
    node.get("/livez", body=b"")
    asked = asking(node.url, seconds=0.3, budget=Budget(rate=0.01, burst=1))
    for _ in range(3):
        await asked.fetch("/livez")
    assert len(node.requests) == 3


@pytest.mark.parametrize("status", [401, 403])
async def test_a_knock_whose_token_is_not_liked_is_repeated_without_one(
    node: TestNode, asking: Asking, status: int
) -> None:
    node.get("/livez", status=status, body=b"")
    assert (await asking(node.url, StaticToken("a-token")).fetch("/livez")).status == status
    assert [request.headers.get("Authorization") for request in node.requests] == ["Bearer a-token", None]


async def test_a_knock_without_a_token_is_not_repeated(node: TestNode, asking: Asking) -> None:
    node.get("/livez", status=401, body=b"")
    await asking(node.url).fetch("/livez")
    assert len(node.requests) == 1


async def test_a_knock_does_without_a_token_that_cannot_be_had(node: TestNode, asking: Asking, tmp_path: Path) -> None:
    node.get("/livez", body=b"")
    await asking(node.url, FileToken(tmp_path / "none")).fetch("/livez")
    assert "Authorization" not in node.requests[0].headers


async def test_a_knock_reads_only_the_beginning_of_a_long_answer(asking: Asking) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999\r\n\r\n"
    async with RawNode(head, endless=repeat(b"x" * 4096)) as node:
        asked = asking(node.url)
        reply = await asked.fetch("/livez")
        assert (reply.status, reply.body[:5]) == (200, b"xxxxx")
        assert log(asked) == ["GET /livez 200"]
    assert len(reply.body) < 2 * 65536


async def test_a_knock_takes_an_answer_of_any_type_and_everything_else_asks_for_json(
    node: TestNode, asking: Asking
) -> None:
    node.get("/livez", body=b"")
    node.get(PATH, answers={})
    asked = asking(node.url)
    await asked.fetch("/livez")
    await asked.get(PATH, Thing)
    assert [request.headers["Accept"] for request in node.requests] == ["*/*", "application/json"]


# Tokens


async def test_every_question_carries_the_token(node: TestNode, asking: Asking) -> None:
    node.get(PATH, answers={})
    node.post(PATH, {}, answers={})
    asked = asking(node.url, StaticToken("a-token"))
    await asked.get(PATH, Thing)
    await asked.find(PATH, Thing)
    await asked.post(PATH, Thing, {})
    assert [request.headers["Authorization"] for request in node.requests] == ["Bearer a-token"] * 3


@pytest.mark.parametrize("auth", [NoToken(), StaticToken("a-token")])
async def test_is_not_asked_again_with_the_same_token(node: TestNode, asking: Asking, auth: Auth) -> None:
    node.get(PATH, status=401, body=b"")
    with pytest.raises(Unauthorized, match=f"GET {PATH}: 401"):
        await asking(node.url, auth).get(PATH, Thing)
    assert len(node.requests) == 1


def change_in_secret(file: Path, text: str) -> None:
    """Change a file in such a way that it looks like the one before."""
    before = file.stat()
    file.write_text(text, encoding="ascii")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


async def test_a_token_refused_is_read_again_and_asked_with_exactly_once(
    node: TestNode, asking: Asking, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("old-token", encoding="ascii")
    auth = FileToken(file)
    await auth.token()
    change_in_secret(file, "new-token")
    node.get(PATH, status=401, body=b"")
    asked = asking(node.url, auth)
    with pytest.raises(Unauthorized, match=f"GET {PATH}: 401"):
        await asked.get(PATH, Thing)
    assert [request.headers["Authorization"] for request in node.requests] == ["Bearer old-token", "Bearer new-token"]
    assert log(asked) == [f"GET {PATH} 401", f"GET {PATH} 401"]


async def test_a_question_is_answered_after_its_token_was_renewed(
    node: TestNode, asking: Asking, tmp_path: Path
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"count": 1}, status=200 if "new-token" in request.headers["Authorization"] else 401)

    node._answer = answer  # type: ignore[method-assign] # an answer that depends on the token
    await node.stop()
    await node.start()
    file = tmp_path / "token"
    file.write_text("old-token", encoding="ascii")
    auth = FileToken(file)
    await auth.token()
    change_in_secret(file, "new-token")
    assert await asking(node.url, auth).get(PATH, Thing) == Thing(1)


@pytest.mark.parametrize("status", [400, 403, 404, 500])
async def test_a_token_is_read_again_after_a_401_only(
    node: TestNode, asking: Asking, tmp_path: Path, status: int
) -> None:
    file = tmp_path / "token"
    file.write_text("old-token", encoding="ascii")
    auth = FileToken(file)
    await auth.token()
    change_in_secret(file, "new-token")
    node.get(PATH, status=status, body=b"")
    with pytest.raises((Failed, Unsupported)):
        await asking(node.url, auth).get(PATH, Thing)
    assert [request.headers["Authorization"] for request in node.requests] == ["Bearer old-token"]


async def test_a_token_that_cannot_be_had_is_unauthorized_and_nothing_is_asked(
    node: TestNode, asking: Asking, tmp_path: Path
) -> None:
    asked = asking(node.url, FileToken(tmp_path / "none"))
    with pytest.raises(Unauthorized) as caught:
        await asked.get(PATH, Thing)
    assert str(caught.value) == f"the token cannot be read from {tmp_path / 'none'}: No such file or directory"
    assert log(asked) == []


# The request log


async def test_the_log_tells_how_each_request_went_and_how_long_it_took(asking: Asking, clock: FakeClock) -> None:
    def answer() -> Iterator[bytes]:
        clock.advance(1.5)
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    async with RawNode(endless=answer()) as node:
        asked = asking(node.url)
        await asked.get("/v2/thing/{id}", Thing, id="a b")
        with pytest.raises(Failed):
            await asked.get(PATH, Thing)
    assert list(asked.requests) == [
        RequestLogEntry("GET", "/v2/thing/a%20b", "200", 1.5),
        RequestLogEntry("GET", PATH, "unreachable", 0.0),
    ]


async def test_the_log_keeps_the_last_requests(node: TestNode, asking: Asking) -> None:
    for number in range(REQUESTS_SHOWN + 2):
        node.get(f"/v2/thing/{number}", answers={})
    asked = asking(node.url)
    for number in range(REQUESTS_SHOWN + 2):
        await asked.get("/v2/thing/{number}", Thing, number=str(number))
    assert log(asked) == [f"GET /v2/thing/{number} 200" for number in range(2, REQUESTS_SHOWN + 2)]


async def test_a_request_given_up_is_in_the_log(asking: Asking) -> None:
    async with RawNode(stays=True) as node:
        asked = asking(node.url)
        question = asyncio.create_task(asked.get(PATH, Thing))
        await node.asked.wait()
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
    assert log(asked) == [f"GET {PATH} cancelled"]


# The deadline


async def test_a_request_ends_a_tenth_before_the_run_does(asking: Asking) -> None:
    async with RawNode(stays=True) as node:
        asked = asking(node.url, seconds=0.1)
        with pytest.raises(TimedOut) as caught:
            await asked.get(PATH, Thing)
    assert str(caught.value) == f"GET {PATH}: no answer within 0.09 s"
    assert log(asked) == [f"GET {PATH} timeout"]


@pytest.mark.parametrize(("seconds", "spent"), [(5, 4.5), (5, 6), (60, 59.5), (0.1, 0.09)])
async def test_nothing_is_asked_when_the_run_has_no_time_left(
    node: TestNode, asking: Asking, clock: FakeClock, counters: Counters, seconds: float, spent: float
) -> None:
    asked = asking(node.url, seconds=seconds)
    clock.advance(spent + 0.0001)
    with pytest.raises(TimedOut) as caught:
        await asked.get(PATH, Thing)
    assert str(caught.value) == f"GET {PATH}: the run had no time left for it"
    assert log(asked) == [f"GET {PATH} timeout"]
    assert self_metrics.REQUESTS not in {sample.metric for sample in counters.samples()}


async def test_something_is_asked_while_the_run_has_time_left(node: TestNode, asking: Asking, clock: FakeClock) -> None:
    node.get(PATH, answers={})
    asked = asking(node.url, seconds=60)
    clock.advance(59.25)
    assert await asked.get(PATH, Thing) == Thing()


# What is never said


async def test_an_answer_has_no_secrets_either_but_keeps_words_that_a_header_shares_with_it(
    node: TestNode, asking: Asking
) -> None:
    token = "a-bearer-token-of-some-length"
    node.get(PATH, answers={"text": f"you sent {token}, and sesame-in-the-header, of mainnet"})
    headers = {"X-Key": "sesame-in-the-header", "X-Tenant": "mainnet"}
    asked = asking(node.url, StaticToken(token), headers=headers)
    assert (await asked.get(PATH, Thing)).text == "you sent ***, and ***, of mainnet"


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
@pytest.mark.parametrize("form", ["{secret}", '{{"error":"{secret}"}}', '{{"code":"X","cause":"you sent {secret}!"}}'])
async def test_what_a_node_echoes_is_said_without_secrets(
    node: TestNode, asking: Asking, status: int, form: str
) -> None:
    secrets = ["a-bearer-token", "sesame-in-header", "sesame-in-query"]
    body = form.format(secret=" and ".join(secrets)).encode()
    node.get(f"{PATH}?apikey=sesame-in-query", status=status, body=body)
    url = f"{node.url}?apikey=sesame-in-query"
    asked = asking(url, StaticToken("a-bearer-token"), headers={"X-Key": "sesame-in-header"})
    with pytest.raises((Failed, Unsupported)) as caught:
        await asked.get(PATH, Thing)
    assert "*** and *** and ***" in str(caught.value)
    assert not [secret for secret in secrets if secret in str(caught.value)]
    assert log(asked) == [f"GET {PATH} {status}"]


@pytest.mark.parametrize("length", [60, 250, 1500])
async def test_no_half_of_a_secret_is_said_where_the_text_is_cut(node: TestNode, asking: Asking, length: int) -> None:
    token = "".join(f"{number:04}-" for number in range(300))[:length]
    node.get(PATH, status=500, body=b"x" * 180 + token.encode())
    with pytest.raises(Refused) as caught:
        await asking(node.url, StaticToken(token)).get(PATH, Thing)
    assert str(caught.value) == f"GET {PATH}: 500: {'x' * 180}***"


async def test_an_answer_keeps_what_is_like_a_secret(node: TestNode, asking: Asking) -> None:
    node.get(PATH, answers={"text": "a-token"})
    assert await asking(node.url, StaticToken("a-token")).get(PATH, Thing) == Thing(text="a-token")


async def test_a_refusal_that_is_no_text_is_said_as_far_as_it_can_be_read(node: TestNode, asking: Asking) -> None:
    node.get(PATH, status=500, body=b'{"error":"\xff \xed\xa0\x80 ok"}')
    with pytest.raises(Refused) as caught:
        await asking(node.url).get(PATH, Thing)
    assert str(caught.value) == f"GET {PATH}: 500: \ufffd \ufffd\ufffd\ufffd ok"
