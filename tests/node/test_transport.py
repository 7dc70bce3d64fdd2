"""One request: every way in which it can get no answer, what is said of it, and what is counted."""

import asyncio
import gzip
import itertools
import resource
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trustme
from prometheus_client.utils import floatToGoString

from exporter.clock import Clock
from exporter.config.models import Budget, Kind, TargetConfig
from exporter.errors import Failed, Malformed, TooLarge, Unreachable
from exporter.exposition.text import render
from exporter.metrics import self_metrics
from exporter.metrics.counters import Counters
from exporter.metrics.metric import Metric
from exporter.node.messages import Request, Response
from exporter.node.rate_limit import RateLimits, Share
from exporter.node.transport import Transport
from tests.conftest import NOW, Connect, FakeClock
from tests.nodes import RawNode, TestNode, server_tls

ROUTE = "/v2/things/{id}"
PATH = "/v2/things/7"
ASKED = f"GET {ROUTE}"
NO_SETTING = "this limit has no setting, as no node needs more"
SECRETS = ("pa55word", "sesame-in-query", "sesame-in-header")
SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
PACKED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def ask(
    transport: Transport,
    *,
    method: str = "GET",
    query: dict[str, str] | None = None,
    body: bytes | None = None,
    token: str | None = None,
    share: Share = Share.WHOLE,
    seconds: float = 5.0,
) -> Response:
    return await transport.request(Request(method, ROUTE, PATH, query or {}, body), token, share, seconds)


async def fault(asked: Awaitable[Response]) -> str:
    """Return the kind of failure and its sentence."""
    with pytest.raises(Failed) as caught:
        await asked
    return f"{type(caught.value).__name__}: {caught.value}"


def counted(counters: Counters) -> list[str]:
    """Return the counters as the page shows them, in the order of their names."""
    return sorted("".join(render(counters.samples(), {}).values()).splitlines())


def value_of(counters: Counters, metric: Metric) -> float:
    """Return the value of the only series of a metric."""
    [value] = [sample.value for sample in counters.samples() if sample.metric is metric]
    return value


def after_one_request(answer: str, size: float | None, throttled: float = 0, method: str = "GET") -> list[str]:
    """Return all counters after one request, by its status or by why there is no whole answer.

    `size` is None where no answer began, so that there was none to read; else one that broke off had status 200.
    """
    code, reason = (answer, "") if answer.isdigit() else ("" if size is None else "200", answer)
    return [
        "canton_http_budget_wait_seconds_total 0.0",
        f'canton_http_request_duration_seconds_count{{route="{ROUTE}"}} 1.0',
        f'canton_http_request_duration_seconds_sum{{route="{ROUTE}"}} 0.0',
        f'canton_http_requests_total{{code="{code}",method="{method}",reason="{reason}",route="{ROUTE}"}} 1.0',
        *([] if size is None else [f'canton_http_response_bytes_total{{route="{ROUTE}"}} {floatToGoString(size)}']),
        f"canton_http_throttled_total {float(throttled)}",
    ]


# What is no answer


