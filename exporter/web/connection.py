"""One connection of a client: how long it may take to send a request's head, and to read the response."""

import asyncio
from typing import Any, Protocol

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from exporter.web.headers import add_headers

HEAD_SECONDS = 10.0
"""How long a client may take to send a request's head, once it has connected or sent the first byte of it."""
IDLE_SECONDS = 310.0
"""How long a connection is kept for the next request: Prometheus closes one after five minutes, and should be first."""
BODY_SECONDS = 1.0
"""How long the rest of a request's body, which nothing here reads, is waited for."""
STALLED_SECONDS = 30.0
"""How long a client may read nothing of a response that is larger than the buffers."""

SETTINGS: dict[str, Any] = {"access_log": None, "keepalive_timeout": IDLE_SECONDS, "lingering_time": BODY_SECONDS}


class Observer(Protocol):
    """Whom a connection reports to."""

    def opened(self, connection: "Connection") -> None: ...
    def used(self, connection: "Connection") -> None: ...
    def closed(self, connection: "Connection") -> None: ...
    def malformed(self, address: str | None, error: str) -> None: ...


class Connection(web.RequestHandler):
    """aiohttp's own connection, which waits an hour for a head and for ever for a reader."""

    __slots__ = ("_head_timer", "_observer", "_socket", "_stall_timer")

    def __init__(self, server: web.Server, observer: Observer) -> None:
        super().__init__(server, loop=asyncio.get_running_loop(), **SETTINGS)
        self._observer = observer
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._socket: asyncio.Transport | None = None
        """aiohttp forgets its transport when it begins to close it, which lasts until the client has read all."""

    @property
    def is_idle(self) -> bool:
        """Whether no request of it is being answered."""
        return not self._request_in_progress and not self._messages

    def drop(self) -> None:
        """End it at once, whatever is still to be sent."""
        if self._socket is not None:
            self._socket.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._socket = self.transport
        self._observer.opened(self)
        self._head_timer = self._loop.call_later(HEAD_SECONDS, self.drop)

    def connection_lost(self, exc: BaseException | None) -> None:
        for timer in (self._head_timer, self._stall_timer):
            if timer:
                timer.cancel()
        self._socket = None
        super().connection_lost(exc)
        self._observer.closed(self)

    def data_received(self, data: bytes) -> None:
        before = self._request_count
        super().data_received(data)
        if self._request_count > before:
            if self._head_timer:
                self._head_timer.cancel()
                self._head_timer = None
            self._observer.used(self)
        elif data and self._head_timer is None and self.is_idle:
            self._head_timer = self._loop.call_later(HEAD_SECONDS, self.drop)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall_timer = self._loop.call_later(STALLED_SECONDS, self.drop)

    def resume_writing(self) -> None:
        if self._stall_timer:
            self._stall_timer.cancel()
        super().resume_writing()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what no handler answered. A malformed request is neither logged whole nor repeated: it has secrets."""
        if isinstance(exc, HttpProcessingError):
            self._observer.malformed(request.remote, type(exc).__name__)
            response: web.StreamResponse = web.Response(status=status, text="the request is malformed\n")
            response.force_close()
        else:
            response = super().handle_error(request, status, exc, message)
        add_headers(response)
        return response
