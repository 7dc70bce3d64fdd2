"""What is read of an answer's body: no more than is allowed, unpacked, whole, and not too much of all together."""

import asyncio
import gzip
import itertools
import json
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trustme

from exporter import limits
from exporter.collector import Struct
from exporter.errors import Failed
from exporter.node.body import Body, BodyMemory
from exporter.node.client import Node
from exporter.node.transport import Transport
from tests.conftest import Connect
from tests.nodes import RawNode, TestNode, server_tls

PATH = "/v2/things"
ASKED = f"GET {PATH}"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Asking = Callable[..., Node]


class Thing(Struct):
    text: str = ""


class Page(Struct):
    things: tuple[Thing, ...]
    next_page_token: str | None = None


async def fault(asked: Awaitable[Any]) -> str:
    with pytest.raises(Failed) as caught:
        await asked
    return f"{caught.value.reason}: {caught.value}"


async def pages(node: Node) -> list[Page]:
    return [page async for page in node.listed(PATH, Page, lambda mark: {})]


def sized(body: bytes, encoding: bytes = b"") -> bytes:
    packed = b"Content-Encoding: " + encoding + b"\r\n" if encoding else b""
    return OK + packed + b"Content-Length: %d\r\n\r\n" % len(body) + body


# How large


async def test_an_answer_may_have_256_kib_unless_its_collector_names_another_limit(
    asking: Asking, node: TestNode
) -> None:
    node.get(PATH, answers={"text": "x" * 200_000})
    assert len((await asking(node.url).get(PATH, Thing)).text) == 200_000
    node.get(PATH, answers={"text": "x" * 300_000})
    said = await fault(asking(node.url).get(PATH, Thing))
    limit = "the answer is larger than 256 KiB; this limit has no setting, as no node needs more"
    assert said == f"too_large: {ASKED}: {limit}"
    assert len((await asking(node.url).get(PATH, Thing, most_bytes=2**20)).text) == 300_000


async def test_a_result_page_may_have_8_mib(asking: Asking, node: TestNode) -> None:
    node.get(PATH, answers={"things": [{"text": "x" * 2_000}] * 1_000})
    assert len((await pages(asking(node.url)))[0].things) == 1_000
    node.get(PATH, answers={"things": [{"text": "x" * 2_000}] * 4_300})
    said = await fault(pages(asking(node.url)))
    assert said == f"too_large: {ASKED}: a result page of more than 8 MiB; lower the option page_size, if there is one"


