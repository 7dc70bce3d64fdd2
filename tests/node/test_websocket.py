"""An answer that comes by a websocket: its elements, every way in which it is not whole, and what is counted."""

import asyncio
import itertools
import ssl
from contextlib import aclosing
from typing import Any

import aiohttp
import pytest
import trustme

from exporter.clock import Clock
from exporter.errors import (
    Failed,
    Limited,
    Malformed,
    NoEntry,
    NotHttp,
    OutOfTime,
    Refused,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unreachable,
    Unsupported,
)
from exporter.exposition.text import render
from exporter.metrics.counters import Counters
from exporter.node.auth import StaticToken, Token
from exporter.node.client import Node
from exporter.node.decoding import Struct
from tests.conftest import Asking
from tests.nodes import RawNode, TestNode, server_tls
from tests.sockets import BINARY, CLOSE, PING, closed, frame, message, socket_node

PATH = "/v2/things"
ASKED = f"GET {PATH}"
BODY = {"activeAtOffset": 41}
BROKE = f"{ASKED}: the connection closed before the end of the answer"
CLOSED = f"{ASKED}: the websocket was closed before the end of the answer, with code"
SHUT = "no websocket was opened, which a proxy on the way may not let through"


class Thing(Struct):
    count: int


async def read_all(node: Node) -> list[int]:
    async with aclosing(node.stream(PATH, Thing, BODY)) as things:
        return [thing.count async for thing in things]


async def fault(node: Node) -> tuple[type[BaseException], str]:
    with pytest.raises((Failed, Unsupported)) as caught:
        await read_all(node)
    return type(caught.value), str(caught.value)


def counted(counters: Counters) -> list[str]:
    """Return the counters as the page shows them, without the seconds."""
    lines = sorted("".join(render(counters.samples(), {}).values()).splitlines())
    return [line for line in lines if "_seconds" not in line and "throttled" not in line]


def things(*counts: int) -> list[bytes]:
    return [message({"count": count, "more": None}) for count in counts]


# What is whole


async def test_gives_an_element_a_message_until_the_node_closes(asking: Asking, counters: Counters) -> None:
    async with socket_node(*things(1, 2, 3), closed()) as node:
        asked = asking(node.url)
        assert await read_all(asked) == [1, 2, 3]
        assert node.asked == [b'{"activeAtOffset":41}']
    assert [(request.method, request.path, request.outcome) for request in asked.requests] == [("GET", PATH, "101")]
    assert counted(counters) == [
        f'canton_http_requests_total{{code="101",method="GET",reason="",route="{PATH}"}} 1.0',
        f'canton_http_response_bytes_total{{route="{PATH}"}} {len(b"""{"count": 1, "more": null}""") * 3}.0',
    ]


async def test_none_at_all_is_whole_too(asking: Asking) -> None:
    async with socket_node(closed()) as node:
        assert await read_all(asking(node.url)) == []


async def test_a_message_may_come_in_parts_as_bytes_and_after_a_ping(asking: Asking) -> None:
    parts = [frame(b'{"cou', is_last=False), frame(b"still there?", PING), frame(b'nt": 1}', 0)]
    async with socket_node(*parts, frame(b'{"count": 2}', BINARY), closed()) as node:
        assert await read_all(asking(node.url)) == [1, 2]


async def test_opens_with_the_token_headers_and_query_of_all_requests(asking: Asking) -> None:
    async with socket_node(closed()) as node:
        url = f"{node.url}/api?key=sesame-in-query"
        assert await read_all(asking(url, StaticToken("toktoktok"), headers={"X-Key": "sesame-in-header"})) == []
        [head] = node.heads
    assert head.startswith("GET /api/v2/things?key=sesame-in-query HTTP/1.1\r\n")
    for line in ("Authorization: Bearer toktoktok", "X-Key: sesame-in-header", "Sec-WebSocket-Protocol: daml.ws.auth"):
        assert f"\r\n{line}\r\n" in head
    assert "Content-Type" not in head
    assert "Extensions" not in head, "what is packed could be larger than it looks"


