"""One websocket: the request is its first message, and the answer all that follow until the node closes it."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import aiohttp
from aiohttp import ClientWebSocketResponse, WSCloseCode, WSMsgType
from aiohttp.client_middlewares import ClientHandlerType
from aiohttp.client_reqrep import ClientRequest, ClientResponse
from aiohttp.http import WebSocketError
from yarl import URL

from exporter.errors import Malformed, TimedOut, TooLarge, Unreachable
from exporter.node.messages import Request, in_units

PROTOCOL = "daml.ws.auth"
"""What a ledger names in its answer, requested or not; the token is in the same header as always."""
YIELD_EVERY = 64
"""After so many frames whatever else the exporter does has its turn: those that are there are read without a pause."""
CLOSING_SECONDS = 0.2
"""How long a node may take to see that we close; one that sends on and on is not waited for."""


class NotOpened(Exception):
    """An answer came that does not open a websocket; it can be read."""

    def __init__(self, response: ClientResponse) -> None:
        super().__init__()
        self.response = response


async def require_upgrade(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
    """Let no websocket be redirected: aiohttp would follow, and take our headers along. An error's body is kept."""
    response = await handler(request)
    if request.headers.get("Upgrade") == "websocket" and response.status != 101:
        raise NotOpened(response)
    return response


async def connect(
    session: aiohttp.ClientSession,
    url: URL,
    request: Request,
    *,
    headers: Mapping[str, str],
    proxy: URL | None,
    most_bytes: int,
) -> ClientWebSocketResponse:
    """Open a websocket whose messages may be so large. Raises NotOpened, Malformed, and what aiohttp raises."""
    try:
        return await session.ws_connect(
            url,
            headers=headers,
            proxy=proxy,
            protocols=(PROTOCOL,),
            autoping=False,
            timeout=aiohttp.ClientWSTimeout(ws_receive=None, ws_close=CLOSING_SECONDS),
            max_msg_size=most_bytes,
        )
    except aiohttp.WSServerHandshakeError as error:
        raise Malformed(f"{request}: the answer opens no websocket: {error.message}") from error


@asynccontextmanager
async def closing(socket: ClientWebSocketResponse) -> AsyncIterator[None]:
    """Close it in the end, whatever happened, and without waiting for a node that does not care."""
    try:
        yield
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                await socket.close()


async def messages(
    socket: ClientWebSocketResponse, request: Request, limit: float, until: float
) -> AsyncGenerator[bytes, None]:
    """Send the request and give each message of the answer, until the node closes as it does when all was sent.

    A message has `limit` seconds, and all have the time `until` (of the event loop). aiohttp takes the end of the
    connection for such a close too, so here only its code counts: an answer that broke off must not look whole.
    """
    loop = asyncio.get_running_loop()
    late = min(loop.time() + limit, until)
    async with asyncio.timeout_at(late):
        await socket.send_str((request.body or b"").decode())
    for number in itertools.count(1):
        try:
            async with asyncio.timeout_at(late):
                frame = await next_frame(socket)
        except TimeoutError:
            frame = None
        if frame is None or loop.time() >= late:  # what is there already is given without a pause to time out in
            raise too_late(request, limit, is_end=loop.time() >= until)
        if number % YIELD_EVERY == 0:
            await asyncio.sleep(0)
        if frame.type in (WSMsgType.PING, WSMsgType.PONG):
            continue
        late = min(loop.time() + limit, until)
        content = content_of(frame, request)
        if content is None:
            return
        yield content


def content_of(frame: aiohttp.WSMessage, request: Request) -> bytes | None:
    """Return a message's content, None where the node has closed. Raises what it means if it closed otherwise."""
    match frame.type:
        case WSMsgType.TEXT:
            return str(frame.data).encode()
        case WSMsgType.BINARY:
            return bytes(frame.data)
        case WSMsgType.CLOSE if frame.data == WSCloseCode.OK:
            return None
        case WSMsgType.CLOSE:
            raise Unreachable(
                f"{request}: the websocket was closed before the end of the answer, with code {frame.data}"
            )
        case WSMsgType.ERROR:
            raise what_is_wrong(frame.data, request)
        case _:
            raise Unreachable(f"{request}: the connection closed before the end of the answer")


async def next_frame(socket: ClientWebSocketResponse) -> aiohttp.WSMessage:
    """Return what comes next; a ping is answered, and is nothing to wait longer for."""
    frame = await socket.receive()
    if frame.type is WSMsgType.PING:
        await socket.pong(frame.data)
    return frame


def too_late(request: Request, limit: float, *, is_end: bool) -> TimedOut:
    if is_end:
        return TimedOut(f"{request}: the run had no time left for the rest of the answer")
    return TimedOut(f"{request}: no further message within {limit:.3g} s")


def what_is_wrong(error: object, request: Request) -> Malformed | TooLarge | Unreachable:
    if not isinstance(error, WebSocketError):
        return Unreachable(f"{request}: the connection closed before the end of the answer")
    if error.code == WSCloseCode.MESSAGE_TOO_BIG:
        return TooLarge(f"{request}: a message of more than {in_units(request.limit)}; no contract needs as much")
    return Malformed(f"{request}: the answer is not a websocket's")