async def test_a_page_of_more_values_than_any_has_is_not_walked(asking: Asking, node: TestNode) -> None:
    node.get(PATH, body=b'{"things": [' + b"{}," * (limits.PAGE_VALUES // 2) + b"{}]}")
    said = await fault(pages(asking(node.url)))
    assert said == f"too_large: {ASKED}: the answer has more than 250,000 values; ask for less"


async def test_a_page_of_a_thousand_contracts_is_far_from_the_limits(asking: Asking, node: TestNode) -> None:
    contract = {"text": "x", "payload": {f"field{number}": str(number) for number in range(100)}, "blob": "y" * 500}
    body = json.dumps({"things": [contract] * 1_000}).encode()
    assert 2_000_000 < len(body) < limits.PAGE_BYTES / 2
    node.get(PATH, body=body)
    assert len((await pages(asking(node.url)))[0].things) == 1_000


@pytest.mark.parametrize("status", [500, 404, 302])
async def test_of_an_error_the_beginning_is_read(asking: Asking, status: int) -> None:
    head = b"HTTP/1.1 %d Oh\r\nContent-Length: %d\r\n\r\nno such thing" % (status, 2**40)
    async with RawNode(head, endless=itertools.repeat(b" never ends" * 6_000)) as node:
        said = await fault(asking(node.url).get(PATH, Thing)) if status != 404 else ""
        if not said:
            assert await asking(node.url).or_none(lambda: asking(node.url).get(PATH, Thing)) is None
        assert node.sent < 32 * 2**20  # what the operating system takes on the way
    assert status != 500 or said.startswith(f"refused: {ASKED}: 500: no such thing never ends")
    assert len(said) < 400


async def test_a_packed_error_is_unpacked_no_further_than_it_is_read(asking: Asking, node: TestNode) -> None:
    bomb = gzip.compress(b'{"error": "' + bytes(64 * 2**20), 9)
    node.get(PATH, status=500, body=bomb, headers={"Content-Encoding": "gzip"})
    asked = asking(node.url)
    tracemalloc.start()
    try:
        said = await fault(asked.get(PATH, Thing))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert said.startswith(f"refused: {ASKED}: 500")
    assert len(said) < 400
    assert peak < 4 * 2**20


@pytest.mark.parametrize("content_type", ["text/html", "application/json"])
async def test_a_large_html_page_is_still_seen_as_one(asking: Asking, node: TestNode, content_type: str) -> None:
    page = b"<!doctype html>" + b"<p>An error." * 3_000_000
    node.get(PATH, body=page, headers={"Content-Type": content_type})
    said = await fault(asking(node.url).get(PATH, Thing))
    assert said == f"refused: {ASKED}: 200 and an HTML page: is this the API's address?"


# Packed


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b'{"text": "all"}', mtime=0)),
        ("GZIP", gzip.compress(b'{"text": "all"}', mtime=0)),
        ("deflate", zlib.compress(b'{"text": "all"}')),
        ("deflate", zlib.compress(b'{"text": "all"}')[2:-4]),
        ("identity", b'{"text": "all"}'),
    ],
)
async def test_unpacks_what_it_asks_for(asking: Asking, encoding: str, packed: bytes) -> None:
    async with RawNode(sized(packed, encoding.encode())) as node:
        assert (await asking(node.url).get(PATH, Thing)).text == "all"


async def test_what_it_did_not_ask_for_is_malformed(asking: Asking) -> None:
    async with RawNode(sized(b"packed", b"br")) as node:
        said = await fault(asking(node.url).get(PATH, Thing))
    assert said == f"malformed: {ASKED}: the answer's Content-Encoding is 'br', where gzip, deflate was asked for"


@pytest.mark.parametrize("missing", [1, 8, 12])
@pytest.mark.parametrize(("encoding", "pack"), [(b"gzip", gzip.compress), (b"deflate", zlib.compress)])
async def test_a_packed_answer_without_its_end_is_not_whole(
    asking: Asking, encoding: bytes, pack: Callable[[bytes], bytes], missing: int
) -> None:
    async with RawNode(sized(pack(b'{"text": "all"}')[:-missing], encoding)) as node:
        said = await fault(asking(node.url).get(PATH, Thing))
    assert said == f"unreachable: {ASKED}: the answer is packed, and breaks off before its end"


# Without a length


