"""A node that opens a websocket for whoever asks, and then sends exactly what it was given."""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9


def frame(data: bytes, kind: int = TEXT, *, is_last: bool = True, reserved: int = 0) -> bytes:
    """Return a frame as a server sends it: not masked."""
    head = bytes([(0x80 if is_last else 0) | reserved | kind])
    if len(data) < 126:
        return head + bytes([len(data)]) + data
    if len(data) < 2**16:
        return head + bytes([126]) + len(data).to_bytes(2, "big") + data
    return head + bytes([127]) + len(data).to_bytes(8, "big") + data


def message(content: object) -> bytes:
    return frame(json.dumps(content).encode())


def closed(code: int | None = 1000) -> bytes:
    return frame(b"" if code is None else code.to_bytes(2, "big"), CLOSE)


@dataclass
class SocketNode:
    """What it was asked, and where it is."""

    url: str = ""
    heads: list[str] = field(default_factory=list)
    """The requests' lines and headers."""
    asked: list[bytes] = field(default_factory=list)
    """The first message of each websocket."""
    sent: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a connection has ended."""


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """Return what is in a client's frame, which is masked."""
    _, size = await reader.readexactly(2)
    length = size & 0x7F
    if length >= 126:
        length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8), "big")
    mask, data = await reader.readexactly(4), await reader.readexactly(length)
    return bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))


@asynccontextmanager
async def socket_node(
    *pieces: bytes, endless: Iterable[bytes] = (), stays: bool = False, head: bytes | None = None
) -> AsyncIterator[SocketNode]:
    """Run a node that sends pieces and hangs up, or stays. `head` is said in place of the opening."""
    node, writers, tasks = SocketNode(), [], []

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).decode()
        node.heads.append(asked)
        key = next(line.split(": ")[1] for line in asked.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1(key.encode() + GUID).digest())  # noqa: S324 - the protocol's own
        opening = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        writer.write(opening + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n" if head is None else head)
        if head is None:
            node.asked.append(await read_frame(reader))
        for piece in chain(pieces, endless):
            if writer.is_closing():
                return
            writer.write(piece)
            await writer.drain()
            node.sent += len(piece)
        if stays:
            await reader.read()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            tasks.append(task)
        writers.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await converse(reader, writer)
        writer.close()
        node.ended.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    node.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield node
    server.close()
    for writer in writers:
        writer.transport.abort()
    await asyncio.gather(*tasks)
    await server.wait_closed()
