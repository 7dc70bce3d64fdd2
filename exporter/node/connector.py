"""The connections to one target's nodes: kept for the next request, and under TLS renewed before they grow old."""

import ssl
from functools import cache
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
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


class Connector(aiohttp.TCPConnector):
    """Connections of which none under TLS grows old, so that the certificate seen is the one that is served.

    One kept alive by its requests would otherwise never see a certificate that was renewed, or that has ended.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(ssl=tls_context(), keepalive_timeout=KEEPALIVE_SECONDS)
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