@pytest.mark.parametrize(
    ("pieces", "said", "size"),
    [
        pytest.param([], "Unreachable: the connection was closed before an answer came", None, id="hung up at once"),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\nContent-Le"],
            "Unreachable: the connection was closed before an answer came",
            None,
            id="hung up in a header",
        ),
        pytest.param(
            [SIZED % 100, b"abc"],
            "Unreachable: the connection closed before the end of the answer",
            3,
            id="cut in the body",
        ),
        pytest.param(
            [SIZED % 100],
            "Unreachable: the connection closed before the end of the answer",
            0,
            id="cut before the body",
        ),
        pytest.param(
            [CHUNKED, b"5\r\nhello\r\n5\r\nhe"],
            "Unreachable: the connection closed before the end of the answer",
            7,
            id="cut in a chunk",
        ),
        pytest.param(
            [b"SSH-2.0-OpenSSH_9.6\r\n"],
            "NotHttp: the answer is not HTTP: Bad status line: Expected HTTP/, RTSP/ or ICE/: b'SSH-2.0-OpenSSH_9.6' ^",
            None,
            id="another protocol",
        ),
        pytest.param(
            [b"HTTP/1.1 99 No\r\nContent-Length: 0\r\n\r\n"],
            "NotHttp: the answer is not HTTP: Bad status line: Invalid status code: b'HTTP/1.1 99 No' ^",
            None,
            id="no such status",
        ),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc"],
            "NotHttp: the answer is not HTTP: Invalid character in Content-Length: b'Content-Length: -3' ^",
            None,
            id="a length below zero",
        ),
        pytest.param(
            [CHUNKED + b"zz\r\nhello"],
            "NotHttp: the answer is not HTTP: Invalid character in chunk size: b'zz' ^",
            None,
            id="no chunk",
        ),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\nX: " + b"a" * 9000 + b"\r\nContent-Length: 0\r\n\r\n"],
            f"NotHttp: the answer is not HTTP: Got more than 8190 bytes when reading: b'{'a' * 100}...'.",
            None,
            id="too long a header",
        ),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\n", *(b"X%d: a\r\n" % number for number in range(20_000)), b"\r\n"],
            "NotHttp: the answer is not HTTP: Too many headers received",
            None,
            id="too many headers",
        ),
    ],
)
async def test_says_and_counts_what_is_no_answer(
    connect: Connect, counters: Counters, pieces: list[bytes], said: str, size: int | None
) -> None:
    async with RawNode(*pieces) as node:
        kind, _, sentence = said.partition(": ")
        assert await fault(ask(connect(node.url))) == f"{kind}: {ASKED}: {sentence}"
    assert counted(counters) == after_one_request({"NotHttp": "malformed"}.get(kind, kind.lower()), size)


async def test_garbage_is_quoted_in_one_line_of_bounded_length(connect: Connect, counters: Counters) -> None:
    async with RawNode(bytes(range(256)) * 20) as node:
        with pytest.raises(Malformed) as caught:
            await ask(connect(node.url))
    assert str(caught.value).startswith(f"{ASKED}: the answer is not HTTP: Bad status line: ")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= len(f"{ASKED}: the answer is not HTTP: ") + 200
    assert counted(counters) == after_one_request("malformed", None)


async def test_headers_without_end_are_not_read_to_their_end(connect: Connect) -> None:
    async with RawNode(b"HTTP/1.1 200 OK\r\nX: ", endless=itertools.repeat(b"a" * 65536)) as node:
        with pytest.raises(Malformed, match="Got more than 8190 bytes"):
            await ask(connect(node.url))
        assert node.sent < 16 * 2**20


async def test_a_node_that_does_not_listen_is_unreachable(connect: Connect, counters: Counters, node: TestNode) -> None:
    await node.stop()
    address = node.url.removeprefix("http://")
    assert (
        await fault(ask(connect(node.url))) == f"Unreachable: {ASKED}: no connection to {address}: Connection refused"
    )
    assert counted(counters) == after_one_request("unreachable", None)


async def test_a_name_that_does_not_resolve_is_unreachable(connect: Connect, counters: Counters) -> None:
    transport = connect("http://nowhere.invalid")
    assert await fault(ask(transport)) == f"Unreachable: {ASKED}: the name nowhere.invalid does not resolve"
    assert counted(counters) == after_one_request("unreachable", None)


async def test_a_name_too_long_to_be_one_is_unreachable(connect: Connect, counters: Counters) -> None:
    host = "a" * 64 + ".invalid"
    said = await fault(ask(connect(f"http://{host}")))
    assert said == f"Unreachable: {ASKED}: the name {host} does not resolve"
    assert counted(counters) == after_one_request("unreachable", None)


# TLS


@pytest.fixture
async def serve() -> AsyncIterator[Callable[[trustme.LeafCert], Awaitable[TestNode]]]:
    """Return a function that starts a node with a certificate; it answers everything."""
    nodes = []

    async def serve(certificate: trustme.LeafCert) -> TestNode:
        nodes.append(await TestNode().start(server_tls(certificate)))
        nodes[-1].answer_everything(status=204, body=b"")
        return nodes[-1]

    yield serve
    for node in nodes:
        await node.stop()


Serve = Callable[[trustme.LeafCert], Awaitable[TestNode]]
YEAR_2030, YEAR_2031 = datetime(2030, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)