async def test_under_tls_the_certificate_has_to_be_trusted(
    asking: Asking, node: TestNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    await node.stop()
    await node.start(server_tls(authority.issue_cert("127.0.0.1")))
    node.socket(PATH, BODY, {"count": 7})
    kind, said = await fault(asking(node.url))
    assert kind is Unreachable
    assert "is not trusted" in said
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    monkeypatch.setattr("exporter.node.connector.tls_context", lambda: trusting)
    assert await read_all(asking(node.url)) == [7]


# What is not whole


@pytest.mark.parametrize(
    ("pieces", "kind", "said"),
    [
        pytest.param([], Unreachable, BROKE, id="hung up at once"),
        pytest.param(things(1, 2), Unreachable, BROKE, id="hung up"),
        pytest.param([*things(1), message({"count": 2})[:-3]], Unreachable, BROKE, id="hung up in a message"),
        pytest.param([*things(1), closed()[:3]], Unreachable, BROKE, id="hung up in a close"),
        pytest.param(
            [*things(1), closed(1011)],
            Unreachable,
            f"{CLOSED} 1011",
            id="closed by a fault",
        ),
        pytest.param([*things(1), closed(1001)], Unreachable, f"{CLOSED} 1001", id="going away"),
        pytest.param(
            [*things(1), closed(None)],
            Unreachable,
            f"{CLOSED} 0",
            id="closed with no code",
        ),
        pytest.param([*things(1), frame(b"\x03", CLOSE)], Malformed, "", id="half a code"),
        pytest.param([*things(1), frame(b"\xff\xfe")], Malformed, "", id="no text"),
        pytest.param(
            [*things(1), frame(b"{}", reserved=0x40)],
            *((Unreachable, BROKE) if aiohttp.__version__ == "3.14.1" else (Malformed, "")),  # where it hangs up itself
            id="packed, which nobody agreed on",
        ),
        pytest.param([*things(1), frame(b"{}", 5)], Malformed, "", id="no such frame"),
        pytest.param([frame(b'{"cou', is_last=False), *things(1)], Malformed, "", id="one message in another"),
        pytest.param([b"HTTP/1.1 200 OK\r\n\r\n"], Malformed, "", id="no websocket"),
    ],
)
async def test_what_breaks_off_is_never_whole(
    asking: Asking, counters: Counters, pieces: list[bytes], kind: type[Failed], said: str
) -> None:
    async with socket_node(*pieces) as node:
        assert await fault(asking(node.url)) == (kind, said or f"{ASKED}: the answer is not a websocket's")
    assert (
        f'canton_http_requests_total{{code="101",method="GET",reason="{kind.reason}",route="{PATH}"}} 1.0'
        in counted(counters)
    )


@pytest.mark.parametrize(
    "content", [b"", b"no json", b"[" * 9_000, b"null", b'{"count": "one"}', b"{}", b'"a"'], ids=str
)
async def test_a_message_that_makes_no_sense_is_malformed(asking: Asking, content: bytes) -> None:
    async with socket_node(*things(1), frame(content), closed()) as node:
        kind, said = await fault(asking(node.url))
    assert kind is Malformed
    assert said.startswith(f"{ASKED}: not the documented answer: ")
    assert len(said) < 400


@pytest.mark.parametrize("is_endless", [False, True])
async def test_a_message_may_be_only_so_large(
    asking: Asking, monkeypatch: pytest.MonkeyPatch, is_endless: bool
) -> None:
    monkeypatch.setattr("exporter.limits.PAGE_BYTES", 2**20)
    pieces = [frame(b"a" * 2**16, is_last=False)] if is_endless else [frame(b"a" * 2**21)]
    endless = itertools.repeat(frame(b"a" * 2**16, 0, is_last=False)) if is_endless else ()
    async with socket_node(*pieces, endless=endless) as node:
        assert await fault(asking(node.url)) == (
            TooLarge,
            f"{ASKED}: a message of more than 1 MiB; no contract needs as much",
        )
        assert node.sent < 16 * 2**20


# Time


async def test_an_endless_answer_ends_with_the_run(asking: Asking) -> None:
    async with socket_node(endless=itertools.repeat(message({"count": 1}) * 1000)) as node:
        said = f"{ASKED}: the run had no time left for the rest of the answer"
        assert await fault(asking(node.url, seconds=0.3)) == (TimedOut, said)
        await asyncio.wait_for(node.ended.wait(), 5)


async def test_a_node_that_falls_silent_is_not_waited_for(asking: Asking, counters: Counters) -> None:
    async with socket_node(*things(1), stays=True) as node:
        said = f"{ASKED}: no further message within 0.1 s"
        assert await fault(asking(node.url, timeout="100ms")) == (TimedOut, said)
        await asyncio.wait_for(node.ended.wait(), 5)
    assert f'canton_http_requests_total{{code="101",method="GET",reason="timeout",route="{PATH}"}} 1.0' in counted(
        counters
    )


async def test_pings_are_no_messages(asking: Asking) -> None:
    async with socket_node(endless=itertools.repeat(frame(b"?", PING) * 1000)) as node:
        kind, said = await fault(asking(node.url, timeout="100ms"))
        assert (kind, said) == (TimedOut, f"{ASKED}: no further message within 0.1 s")
        await asyncio.wait_for(node.ended.wait(), 5)


async def test_a_node_that_opens_no_websocket_is_not_waited_for(asking: Asking) -> None:
    async with socket_node(stays=True, head=b"HTTP/1.1 101 Switching") as node:
        assert await fault(asking(node.url, timeout="100ms")) == (TimedOut, f"{ASKED}: no answer within 0.1 s")


async def test_an_error_that_never_ends_is_not_waited_for(asking: Asking) -> None:
    head = b"HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nabc"
    async with socket_node(stays=True, head=head) as node:
        assert await fault(asking(node.url, timeout="100ms")) == (TimedOut, f"{ASKED}: no answer within 0.1 s")


async def test_who_has_heard_enough_hangs_up(asking: Asking, counters: Counters) -> None:
    async with socket_node(endless=itertools.repeat(message({"count": 1}) * 1000)) as node:
        async with aclosing(asking(node.url).stream(PATH, Thing, BODY)) as stream:
            assert (await anext(stream)).count == 1
        await asyncio.wait_for(node.ended.wait(), 5)
    assert f'canton_http_requests_total{{code="101",method="GET",reason="cancelled",route="{PATH}"}} 1.0' in counted(
        counters
    )


async def test_no_time_left_is_no_request(asking: Asking, clock: Clock) -> None:
    async with socket_node(closed()) as node:
        assert await fault(asking(node.url, seconds=0)) == (OutOfTime, f"{ASKED}: the run had no time left for it")
        assert not node.heads


async def test_waits_for_its_turn_once_however_much_comes(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = []

    async def take(self: object, share: object) -> None:
        turns.append(share)

    monkeypatch.setattr("exporter.node.rate_limit.RateLimit.take", take)
    async with socket_node(*things(*range(50)), closed()) as node:
        assert len(await read_all(asking(node.url))) == 50
    assert len(turns) == 1


# Errors of the node


def error(grpc: int | None, code: str = "SOME_CODE", cause: str = "it is so", **more: Any) -> dict[str, Any]:
    return {"code": code, "cause": cause, "context": {}, "errorCategory": 8, "grpcCodeValue": grpc, **more}


@pytest.mark.parametrize(
    ("grpc", "kind", "status"),
    [
        (16, Unauthorized, 401),
        (7, Unauthorized, 403),
        (3, Refused, 400),
        (9, Refused, 400),
        (8, Limited, 429),
        (14, Refused, 503),
        (4, Refused, 504),
        (13, Refused, 500),
        (2, Refused, 500),
        (None, Refused, 500),
        (99, Refused, 500),
        (12, Unsupported, 501),
        (5, NoEntry, 404),
    ],
)
async def test_an_error_that_comes_as_a_message_is_what_it_is_elsewhere(
    asking: Asking, grpc: int | None, kind: type[Exception], status: int
) -> None:
    async with socket_node(message(error(grpc)), closed()) as node:
        assert await fault(asking(node.url)) == (kind, f"{ASKED}: {status} SOME_CODE: it is so")


async def test_an_error_after_elements_is_no_smaller_answer_and_no_lack(asking: Asking) -> None:
    async with socket_node(*things(1, 2), message(error(12)), closed()) as node:
        assert await fault(asking(node.url)) == (Refused, f"{ASKED}: 501 SOME_CODE: it is so, after 2 elements")
    async with socket_node(*things(1, 2), message(error(9, "PARTICIPANT_PRUNED_DATA_ACCESSED")), closed()) as node:
        said = f"{ASKED}: 400 PARTICIPANT_PRUNED_DATA_ACCESSED: it is so"
        assert await fault(asking(node.url)) == (Refused, said)


async def test_an_operation_that_is_switched_off_says_so_in_a_message(asking: Asking) -> None:
    async with socket_node(message(error(9, "DEPRECATED_API_DISABLED", "off")), closed()) as node:
        assert await fault(asking(node.url)) == (Unsupported, f"{ASKED}: 400 DEPRECATED_API_DISABLED: off")


async def test_a_long_error_is_cut_and_one_that_is_half_an_error_is_malformed(asking: Asking) -> None:
    async with socket_node(message(error(3, "A" * 9_000, "b\n" * 9_000)), closed()) as node:
        kind, said = await fault(asking(node.url))
        assert kind is Refused
        assert len(said) < 500
        assert "\n" not in said
    async with socket_node(message({"code": "A", "context": {}}), closed()) as node:
        assert (await fault(asking(node.url)))[0] is Malformed


async def test_what_a_node_echoes_of_our_secrets_is_not_passed_on(asking: Asking) -> None:
    secrets = ("toktoktoktoktoktok", "sesame-in-query", "sesame-in-header")
    async with socket_node(message(error(3, cause=" ".join(secrets))), closed()) as node:
        url = f"{node.url}?key=sesame-in-query"
        asked = asking(url, StaticToken(secrets[0]), headers={"X-Key": "sesame-in-header"})
        _, said = await fault(asked)
        assert "SOME_CODE: *** *** ***" in asked._transport.redact(said)  # as the runner does with every error
        assert not any(secret in asked._transport.redact(said) for secret in secrets)


# What opens no websocket


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        ({"status": 401, "body": b"no"}, Unauthorized, "401: no"),
        (
            {"status": 403, "answers": {"code": "NA", "cause": "A security error"}},
            Unauthorized,
            "403 NA: A security error",
        ),
        ({"status": 404, "body": b"The requested resource"}, Unsupported, "404: The requested resource"),
        ({"status": 405, "body": b""}, Unsupported, "405"),
        ({"status": 501, "body": b""}, Unsupported, "501"),
        ({"status": 400, "body": b"Expected WebSocket Upgrade request"}, Unsupported, f"400: {SHUT}"),
        ({"status": 426, "body": b""}, Unsupported, f"426: {SHUT}"),
        ({"status": 200, "body": b"[]"}, Unsupported, f"200: {SHUT}"),
        (
            {"status": 406, "body": b"no"},
            Refused,
            "406: no: it has no answer of the type that the request's header Accept asked for, application/json",
        ),
        ({"status": 500, "body": b""}, Refused, "500"),
        ({"status": 503, "body": b"no healthy upstream"}, Refused, "503: no healthy upstream"),
        ({"status": 429, "body": b"slower"}, Limited, "429: slower"),
        ({"status": 502, "body": b"<html>"}, Refused, "502 and an HTML page: is this the API's address?"),
    ],
    ids=str,
)
async def test_another_answer_than_a_websocket_is_what_it_is_elsewhere(
    asking: Asking, node: TestNode, counters: Counters, answer: dict[str, Any], kind: type[Exception], said: str
) -> None:
    node.answer_everything(**answer)
    assert await fault(asking(node.url)) == (kind, f"{ASKED}: {said}")
    assert (
        f'canton_http_requests_total{{code="{answer["status"]}",method="GET",reason="",route="{PATH}"}} 1.0'
        in counted(counters)
    )


