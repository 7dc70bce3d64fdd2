"""One run of a watch: what becomes of every way in which it can end, and what is said of it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from exporter.collector import Collector, Memo, MemoEntry, RunOutput, Yields, collector, seconds
from exporter.config.models import Budget, CollectorConfig, Kind, Strict, TargetConfig
from exporter.errors import (
    REASONS,
    Failed,
    Limited,
    Malformed,
    Refused,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unreachable,
    Unsupported,
)
from exporter.metrics.metric import Metric, Sample
from exporter.node.auth import Auth, NoToken, StaticToken
from exporter.node.client import Node
from exporter.node.decoding import Struct
from exporter.node.messages import RequestLogEntry
from exporter.node.rate_limit import Share
from exporter.scheduling.runner import run
from exporter.scheduling.watch import Outcome, Run, Watch
from tests.conftest import NOW, Connect, FakeClock, Lines
from tests.nodes import RawNode, TestNode

UP = Metric("canton_up", "Up.")
COUNT = Metric("canton_count", "A count.", ("of",))
SEEN = Memo[int]()


class Thing(Struct):
    count: int | None = None


def collect(ask: Callable[[Node, Strict, RunOutput], Yields], share: Share = Share.WHOLE) -> Collector[Strict]:
    return collector(Kind.LEDGER, interval=seconds(15), timeout=seconds(10), share=share)(ask)


def asking(question: Callable[[Node], Awaitable[object]]) -> Collector[Strict]:
    """Return a collector that yields one sample and then asks something."""

    async def asking(node: Node, options: Strict, previous: RunOutput) -> Yields:
        yield UP.sample(1)
        await question(node)

    return collect(asking)


def raising(exception: BaseException) -> Collector[Strict]:
    async def fail(node: Node) -> None:
        raise exception

    return asking(fail)


def yielding(*items: Sample | MemoEntry[Any]) -> Collector[Strict]:
    async def yielding(node: Node, options: Strict, previous: RunOutput) -> Yields:
        for item in items:
            yield item

    return collect(yielding)


class Runs:
    """Runs a collector once on a target."""

    def __init__(self, node: TestNode, connect: Connect, clock: FakeClock) -> None:
        self._node = node
        self._connect = connect
        self._clock = clock

    async def __call__(
        self,
        collector: Collector[Strict],
        *,
        within: float = 5.0,
        auth: Auth | None = None,
        is_down: bool = False,
        url: str = "",
        previous: RunOutput | None = None,
        budget: Budget | None = None,
        **settings: Any,
    ) -> Run:
        url = url or self._node.url
        target = TargetConfig.model_validate({"kind": "ledger", "url": url, **settings})
        config = CollectorConfig(interval=seconds(15), timeout=timedelta(seconds=within))
        return await run(
            Watch("t", target, collector, config),
            self._connect(url, budget, **settings),
            auth or NoToken(),
            self._clock,
            previous or RunOutput(),
            is_down=lambda: is_down,
        )


@pytest.fixture
def start(node: TestNode, connect: Connect, clock: FakeClock) -> Runs:
    return Runs(node, connect, clock)


def told(run: Run) -> tuple[str, str | None, str | None]:
    return run.outcome.value, run.reason, run.error


# Runs that end well


async def test_a_run_gives_what_was_yielded_in_its_order(start: Runs) -> None:
    items = (COUNT.sample(2, of="b"), SEEN.of(7), UP.sample(1), COUNT.sample(1, of="a"))
    ended = await start(yielding(*items))
    assert told(ended) == ("ok", None, None)
    assert ended.yielded.samples == (COUNT.sample(2, of="b"), UP.sample(1), COUNT.sample(1, of="a"))
    assert ended.yielded.memo(SEEN) == 7
    assert (ended.traceback, ended.requests) == (None, ())


async def test_a_run_may_yield_nothing(start: Runs) -> None:
    ended = await start(yielding())
    assert (told(ended), ended.yielded.samples) == (("ok", None, None), ())


async def test_a_run_tells_when_it_ended_how_long_it_took_and_what_it_asked(
    start: Runs, node: TestNode, clock: FakeClock
) -> None:
    async def ask(asked: Node) -> None:
        clock.advance(2.5)
        await asked.get("/v2/thing/{id}", Thing, id="a b")

    node.get("/v2/thing/a%20b", answers={})
    ended = await start(asking(ask))
    assert (ended.ended, ended.seconds) == (NOW + 2.5, 2.5)
    assert ended.requests == (RequestLogEntry("GET", "/v2/thing/a%20b", "200", 0.0),)


async def test_a_collector_gets_what_its_last_good_run_yielded_and_its_options(start: Runs) -> None:
    async def again(node: Node, options: Strict, previous: RunOutput) -> Yields:
        assert options == Strict()
        for item in previous:
            yield item

    items = (UP.sample(1), SEEN.of(7))
    ended = await start(collect(again), previous=RunOutput(items))
    assert tuple(ended.yielded) == items


async def test_a_collector_knows_how_much_time_it_has(start: Runs, clock: FakeClock) -> None:
    left = []

    async def look(node: Node) -> None:
        left.append(node.time_left())
        clock.advance(2)
        left.append(node.time_left())

    await start(asking(look), within=3)
    assert left == [3, 1]


async def test_the_requests_of_a_collector_take_its_share_of_the_budget(start: Runs, node: TestNode) -> None:
    async def ask(node: Node, options: Strict, previous: RunOutput) -> Yields:
        for _ in range(3):
            await node.get("/v2/thing", Thing)
        yield UP.sample(1)

    node.get("/v2/thing", answers={})
    budget = Budget(rate=0.01, burst=4)
    ended = await start(collect(ask, Share.HALF), within=0.1, budget=budget)
    assert (ended.reason, len(node.requests)) == ("timeout", 2)
    assert (await start(collect(ask), within=5, budget=budget)).outcome is Outcome.OK


# Runs that fail


@pytest.mark.parametrize(
    ("exception", "reason"),
    [
        (Unreachable("said"), "unreachable"),
        (TimedOut("said"), "timeout"),
        (Malformed("said"), "malformed"),
        (Refused("said", 500), "refused"),
        (Unauthorized("said", 401), "unauthorized"),
        (Limited("said", 429), "limited"),
        (TooLarge("said", 413), "too_large"),
    ],
)
@pytest.mark.parametrize("is_down", [False, True])
async def test_each_failure_gives_its_reason_and_no_samples(
    start: Runs, exception: Failed, reason: str, is_down: bool
) -> None:
    ended = await start(raising(exception), is_down=is_down)
    assert told(ended) == ("failed", reason, "said")
    assert (ended.yielded.samples, ended.traceback) == ((), None)
    assert reason in REASONS


async def test_a_failure_that_says_nothing_has_no_sentence(start: Runs) -> None:
    assert told(await start(raising(Malformed()))) == ("failed", "malformed", None)


async def test_what_the_node_does_not_have_is_neither_good_nor_bad(start: Runs, node: TestNode) -> None:
    node.get("/v2/thing", status=404, body=b"")
    ended = await start(asking(lambda node: node.get("/v2/thing", Thing)))
    assert told(ended) == ("unsupported", None, "GET /v2/thing: 404")
    assert (ended.yielded.samples, ended.traceback) == ((), None)
    assert ended.requests == (RequestLogEntry("GET", "/v2/thing", "404", 0.0),)


async def test_what_a_node_that_is_down_does_not_have_is_a_failure(start: Runs, node: TestNode) -> None:
    node.get("/v2/thing", status=404, body=b"")
    ended = await start(asking(lambda node: node.get("/v2/thing", Thing)), is_down=True)
    assert told(ended) == ("failed", "refused", "GET /v2/thing: 404")


@pytest.mark.parametrize(
    ("status", "body", "line"),
    [
        (200, b"[]", "malformed: GET /v2/thing: not the documented answer: Expected `object`, got `array`"),
        (200, b"<html>", "refused: GET /v2/thing: 200 and an HTML page: is this the API's address?"),
        (401, b"", "unauthorized: GET /v2/thing: 401"),
        (429, b"", "limited: GET /v2/thing: 429"),
        (413, b"", "too_large: GET /v2/thing: 413"),
        (503, b"", "refused: GET /v2/thing: 503"),
        (501, b"", "unsupported: GET /v2/thing: 501"),
    ],
)
async def test_the_page_tells_what_a_node_answered(
    node: TestNode, lines: Lines, status: int, body: bytes, line: str
) -> None:
    node.get("/v2/thing", status=status, body=body)
    assert await lines(asking(lambda node: node.get("/v2/thing", Thing))) == [line]


# Questions side by side


@pytest.mark.parametrize(
    ("exceptions", "outcome"),
    [
        ([Malformed("first"), Unauthorized("second")], ("failed", "malformed", "first")),
        ([Unauthorized("first"), Malformed("second")], ("failed", "unauthorized", "first")),
        ([Unsupported("first"), Unsupported("second")], ("unsupported", None, "first")),
        ([Unsupported("lack"), Malformed("failure")], ("failed", "malformed", "failure")),
        ([ExceptionGroup("inner", [Unsupported("lack"), TimedOut("x")])], ("failed", "timeout", "x")),
        (
            [Unsupported("lack"), Malformed("failure"), ExceptionGroup("inner", [KeyError("bug")])],
            ("failed", "bug", "a bug of the exporter, please report it: KeyError: 'bug'"),
        ),
    ],
)
async def test_of_several_failures_the_one_that_tells_most_is_told(
    start: Runs, exceptions: list[Exception], outcome: tuple[str, str | None, str]
) -> None:
    assert told(await start(raising(ExceptionGroup("several", exceptions)))) == outcome


async def test_a_task_group_fails_with_what_its_first_task_did(start: Runs, node: TestNode) -> None:
    async def ask(asked: Node) -> None:
        async with asyncio.TaskGroup() as group:
            for path in ("/v2/a", "/v2/b"):
                group.create_task(asked.get(path, Thing))

    node.answer_everything(status=403, body=b"")
    ended = await start(asking(ask))
    assert ended.reason == "unauthorized"


# Bugs


@pytest.mark.parametrize(
    "exception",
    [
        ValueError("said"),
        KeyError("said"),
        AssertionError("said"),
        RecursionError("said"),
        MemoryError("said"),
        OSError(24, "said"),
        StopIteration("said"),
        AttributeError("said"),
    ],
    ids=lambda exception: type(exception).__name__,
)
async def test_anything_else_is_a_bug_that_ends_one_run(start: Runs, exception: Exception) -> None:
    ended = await start(raising(exception))
    name = "RuntimeError" if isinstance(exception, StopIteration) else type(exception).__name__
    assert (ended.outcome, ended.reason) == (Outcome.FAILED, "bug")
    assert (ended.error or "").startswith(f"a bug of the exporter, please report it: {name}: ")
    assert (ended.traceback or "").startswith("Traceback (most recent call last):\n")
    assert f"{name}: " in (ended.traceback or "")
    assert ended.yielded.samples == ()


async def test_a_bug_is_told_with_the_place_it_is_at(start: Runs) -> None:
    ended = await start(raising(ZeroDivisionError("division by zero")))
    assert told(ended) == (
        "failed",
        "bug",
        "a bug of the exporter, please report it: ZeroDivisionError: division by zero",
    )
    assert f'File "{__file__}"' in (ended.traceback or "")
    assert (ended.traceback or "").endswith("\nZeroDivisionError: division by zero\n")


async def test_the_runner_itself_logs_nothing(start: Runs, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "exporter")
    await start(raising(ValueError("said")))
    await start(raising(Malformed("said")))
    assert [record for record in caplog.records if record.name.startswith("exporter")] == []


class Speechless(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


async def test_a_bug_that_cannot_be_put_into_words_ends_one_run_too(start: Runs) -> None:
    assert (await start(raising(Speechless()))).reason == "bug"


async def test_more_samples_than_any_page_shows_are_too_many(start: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporter.limits.RUN_ITEMS", 2_000)
    ended = await start(yielding(*(COUNT.sample(1, of=str(number)) for number in range(2_001))))
    said = "more than 2000 samples, which no page could show; ask for less"
    assert told(ended) == ("failed", "too_large", said)


async def test_a_run_may_yield_ten_times_max_series(start: Runs) -> None:
    samples = [COUNT.sample(1, of=str(number)) for number in range(5_001)]
    assert (await start(yielding(*samples[:5_000]))).outcome is Outcome.OK
    said = "more than 5000 samples, 10 times max_series (500); ask for less, or raise max_series"
    assert told(await start(yielding(*samples))) == ("failed", "too_large", said)


async def test_memos_without_end_are_a_bug(start: Runs) -> None:
    assert (await start(yielding(*(Memo[int]().of(1) for _ in range(101))))).reason == "bug"


async def test_two_samples_of_a_series_are_a_bug(start: Runs) -> None:
    ended = await start(yielding(COUNT.sample(1, of="a"), COUNT.sample(1, of="b"), COUNT.sample(2, of="a")))
    assert told(ended) == (
        "failed",
        "bug",
        "a bug of the exporter, please report it: ValueError: two samples of canton_count('a',)",
    )
    assert ended.yielded.samples == ()


async def test_a_sample_yielded_twice_is_a_bug_though_it_is_the_same(start: Runs) -> None:
    assert (await start(yielding(UP.sample(1), UP.sample(1)))).reason == "bug"


async def test_the_same_label_of_two_metrics_is_none(start: Runs) -> None:
    other = Metric("canton_count_too", "Another count.", ("of",))
    ended = await start(yielding(COUNT.sample(1, of="a"), other.sample(1, of="a"), COUNT.sample(1, of="A")))
    assert ended.outcome is Outcome.OK


async def test_a_collector_is_closed_when_its_run_ends_early(start: Runs) -> None:
    closed = []

    async def twice(node: Node, options: Strict, previous: RunOutput) -> Yields:
        try:
            yield UP.sample(1)
            yield UP.sample(1)
            yield COUNT.sample(1, of="never")
        finally:
            closed.append(node)

    await start(collect(twice))
    assert len(closed) == 1


# Runs that do not end


async def hang(node: Node) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("is_down", [False, True])
async def test_a_collector_that_hangs_ends_at_its_timeout(start: Runs, is_down: bool) -> None:
    began = asyncio.get_running_loop().time()
    ended = await start(asking(hang), within=0.1, is_down=is_down)
    assert 0.09 < asyncio.get_running_loop().time() - began < 1
    assert told(ended) == ("failed", "timeout", "the run did not end within its timeout of 100ms")
    assert (ended.yielded.samples, ended.traceback) == ((), None)


async def test_a_node_that_does_not_answer_is_told_before_the_run_is_out_of_time(start: Runs) -> None:
    async with RawNode(stays=True) as silent:
        ended = await start(asking(lambda node: node.get("/v2/thing", Thing)), within=0.5, url=silent.url)
    assert told(ended) == ("failed", "timeout", "GET /v2/thing: no answer within 0.45 s")
    assert [request.outcome for request in ended.requests] == ["timeout"]


async def test_a_request_under_way_when_the_run_ends_is_in_its_log(start: Runs) -> None:
    async def ask(node: Node) -> None:
        question = asyncio.create_task(node.get("/v2/thing", Thing))
        try:
            await hang(node)
        finally:
            question.cancel()
            await asyncio.wait([question])

    async with RawNode(stays=True) as silent:
        ended = await start(asking(ask), within=0.05, url=silent.url)
    assert told(ended) == ("failed", "timeout", "the run did not end within its timeout of 50ms")
    assert len(ended.requests) == 1


async def test_a_cancelled_run_is_no_failure_and_closes_its_collector(start: Runs) -> None:
    waiting, closed = asyncio.Event(), asyncio.Event()

    async def wait(node: Node) -> None:
        waiting.set()
        try:
            await hang(node)
        finally:
            closed.set()

    running = asyncio.create_task(start(asking(wait)))
    await waiting.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert closed.is_set()


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
async def test_what_ends_the_process_passes_through(
    node: TestNode, connect: Connect, clock: FakeClock, exception: type[BaseException]
) -> None:
    target = TargetConfig(kind=Kind.LEDGER, url=node.url)
    watch = Watch("t", target, raising(exception()), CollectorConfig(interval=seconds(15), timeout=seconds(5)))
    with pytest.raises(exception):
        await run(watch, connect(node.url), NoToken(), clock, RunOutput())


# What is never said


SECRETS = ("a-bearer-token", "sesame-in-header", "sesame-in-query")


async def secretly(start: Runs, node: TestNode, collector: Collector[Strict]) -> Run:
    """Run with secrets everywhere, after a question that carried the token."""
    url = f"{node.url}?apikey=sesame-in-query"
    node.get("/v2/thing?apikey=sesame-in-query", answers={})
    return await start(collector, url=url, auth=StaticToken("a-bearer-token"), headers={"X-Key": "sesame-in-header"})


@pytest.mark.parametrize("kind", [Malformed, Unsupported, Refused, ValueError, Exception])
async def test_no_error_says_a_secret(start: Runs, node: TestNode, kind: type[Exception]) -> None:
    async def fail(asked: Node) -> None:
        await asked.get("/v2/thing", Thing)
        raise kind(f"<{'> <'.join(SECRETS)}>")

    ended = await secretly(start, node, asking(fail))
    assert (ended.error or "").endswith("<***> <***> <***>")
    for secret in SECRETS:
        assert secret not in (ended.error or "")
        assert secret not in (ended.traceback or "")
        assert secret not in str(ended.requests)


async def test_no_error_says_the_urls_password(start: Runs, node: TestNode) -> None:
    ended = await start(raising(ValueError("pa55word")), url=node.url.replace("//", "//user:pa55word@"))
    assert ended.error == "a bug of the exporter, please report it: ValueError: ***"
    assert "\nValueError: ***\n" in (ended.traceback or "")


async def test_no_label_of_two_equal_samples_says_a_secret(start: Runs, node: TestNode) -> None:
    async def fail(asked: Node, options: Strict, previous: RunOutput) -> Yields:
        await asked.get("/v2/thing", Thing)
        yield COUNT.sample(1, of="a-bearer-token")
        yield COUNT.sample(1, of="a-bearer-token")

    ended = await secretly(start, node, collect(fail))
    assert ended.error == "a bug of the exporter, please report it: ValueError: two samples of canton_count('***',)"


async def test_a_garbled_answer_that_echoes_the_question_says_no_secret(start: Runs) -> None:
    async with RawNode(b"you sent sesame-in-header\r\n\r\n") as echo:
        ended = await start(
            asking(lambda node: node.get("/v2/thing", Thing)), url=echo.url, headers={"X-Key": "sesame-in-header"}
        )
    assert ended.reason == "malformed"
    assert "you sent ***" in (ended.error or "")


# Watches


def test_a_watch_is_the_same_if_it_asks_the_same_in_the_same_way() -> None:
    one = yielding()
    target = TargetConfig(kind=Kind.LEDGER, url="http://node", network="mainnet", labels={"team": "a"})
    config = CollectorConfig(interval=seconds(15), timeout=seconds(5))
    watch = Watch("t", target, one, config)
    assert watch == Watch("t", target.model_copy(), one, config.model_copy())
    assert hash(watch.key) == hash("t/yielding")
    assert watch != Watch("u", target, one, config)
    assert watch != Watch("t", target, yielding(), config)
    assert watch != Watch("t", target, one, CollectorConfig(interval=seconds(16), timeout=seconds(5)))
    assert watch.labels == {"target": "t", "network": "mainnet", "role": "own", "team": "a"}
