"""An answer that comes by a websocket, element after element: opened with a good token, and whole or an error."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

from exporter.errors import Refused, Unsupported
from exporter.node.auth import Auth, Token
from exporter.node.decoding import decode_message, raise_for_status
from exporter.node.messages import Request, Response

T = TypeVar("T")
Hear = Callable[[Request, Token | None], AsyncGenerator[Response, None]]


async def elements(question: Request, answer: type[T], auth: Auth, hear: Hear) -> AsyncGenerator[T, None]:
    """Give the elements; Unsupported is raised for the first only: what gave one has the operation."""
    count = 0
    try:
        async with aclosing(replies(question, auth, hear)) as heard:
            async for reply in heard:
                if reply.status == 101:
                    yield decode_message(reply, answer)
                    count += 1
                else:
                    refuse(reply)
    except Unsupported as lack:
        if count:
            raise Refused(f"{lack}, after {count} elements") from lack
        raise


async def replies(question: Request, auth: Auth, hear: Hear) -> AsyncGenerator[Response, None]:
    """Give the messages, or the answer that opens no websocket; one to a token is not the last if there is another."""
    token = await auth.token()
    for is_last in (False, True):
        async with aclosing(hear(question, token)) as heard:
            opening = await anext(heard)
            if opening.status == 101:
                async for reply in heard:
                    yield reply
                return
        if is_last or opening.status != 401 or token is None:
            break
        auth.reject(token)
        rejected, token = token, await auth.token()
        if token == rejected:
            break
    yield opening


def refuse(reply: Response) -> None:
    """Raise what an answer means that opens no websocket."""
    if reply.is_success or reply.status in (400, 426):
        said = "no websocket was opened, which a proxy on the way may not let through"
        raise Unsupported(f"{reply.asked}: {reply.status}: {said}")
    raise_for_status(reply)
