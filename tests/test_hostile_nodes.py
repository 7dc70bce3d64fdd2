"""Eight scans that mean no good: whatever they answer, memory stays bounded and no callback holds up the loop."""

import asyncio
import gzip
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from typing import Any

import pytest

SIZE = 8 * 2**20 - 2**17
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
GOOD = {
    "/v0/migrations/last": b'{"migration_id": 1}',
    "/v0/state/acs/snapshot-timestamp": b'{"record_time": "2026-08-01T12:00:00Z"}',
}
BEGIN = b'{"created_events": ['


def sized(body: bytes, head: bytes = HEAD) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


@cache
def bomb(begin: bytes) -> bytes:
    return gzip.compress(begin + b" " * (128 * 2**20), 9)


def held_open() -> Iterator[bytes]:
    yield HEAD + b"Content-Length: %d\r\n\r\n" % (SIZE + 1)
    yield from itertools.repeat(b" " * 2**16, SIZE // 2**16)


def crumbs() -> Iterator[bytes]:
    yield CHUNKED
    yield from itertools.repeat(b"1\r\n \r\n" * 5_000)


def interim() -> Iterator[bytes]:
    yield from itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000)


def packed() -> Iterator[bytes]:
    yield sized(bomb(BEGIN), HEAD + b"Content-Encoding: gzip\r\n")


def packed_error() -> Iterator[bytes]:
    yield sized(bomb(b'{"error": "'), b"HTTP/1.1 500 Oh\r\nContent-Encoding: gzip\r\n")


def html() -> Iterator[bytes]:
    yield sized(b"<!doctype html>" + b"<p>An error." * 2_500_000)


def many_values() -> Iterator[bytes]:
    yield sized(BEGIN + b'{"template_id":"a"},' * (SIZE // 20) + b'{"template_id":"a"}]}')


def as_many_values_as_may_be() -> Iterator[bytes]:
    yield sized(BEGIN + b'{"template_id":"a:b:c"},' * 124_000 + b'{"template_id":"a:b:c"}]}')


def endless_pages() -> Iterator[bytes]:
    yield sized(b'{"created_events": [], "next_page_token": %d}' % next(TOKENS))


TOKENS = itertools.count(1)


@asynccontextmanager
async def hostile(answer: Callable[[], Iterable[bytes]]) -> AsyncIterator[str]:
    """Listen as a scan that has a snapshot, and answers all else in its own way; it never hangs up by itself."""
    tasks: set[asyncio.Task[Any]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = head.partition("content-length: ")[2].partition("\r\n")[0]
                await reader.readexactly(int(length or 0))
                path = head.split()[1].partition("?")[0]
                for piece in [sized(GOOD[path])] if path in GOOD else answer():
                    writer.write(piece)
                    await writer.drain()
        writer.transport.abort()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(converse(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def watched(answer: Callable[[], Iterable[bytes]], seconds: float) -> dict[str, Any]:
    """Return what it took another process to watch eight such scans."""
    async with hostile(answer) as url:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.hostile", url, str(seconds), stdout=asyncio.subprocess.PIPE, env=os.environ
        )
        output, _ = await child.communicate()
    assert child.returncode == 0
    took: dict[str, Any] = json.loads(output.splitlines()[-1])
    return took


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [held_open, crumbs, interim, packed, packed_error, html, many_values, as_many_values_as_may_be, endless_pages],
)
async def test_eight_hostile_scans_take_neither_the_memory_nor_the_loop(answer: Callable[[], Iterable[bytes]]) -> None:
    took = await watched(answer, 3)
    assert took["peak_mb"] < 256, took
    assert took["callback_ms"] < 100, took