async def test_tells_until_when_a_certificate_is_valid_even_of_an_empty_answer(
    connect: Connect, serve: Serve, authority: trustme.CA
) -> None:
    node = await serve(authority.issue_cert("127.0.0.1", not_after=YEAR_2030))
    transport = connect(node.url)
    assert [(await ask(transport)).certificate_expiry for _ in range(2)] == [YEAR_2030.timestamp()] * 2


async def test_sees_a_renewed_certificate_once_its_connection_is_ten_minutes_old(
    connect: Connect, serve: Serve, authority: trustme.CA, clock: FakeClock
) -> None:
    node = await serve(authority.issue_cert("127.0.0.1", not_after=YEAR_2030))
    transport = connect(node.url)
    assert (await ask(transport)).certificate_expiry == YEAR_2030.timestamp()
    node.renew(authority.issue_cert("127.0.0.1", not_after=YEAR_2031))
    clock.advance(599)
    assert (await ask(transport)).certificate_expiry == YEAR_2030.timestamp(), "a handshake each would not be cheap"
    for seconds in (1, 599):
        clock.advance(seconds)
        assert (await ask(transport)).certificate_expiry == YEAR_2031.timestamp()
    assert len({request.transport for request in node.requests}) == 2


async def test_a_certificate_told_is_that_of_the_node_that_was_asked(
    connect: Connect, serve: Serve, authority: trustme.CA, tmp_path: Path
) -> None:
    nodes = [await serve(authority.issue_cert("127.0.0.1", not_after=end)) for end in (YEAR_2030, YEAR_2031)]
    file = tmp_path / "url"
    transport = connect(None, url_file=file)
    for node, end in zip((*nodes, nodes[0]), (YEAR_2030, YEAR_2031, YEAR_2030), strict=True):
        file.write_text(node.url)
        assert (await ask(transport)).certificate_expiry == end.timestamp()


async def test_no_question_of_many_at_once_keeps_an_old_connection(
    connect: Connect, serve: Serve, authority: trustme.CA, clock: FakeClock
) -> None:
    node = await serve(authority.issue_cert("127.0.0.1"))
    transport = connect(node.url)
    await asyncio.gather(*(ask(transport) for _ in range(4)))
    node.renew(trustme.CA().issue_cert("127.0.0.1"))
    clock.advance(600)
    for _ in range(4):
        assert "is not trusted" in await fault(ask(transport))


async def test_a_connection_without_tls_is_kept_however_old(connect: Connect, clock: FakeClock, node: TestNode) -> None:
    node.answer_everything(answers={})
    transport = connect(node.url)
    for _ in range(2):
        await ask(transport)
        clock.advance(3600)
    assert len({request.transport for request in node.requests}) == 1


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(
    connect: Connect, counters: Counters, serve: Serve, authority: trustme.CA
) -> None:
    node = await serve(trustme.CA().issue_cert("127.0.0.1"))
    address = node.url.removeprefix("https://")
    assert await fault(ask(connect(node.url))) == (
        f"Unreachable: {ASKED}: the certificate of {address} is not trusted: unable to get local issuer certificate"
    )
    assert counted(counters) == after_one_request("unreachable", None)


async def test_a_certificate_of_another_host_is_not_trusted(
    connect: Connect, counters: Counters, serve: Serve, authority: trustme.CA
) -> None:
    node = await serve(authority.issue_cert("127.0.0.2"))
    address = node.url.removeprefix("https://")
    assert await fault(ask(connect(node.url))) == (
        f"Unreachable: {ASKED}: the certificate of {address} is not trusted: "
        "IP address mismatch, certificate is not valid for '127.0.0.1'."
    )
    assert counted(counters) == after_one_request("unreachable", None)


async def test_a_certificate_that_expired_is_not_trusted(
    connect: Connect, counters: Counters, serve: Serve, authority: trustme.CA
) -> None:
    began, ended = datetime(2019, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)
    node = await serve(authority.issue_cert("127.0.0.1", not_before=began, not_after=ended))
    address = node.url.removeprefix("https://")
    assert await fault(ask(connect(node.url))) == (
        f"Unreachable: {ASKED}: the certificate of {address} is not trusted: certificate has expired"
    )
    assert counted(counters) == after_one_request("unreachable", None)


