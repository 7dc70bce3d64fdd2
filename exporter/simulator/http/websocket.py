"""What is asked by a websocket: the request is the first message, each element of the answer another."""

from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from exporter.simulator.http.canton_error import CantonError

PROTOCOL = "daml.ws.auth"
PREFIX = "jwt.token."
LARGEST_REQUEST = 2**20


def token_of(request: web.Request) -> str | None:
    """The token among the subprotocols, which are parted by nothing but a comma."""
    named = request.headers.get("Sec-WebSocket-Protocol", "").split(",")
    return next((name.removeprefix(PREFIX) for name in named if name.startswith(PREFIX)), None)


async def converse(
    request: web.Request, elements: Callable[[bytes], Iterator[Any]], write: Callable[[Any], str]
) -> web.StreamResponse:
    """Answer the first message and close. An error is a message too, after which it is closed as if all was well."""
    socket = web.WebSocketResponse(protocols=(PROTOCOL,), compress=False, max_msg_size=LARGEST_REQUEST)
    if not socket.can_prepare(request):
        return web.Response(status=400, text="Expected WebSocket Upgrade request")
    # As on the network, whatever the client offers.
    socket.headers["Sec-WebSocket-Protocol"] = PROTOCOL
    await socket.prepare(request)
    asked = await socket.receive()
    if asked.type is not WSMsgType.TEXT:
        return socket
    try:
        for element in elements(asked.data.encode()):
            await socket.send_str(write(element))
    except CantonError as error:
        await socket.send_str(write(error.body()))
    except web.HTTPBadRequest:
        await socket.close(code=WSCloseCode.INTERNAL_ERROR)
    await socket.close()
    return socket
