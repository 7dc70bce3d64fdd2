"""The connections to one target's nodes: kept for the next request, and under TLS renewed before they grow old."""

import asyncio
import ssl
from functools import cache, partial
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.tracing import Trace

from exporter.clock import Clock

KEEPALIVE_SECONDS = 20
"""Longer than the shortest default interval, so that it needs no new connection; shorter than what nodes allow."""

RENEWED_SECONDS = 600
"""How long a connection under TLS is used before a new one replaces it, with a handshake of its own."""


@cache
def tls_context() -> ssl.SSLContext:
    """Return the one context all targets share: making one takes 20 ms. SSL_CERT_FILE adds a private authority."""
    return ssl.create_default_context()


MOST_INTERIM = 16
"""How many interim answers (1xx) may come before the answer: nodes send none, and at most one is any use."""
READ_AT_ONCE = 2**14
"""How much of what came is parsed before it is seen whether anything is wrong with it."""

MOST_FRAMING = 2**16
"""How many bytes that are not the body's an answer may have, beside a quarter of the body's size."""


class Handler(ResponseHandler):
    """Reads answers as aiohttp does, but no flood of interim ones, none in crumbs, and none that TLS did not end.

    A chunk of one byte costs as much as one of a hundred thousand.
    """

    _interim = 0
    _wire = 0

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), READ_AT_ONCE):
            super().data_received(data[start : start + READ_AT_ONCE])
            self._wire += min(READ_AT_ONCE, len(data) - start)
            if self._interim > MOST_INTERIM or self._is_in_crumbs():
                return

    def _is_in_crumbs(self) -> bool:
        """Return whether an answer consists of its framing, and if so, end it."""
        payload = self._payload
        if not isinstance(payload, aiohttp.StreamReader) or payload.is_eof():
            return False
        if self._wire - payload.total_bytes <= MOST_FRAMING + payload.total_bytes // 4:
            return False
        reason = BadHttpMessage("the answer comes in chunks of a few bytes")
        error = aiohttp.ClientPayloadError(reason.message)
        error.__cause__ = reason
        payload.set_exception(error, reason)
        if self.transport:
            self.transport.abort()
        return True

    def feed_data(self, data: Any, size: int = 0) -> None:
        self._wire = 0
        self._interim = self._interim + 1 if 100 <= data[0].code < 200 and data[0].code != 101 else 0
        if self._interim <= MOST_INTERIM:
            super().feed_data(data, size)
        elif self.transport:
            self.set_exception(BadHttpMessage(f"more than {MOST_INTERIM} interim answers (1xx)"))
            self.transport.abort()

    def eof_received(self) -> None:
        """Tell an answer that has no length apart from one that somebody on the way has cut."""
        tls = self.transport.get_extra_info("ssl_object") if self.transport else None
        if tls and not is_ended(tls) and self._payload is not None and not self._payload.is_eof():
            self._payload.set_exception(aiohttp.ClientPayloadError("the TLS connection was cut"))
        super().eof_received()


def is_ended(tls: ssl.SSLObject) -> bool:
    """Return whether the other side has ended TLS (close_notify), and not only the connection."""
    try:
        return not tls.read(1)
    except ssl.SSLError:
        return False


class Connector(aiohttp.TCPConnector):
    """Connections of which none under TLS grows old, so that the certificate seen is the one that is served.

    One kept alive by its requests would otherwise never see a certificate that was renewed, or that has ended.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(ssl=tls_context(), keepalive_timeout=KEEPALIVE_SECONDS)
        handler: type[ResponseHandler] = Handler
        self._factory = partial(handler, loop=asyncio.get_running_loop())
        self._clock = clock
        self._opened: WeakKeyDictionary[ssl.SSLObject, float] = WeakKeyDictionary()
        self.certificate_expiry: dict[str, float] = {}
        """Until when the certificate of the newest handshake is valid, by origin."""

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout) -> Connection:  # noqa: ASYNC109 - aiohttp's own signature
        while True:
            connection = await super().connect(req, traces, timeout)
            tls = connection.transport.get_extra_info("ssl_object") if connection.transport else None
            if tls is None:
                return connection
            now = self._clock.monotonic()
            if tls not in self._opened:
                self._opened[tls] = now
                if expiry := (tls.getpeercert() or {}).get("notAfter"):
                    self.certificate_expiry[str(req.url.origin())] = ssl.cert_time_to_seconds(str(expiry))
            if now - self._opened[tls] < RENEWED_SECONDS:
                return connection
            connection.close()  # the pool gives the next one, in the end a new one