async def test_a_node_that_does_not_speak_tls_is_unreachable(connect: Connect, counters: Counters) -> None:
    async with RawNode(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as node:
        address = node.url.removeprefix("http://")
        said = await fault(ask(connect(f"https://{address}")))
    assert said == f"Unreachable: {ASKED}: TLS with {address} failed: WRONG_VERSION_NUMBER"
    assert counted(counters) == after_one_request("unreachable", None)


async def test_a_node_that_hangs_up_on_a_tls_greeting_is_unreachable(connect: Connect, counters: Counters) -> None:
    async with RawNode() as node:
        address = node.url.removeprefix("http://")
        said = await fault(ask(connect(f"https://{address}")))
    assert said.startswith(f"Unreachable: {ASKED}: ")
    assert counted(counters) == after_one_request("unreachable", None)


async def test_there_is_no_certificate_without_tls(connect: Connect, node: TestNode) -> None:
    node.get(PATH, answers={})
    assert (await ask(connect(node.url))).certificate_expiry is None


# How long


async def test_a_node_that_does_not_answer_times_out_by_the_targets_own_limit(
    connect: Connect, counters: Counters
) -> None:
    async with RawNode(stays=True) as node:
        said = await fault(ask(connect(node.url, timeout="50ms")))
    assert said == f"TimedOut: {ASKED}: no answer within 0.05 s"
    assert counted(counters) == after_one_request("timeout", None)


async def test_the_run_may_leave_a_request_less_time(connect: Connect) -> None:
    async with RawNode(stays=True) as node:
        said = await fault(ask(connect(node.url, timeout="5s"), seconds=0.05))
    assert said == f"TimedOut: {ASKED}: no answer within 0.05 s"


async def test_a_limit_of_many_seconds_is_not_rounded_up(connect: Connect) -> None:
    async with RawNode(stays=True) as node:
        asking = asyncio.create_task(ask(connect(node.url, timeout="1h"), seconds=3000.25))
        began = asyncio.get_running_loop().time()
        await node.asked.wait()
        timers = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined] # or the test would take as long
        [ends] = [timer.when() for timer in timers if timer.when() > began + 2000]
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert 3000.2 < ends - began < 3000.3


async def test_a_request_without_any_time_left_times_out(connect: Connect) -> None:
    async with RawNode(stays=True) as node, asyncio.timeout(0.2):
        said = await fault(ask(connect(node.url), share=Share.NONE, seconds=0))
    assert said.startswith(f"TimedOut: {ASKED}: ")


async def test_an_answer_that_does_not_end_times_out_and_what_came_is_counted(
    connect: Connect, counters: Counters
) -> None:
    async with RawNode(SIZED % 100, b"abc", stays=True) as node:
        said = await fault(ask(connect(node.url, timeout="100ms")))
    assert said == f"TimedOut: {ASKED}: no answer within 0.1 s"
    assert counted(counters) == after_one_request("timeout", 3)


async def test_a_request_given_up_is_counted_as_cancelled(connect: Connect, counters: Counters) -> None:
    async with RawNode(stays=True) as node:
        asking = asyncio.create_task(ask(connect(node.url)))
        await node.asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert counted(counters) == after_one_request("cancelled", None)


async def test_counts_how_long_a_request_took_and_tells_when_it_was_sent_and_answered(
    connect: Connect, counters: Counters, clock: FakeClock
) -> None:
    def answer() -> Any:
        clock.advance(2.5)
        yield SIZED % 2 + b"{}"

    async with RawNode(endless=answer()) as node:
        reply = await ask(connect(node.url))
    assert (reply.sent, reply.answered) == (NOW, NOW + 2.5)
    assert f'canton_http_request_duration_seconds_sum{{route="{ROUTE}"}} 2.5' in counted(counters)


async def test_the_time_of_a_failed_request_is_counted_too(
    connect: Connect, counters: Counters, clock: FakeClock
) -> None:
    def hang_up() -> Any:
        clock.advance(2.5)
        yield from ()

    async with RawNode(endless=hang_up()) as node:
        with pytest.raises(Unreachable):
            await ask(connect(node.url))
    assert f'canton_http_request_duration_seconds_sum{{route="{ROUTE}"}} 2.5' in counted(counters)


# How much


