"""An answer that comes by a websocket, element after element: opened with a good token, and whole or an error."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

from exporter.errors import Refused, Unsupported
from exporter.node.auth import Auth, Token
from exporter.node.messages import Request, Response
from exporter.node.status_errors import decode_message, raise_for_status

T = TypeVar("T")
OpenStream = Callable[[Request, Token | None], AsyncGenerator[Response, None]]


async def stream_elements(
    request: Request, answer: type[T], auth: Auth, open_stream: OpenStream
) -> AsyncGenerator[T, None]:
    """Give the elements; Unsupported is raised for the first only: what gave one has the operation."""
    count = 0
    try:
        async with aclosing(responses(request, auth, open_stream)) as stream:
            async for response in stream:
                if response.status == 101:
                    yield decode_message(response, answer)
                    count += 1
                else:
                    refuse(response)
    except Unsupported as lack:
        if count:
            raise Refused(f"{lack}, after {count} elements") from lack
        raise


async def responses(request: Request, auth: Auth, open_stream: OpenStream) -> AsyncGenerator[Response, None]:
    """Give the messages, or the answer that opens no websocket; after a 401 a renewed token is tried once."""
    token = await auth.token()
    for is_last in (False, True):
        async with aclosing(open_stream(request, token)) as stream:
            opening = await anext(stream)
            if opening.status == 101:
                async for response in stream:
                    yield response
                return
        if is_last or opening.status != 401 or token is None:
            break
        auth.reject(token)
        rejected, token = token, await auth.token()
        if token == rejected:
            break
    yield opening


def refuse(response: Response) -> None:
    """Raise what an answer means that opens no websocket."""
    if response.is_success or response.status in (400, 426):
        reason = "no websocket was opened, which a proxy on the way may not let through"
        raise Unsupported(f"{response.operation}: {response.status}: {reason}")
    raise_for_status(response)