async def test_a_redirect_is_not_followed(asking: Asking, node: TestNode) -> None:
    async with socket_node(closed()) as elsewhere:
        node.answer_everything(status=307, body=b"", headers={"Location": f"{elsewhere.url}/v2/things"})
        said = "307: redirects are not followed; configure the address it leads to"
        assert await fault(asking(node.url, StaticToken("toktoktok"))) == (Refused, f"{ASKED}: {said}")
        assert not elsewhere.heads


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: abc", "Invalid challenge response"),
        (b"Upgrade: h2c\r\nConnection: Upgrade", "Invalid upgrade header"),
        (b"Connection: close", "Invalid upgrade header"),
    ],
)
async def test_an_opening_that_is_none_is_malformed(asking: Asking, head: bytes, what: str) -> None:
    async with socket_node(head=b"HTTP/1.1 101 Switching Protocols\r\n" + head + b"\r\n\r\n") as node:
        assert await fault(asking(node.url)) == (Malformed, f"{ASKED}: the answer opens no websocket: {what}")


async def test_what_is_no_http_or_not_there_is_told_as_of_any_request(asking: Asking) -> None:
    async with RawNode() as raw:
        assert (await fault(asking(raw.url)))[0] is Unreachable
    async with RawNode(b"SSH-2.0-OpenSSH_9.6\r\n") as raw:
        assert (await fault(asking(raw.url)))[0] is NotHttp
    kind, said = await fault(asking("http://nowhere.invalid"))
    assert (kind, said) == (Unreachable, f"{ASKED}: the name nowhere.invalid does not resolve")


# Tokens


@pytest.fixture
def choosy(node: TestNode) -> TestNode:
    """A node that takes one token only."""
    node.socket(PATH, BODY, {"count": 1}, token="renewed")
    node.lenient = True
    return node


async def test_a_token_that_was_renewed_meanwhile_opens_it_at_the_second_time(asking: Asking, choosy: TestNode) -> None:
    class Renewed(StaticToken):
        def __init__(self) -> None:
            super().__init__("outdated")

        def reject(self, token: Token) -> None:
            super().__init__("renewed")

    asked = asking(choosy.url, Renewed())
    assert await read_all(asked) == [1]
    assert [request.outcome for request in asked.requests] == ["401", "101"]


async def test_a_token_that_stays_the_same_is_not_tried_again(asking: Asking, choosy: TestNode) -> None:
    asked = asking(choosy.url, StaticToken("outdated"))
    assert (await fault(asked))[0] is Unauthorized
    assert [request.outcome for request in asked.requests] == ["401"]