async def test_an_answer_at_the_cap_is_read(
    connect: Connect, node: TestNode, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.limits.ANSWER_BYTES", 2**20)
    node.get(PATH, body=b"x" * 2**20)
    assert (await ask(connect(node.url))).body == b"x" * 2**20
    assert counted(counters) == after_one_request("200", 2**20)


async def test_a_body_larger_than_the_cap_is_not_read_on(
    connect: Connect, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.limits.ANSWER_BYTES", 2**20)
    async with RawNode(SIZED % 2**40, endless=itertools.repeat(b"x" * 65536)) as node:
        with pytest.raises(TooLarge) as caught:
            await ask(connect(node.url))
        assert node.sent < 32 * 2**20  # what the operating system takes on the way
    assert str(caught.value) == f"{ASKED}: the answer is larger than 1 MiB; {NO_SETTING}"
    assert f'canton_http_requests_total{{code="200",method="GET",reason="too_large",route="{ROUTE}"}} 1.0' in counted(
        counters
    )
    read = value_of(counters, self_metrics.RESPONSE_BYTES)
    assert 2**20 < read < 2 * 2**20


async def test_a_gzip_bomb_is_not_unpacked_on(
    connect: Connect, node: TestNode, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.limits.ANSWER_BYTES", 2**20)
    bomb = gzip.compress(bytes(64 * 2**20), 1)
    node.get(PATH, body=bomb, headers={"Content-Encoding": "gzip"})
    transport = connect(node.url)
    tracemalloc.start()
    try:
        said = await fault(ask(transport))
        assert said == f"TooLarge: {ASKED}: the answer is larger than 1 MiB; {NO_SETTING}"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * 2**20
    read = value_of(counters, self_metrics.RESPONSE_BYTES)
    assert 0 < read <= len(bomb)


async def test_a_question_may_want_less_than_the_cap(connect: Connect, node: TestNode) -> None:
    node.get(PATH, body=b"x" * 11)
    asked = Request("GET", ROUTE, PATH, {}, None, most_bytes=10)
    said = await fault(connect(node.url).request(asked, None, Share.WHOLE, 5.0))
    assert said == f"TooLarge: {ASKED}: the answer is larger than 10 bytes; {NO_SETTING}"


async def test_after_an_answer_too_large_the_next_question_has_a_connection_of_its_own(
    connect: Connect, node: TestNode, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.limits.ANSWER_BYTES", 10)
    transport = connect(node.url)
    node.get(PATH, body=b"x" * 11)
    with pytest.raises(TooLarge):
        await ask(transport)
    node.get(PATH, body=b"x" * 10)
    assert (await ask(transport)).body == b"x" * 10


async def test_bytes_are_counted_as_they_came_not_as_they_unpack(
    connect: Connect, node: TestNode, counters: Counters
) -> None:
    plain = b'{"a": 1}' * 1000
    packed = gzip.compress(plain)
    node.get(PATH, body=packed, headers={"Content-Encoding": "gzip"})
    assert (await ask(connect(node.url))).body == plain
    assert node.requests[0].headers["Accept-Encoding"].startswith("gzip, deflate")
    assert counted(counters) == after_one_request("200", len(packed))


async def test_an_empty_answer_counts_no_bytes(connect: Connect, node: TestNode, counters: Counters) -> None:
    node.get(PATH, status=204, body=b"")
    assert (await ask(connect(node.url))).body == b""
    assert counted(counters) == after_one_request("204", 0)


NOT_PACKED = [
    pytest.param(b"hello", id="no gzip at all"),
    pytest.param(gzip.compress(b"hello")[:-8] + b"12345678", id="a wrong sum"),
    pytest.param(gzip.compress(b"hello") + b"more", id="something behind it"),
]


@pytest.mark.parametrize("body", NOT_PACKED)
async def test_an_answer_not_packed_the_way_it_says_is_malformed(
    connect: Connect, counters: Counters, body: bytes
) -> None:
    async with RawNode(PACKED % len(body), body) as node:
        said = await fault(ask(connect(node.url)))
    assert said == f"Malformed: {ASKED}: the answer does not match its Content-Encoding"
    assert f'canton_http_requests_total{{code="200",method="GET",reason="malformed",route="{ROUTE}"}} 1.0' in counted(
        counters
    )


@pytest.mark.parametrize("body", NOT_PACKED)
async def test_bytes_that_do_not_unpack_are_counted_all_the_same(
    connect: Connect, counters: Counters, body: bytes
) -> None:
    async with RawNode(PACKED % len(body), body) as node:
        await fault(ask(connect(node.url)))
    assert counted(counters) == after_one_request("malformed", len(body))


# What is sent


async def test_sends_the_urls_query_along_and_the_questions_own(connect: Connect, node: TestNode) -> None:
    node.get(f"/api{PATH}?key=a%2Bb%26c&twice=1&twice=2&limit=5", answers={})
    transport = connect(f"{node.url}/api?key=a%2Bb%26c&twice=1&twice=2")
    assert (await ask(transport, query={"limit": "5"})).status == 200


async def test_a_query_is_quoted(connect: Connect, node: TestNode) -> None:
    node.get(PATH + "?text=a%26b%3D%C3%BC%20%2B", answers={})
    assert (await ask(connect(node.url), query={"text": "a&b=ü +"})).status == 200


async def test_sends_the_targets_headers_and_the_token(connect: Connect, node: TestNode) -> None:
    node.get(PATH, answers={})
    await ask(connect(node.url, headers={"X-Key": "sesame"}), token="a-token")
    [request] = node.requests
    wanted = ("Accept", "Authorization", "Content-Type", "User-Agent", "X-Key")
    assert {name: request.headers.get(name) for name in wanted} == {
        "Accept": "application/json",
        "Authorization": "Bearer a-token",
        "Content-Type": None,
        "User-Agent": "canton-exporter",
        "X-Key": "sesame",
    }


async def test_sends_the_urls_user_and_password(connect: Connect, node: TestNode) -> None:
    node.get(PATH, answers={})
    await ask(connect(node.url.replace("//", "//user:pa55word@")))
    assert node.requests[0].headers["Authorization"] == "Basic dXNlcjpwYTU1d29yZA=="


async def test_sends_a_body_as_json(connect: Connect, node: TestNode, counters: Counters) -> None:
    node.post(PATH, {"a": [1]}, answers={})
    await ask(connect(node.url), method="POST", body=b'{"a":[1]}')
    assert node.requests[0].headers["Content-Type"] == "application/json"
    assert counted(counters) == after_one_request("200", 4 - 2, method="POST")


@pytest.mark.parametrize("token", [None, "a-token"])
async def test_credentials_that_nobody_configured_are_not_sent(
    connect: Connect, node: TestNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine 127.0.0.1 login somebody password else\n", encoding="ascii")
    monkeypatch.setenv("NETRC", str(file))
    node.get(PATH, answers={})
    await ask(connect(node.url), token=token)
    assert node.requests[0].headers.get("Authorization") == (token and "Bearer a-token")


async def test_redirects_are_not_followed(connect: Connect, node: TestNode, counters: Counters) -> None:
    node.get(PATH, status=302, body=b"", headers={"Location": "/elsewhere"})
    assert (await ask(connect(node.url), token="a-token")).status == 302
    assert len(node.requests) == 1
    assert counted(counters) == after_one_request("302", 0)


async def test_cookies_are_not_kept(connect: Connect, node: TestNode) -> None:
    node.get(PATH, answers={}, headers={"Set-Cookie": "session=1; Path=/"})
    transport = connect(node.url.replace("127.0.0.1", "localhost"))
    await ask(transport)
    await ask(transport)
    assert [request.headers.get("Cookie") for request in node.requests] == [None, None]


async def test_keeps_its_connection_for_the_next_question(connect: Connect, node: TestNode) -> None:
    ports = []
    node.get(PATH, answers={})
    transport = connect(node.url)
    for _ in range(2):
        await ask(transport)
        assert node.requests[-1].transport is not None
        ports.append(node.requests[-1].transport.get_extra_info("peername")[1])
    assert len(set(ports)) == 1


# What is never said


@pytest.mark.parametrize(
    "pieces", [[], [SIZED % 100], [b"nonsense\r\n\r\n"], [PACKED % 5, b"hello"]], ids=["closed", "cut", "no", "packed"]
)
async def test_no_failure_says_a_secret(connect: Connect, pieces: list[bytes]) -> None:
    async with RawNode(*pieces) as node:
        said = await fault(ask(secretly(connect, node.url), seconds=0.5))
    assert not [secret for secret in SECRETS if secret in said]


@pytest.mark.parametrize("url", ["http://nowhere.invalid", "http://127.0.0.1:1", "https://127.0.0.1:1"])
async def test_a_failure_to_connect_says_no_secret(connect: Connect, url: str) -> None:
    said = await fault(ask(secretly(connect, url)))
    assert not [secret for secret in SECRETS if secret in said]


async def test_a_timeout_says_no_secret(connect: Connect) -> None:
    async with RawNode(stays=True) as node:
        said = await fault(ask(secretly(connect, node.url), seconds=0.05))
    assert said == f"TimedOut: {ASKED}: no answer within 0.05 s"


def secretly(connect: Connect, url: str) -> Transport:
    secret = f"{url.replace('//', '//user:pa55word@')}/?apikey=sesame-in-query"
    return connect(secret, headers={"X-Key": "sesame-in-header"})


async def test_takes_out_every_secret_in_every_form_a_node_may_echo(connect: Connect, node: TestNode) -> None:
    url = f"{node.url.replace('//', '//user:pa%26s%20word@')}/?apikey=to%26ken%2Bvalue&other=plain-value"
    transport = connect(url, headers={"X-Key": "Token header-value"})
    node.get(f"{PATH}?apikey=to%26ken%2Bvalue&other=plain-value", answers={})
    await ask(transport)
    echoed = [
        node.requests[0].headers["Authorization"].split()[-1],
        "pa&s word",
        "to%26ken%2Bvalue",
        "to&ken+value",
        "plain-value",
        "Token header-value",
        "header-value",
    ]
    assert [transport.redact(f"<{secret}>") for secret in echoed] == ["<***>"] * len(echoed)


async def test_takes_out_a_password_beyond_ascii_as_it_was_sent(connect: Connect, node: TestNode) -> None:
    transport = connect(node.url.replace("//", "//user:w%C3%B6rd@"))
    node.get(PATH, answers={})
    await ask(transport)
    assert transport.redact(node.requests[0].headers["Authorization"]) == "Basic ***"


async def test_takes_a_secret_out_whole_though_another_is_a_part_of_it(connect: Connect) -> None:
    keys = {f"X-{length}": "k" * length for length in range(4, 40)}
    assert connect("http://node", headers=keys).redact(f"<{'k' * 39}>") == "<***>"


async def test_remembers_the_last_tokens_only(connect: Connect, node: TestNode) -> None:
    node.get(PATH, answers={})
    transport = connect(node.url)
    for number in range(10, 19):
        await ask(transport, token=f"token-{number}")
    assert transport.redact("token-10 token-11 token-18") == "token-10 *** ***"


async def test_no_half_of_a_secret_is_said_of_what_is_no_http(connect: Connect) -> None:
    secret = "".join(f"{number:03}-" for number in range(60))
    async with RawNode(b"nonsense about %s\r\n\r\n" % secret.encode()) as node:
        transport = connect(node.url, headers={"X-Key": secret})
        said = await fault(ask(transport))
    assert secret[:20] not in transport.redact(said)


# By way of a proxy


async def test_asks_through_the_proxy_that_the_environment_names(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, node: TestNode
) -> None:
    monkeypatch.setenv("http_proxy", node.url)
    node.answer_everything(answers={})
    assert (await ask(connect("http://nowhere.invalid"))).status == 200
    assert node.requests[0].headers["Host"] == "nowhere.invalid"


async def test_asks_without_the_proxy_where_the_environment_says_so(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, node: TestNode
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    node.get(PATH, answers={})
    assert (await ask(connect(node.url))).status == 200


async def test_a_proxy_that_nobody_reaches_is_named_without_its_password(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://user:pa55word@127.0.0.1:1")
    said = await fault(ask(connect("https://nowhere.invalid")))
    assert said == f"Unreachable: {ASKED}: no connection to 127.0.0.1:1: Connection refused"


async def test_a_node_whose_proxy_refuses_is_unreachable(
    connect: Connect, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawNode(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n") as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        said = await fault(ask(connect("https://nowhere.invalid")))
    assert said.startswith("Unreachable: ")
    assert "407" in said
    assert counted(counters) == after_one_request("unreachable", None)


# What the budget has to say


@pytest.mark.parametrize(("status", "throttled"), [(429, 1.0), (503, 0.0), (200, 0.0)])
async def test_counts_how_often_the_node_asks_for_less(
    connect: Connect, node: TestNode, counters: Counters, status: int, throttled: float
) -> None:
    node.get(PATH, status=status, body=b"ok")
    assert (await ask(connect(node.url))).status == status
    assert counted(counters) == after_one_request(str(status), 2, throttled)


@pytest.fixture
async def hasty(node: TestNode, counters: Counters) -> AsyncIterator[Callable[[Budget], Transport]]:
    """Return a function that opens a transport with a real clock and a budget that is soon spent."""
    opened = []

    def open_(budget: Budget) -> Transport:
        target = TargetConfig(kind=Kind.LEDGER, url=node.url)
        opened.append(Transport(target, partial(RateLimits().of, allowed=budget), counters, Clock()))
        return opened[-1]

    yield open_
    for transport in opened:
        await transport.close()


def budget_wait(counters: Counters) -> float:
    return value_of(counters, self_metrics.BUDGET_WAIT)


async def test_counts_how_long_the_budget_made_a_request_wait(
    hasty: Callable[[Budget], Transport], node: TestNode, counters: Counters
) -> None:
    node.get(PATH, answers={})
    transport = hasty(Budget(rate=10, burst=1))
    await ask(transport)
    assert budget_wait(counters) < 0.05
    await ask(transport)
    assert 0.05 < budget_wait(counters) < 0.5


async def test_a_question_that_passes_the_budget_by_waits_for_nothing(
    hasty: Callable[[Budget], Transport], node: TestNode, counters: Counters
) -> None:
    node.get(PATH, answers={})
    transport = hasty(Budget(rate=0.01, burst=1))
    for _ in range(3):
        await ask(transport, share=Share.NONE)
    assert budget_wait(counters) < 0.05


async def test_time_spent_waiting_for_the_budget_is_taken_from_the_request(
    counters: Counters, hasty: Callable[[Budget], Transport], node: TestNode
) -> None:
    node.get(PATH, answers={})
    transport = hasty(Budget(rate=10, burst=1))
    await ask(transport)
    node.silent = True
    said = await fault(ask(transport, seconds=0.15))
    limit = float(said.removeprefix(f"TimedOut: {ASKED}: no answer within ").removesuffix(" s"))
    assert limit < 0.1


async def test_a_wait_that_was_given_up_is_counted_too(
    hasty: Callable[[Budget], Transport], node: TestNode, counters: Counters
) -> None:
    node.get(PATH, answers={})
    transport = hasty(Budget(rate=0.01, burst=1))
    await ask(transport)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await ask(transport)
    assert 0.05 < budget_wait(counters) < 0.5


async def test_a_budget_without_room_in_time_is_told_from_a_silent_node(
    hasty: Callable[[Budget], Transport], node: TestNode, counters: Counters
) -> None:
    node.get(PATH, answers={})
    transport = hasty(Budget(rate=0.01, burst=1))
    await ask(transport)
    said = await fault(ask(transport, seconds=0.1))
    assert said == f"NoBudget: {ASKED}: our rate limit for this host allowed no request for 0.1 s (setting budget)"
    assert 0.05 < budget_wait(counters) < 0.5
    assert len(node.requests) == 1
    assert value_of(counters, self_metrics.REQUESTS) == 1


# What is our own fault


async def test_having_no_file_left_says_nothing_of_the_node(connect: Connect, counters: Counters) -> None:
    transport = connect("http://127.0.0.1:1")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            await ask(transport)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert counted(counters) == after_one_request("bug", None)


async def test_takes_out_a_secret_with_the_escapes_that_some_write_into_json(connect: Connect) -> None:
    redact = connect("http://node", headers={"X-Key": "AKIA/secret+KEY=="}).redact
    for echoed in (r"AKIA\/secret+KEY==", r"AKIA/secret\u002bKEY\u003d\u003d"):
        assert redact(f"<{echoed}>") == "<***>"
        assert redact.body(f'"{echoed}"'.encode(), is_answer=True) == b'"***"'


async def test_a_status_that_nobody_knows_is_counted_as_another(
    connect: Connect, node: TestNode, counters: Counters
) -> None:
    for status in (299, 418, 599, 999):
        node.answer_everything(status=status, body=b"")
        await ask(connect(node.url))
    codes = {sample.labels[2]: sample.value for sample in counters.samples() if sample.metric is self_metrics.REQUESTS}
    assert codes == {"other": 3.0, "418": 1.0}