async def serve(head: bytes, *, cut: bool, authority: trustme.CA) -> tuple[asyncio.Server, str]:
    """Listen under TLS, and end each answer by closing TLS, or only by closing the connection."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        await writer.drain()
        if cut:
            writer.transport.abort()
        else:
            writer.close()

    tls = server_tls(authority.issue_cert("127.0.0.1"))
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    return server, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_an_answer_that_tls_ends_is_whole(asking: Asking, authority: trustme.CA) -> None:
    server, url = await serve(OK + b'\r\n{"text": "all"}', cut=False, authority=authority)
    assert (await asking(url).get(PATH, Thing)).text == "all"
    server.close()


async def test_an_answer_that_was_cut_before_tls_ended_is_not(asking: Asking, authority: trustme.CA) -> None:
    server, url = await serve(OK + b'\r\n{"text": "all"}', cut=True, authority=authority)
    said = await fault(asking(url).get(PATH, Thing))
    assert said == f"unreachable: {ASKED}: the connection closed before the end of the answer"
    server.close()


async def test_without_tls_it_ends_with_the_connection(asking: Asking) -> None:
    async with RawNode(OK + b'\r\n{"text": "all"}') as node:
        assert (await asking(node.url).get(PATH, Thing)).text == "all"


# Interim answers


async def test_an_interim_answer_is_passed_over(asking: Asking) -> None:
    async with RawNode(b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + sized(b'{"text": "all"}')) as node:
        assert (await asking(node.url).get(PATH, Thing)).text == "all"


async def test_a_flood_of_interim_answers_is_not_read_on(asking: Asking) -> None:
    flood = itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000)
    async with RawNode(endless=flood) as node:
        said = await fault(asking(node.url).get(PATH, Thing))
        assert node.sent < 32 * 2**20  # what the operating system takes on the way
    assert said == f"malformed: {ASKED}: the answer is not HTTP: more than 16 interim answers (1xx)"


async def test_an_answer_in_chunks_of_one_byte_is_not_read_on(asking: Asking) -> None:
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    async with RawNode(head, endless=itertools.repeat(b"1\r\n \r\n" * 5_000)) as node:
        said = await fault(asking(node.url).get(PATH, Thing))
    assert said == f"malformed: {ASKED}: the answer comes in chunks of a few bytes"


@pytest.mark.parametrize(("chunk", "size"), [(1, 10_000), (64, 200_000), (2**16, 200_000)])
async def test_a_few_small_chunks_and_many_larger_ones_are_no_matter(asking: Asking, chunk: int, size: int) -> None:
    body = json.dumps({"text": "x" * size}).encode()
    pieces = [body[start : start + chunk] for start in range(0, len(body), chunk)]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    async with RawNode(OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n") as node:
        assert len((await asking(node.url).get(PATH, Thing)).text) == size


# All together


def test_the_largest_body_makes_room_and_not_the_one_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporter.limits.BODIES_BYTES", 100)
    memory, dropped = BodyMemory(), []
    with (
        memory.body(lambda: dropped.append("large")) as large,
        memory.body(lambda: dropped.append("small")) as small,
    ):
        memory.add(large, b"x" * 60)
        memory.add(small, b"x" * 40)
        assert (memory.held, dropped) == (100, [])
        memory.add(small, b"x")
        assert (memory.held, dropped, large.is_dropped, small.is_dropped) == (41, ["large"], True, False)
        memory.add(large, b"what still came")
        assert memory.held == 41
    assert memory.held == 0


def test_of_two_as_large_it_is_not_the_one_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporter.limits.BODIES_BYTES", 100)
    memory = BodyMemory()
    with memory.body(lambda: None) as first, memory.body(lambda: None) as second:
        memory.add(first, b"x" * 51)
        memory.add(second, b"x" * 51)
        assert (first.is_dropped, second.is_dropped) == (True, False)


async def test_who_holds_an_answer_open_fails_when_others_need_the_room(
    connect: Connect, asking: Asking, node: TestNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.limits.BODIES_BYTES", 150_000)
    memory = Watched()
    node.get(PATH, answers={"text": "x" * 60_000})
    async with RawNode(OK + b"Content-Length: 200000\r\n\r\n" + b" " * 100_000, stays=True) as holder:
        holding, good = asking(holder.url), asking(node.url)
        share(memory, holding, good)
        failing = asyncio.create_task(fault(holding.get(PATH, Thing)))
        await asyncio.wait_for(memory.is_filled.wait(), 5)
        assert len((await good.get(PATH, Thing)).text) == 60_000
        said = await failing
    assert said.startswith(f"too_large: {ASKED}: all nodes' answers together were larger than ")
    assert memory.held == 0


class Watched(BodyMemory):
    """Shows when there are as many bytes as the one who holds them open has sent."""

    def __init__(self) -> None:
        super().__init__()
        self.is_filled = asyncio.Event()

    def add(self, body: Body, piece: bytes) -> None:
        super().add(body, piece)
        if self.held >= 100_000:
            self.is_filled.set()


def share(memory: BodyMemory, *nodes: Node) -> None:
    for node in nodes:
        transport: Transport = node._transport
        transport._bodies = memory
