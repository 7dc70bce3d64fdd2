"""One hardened HTTP session per target: the only door to aiohttp's client. What bytes mean it does not know."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import aiohttp
from aiohttp.client_reqrep import ClientResponse
from aiohttp.http_exceptions import ContentEncodingError
from yarl import URL

from exporter import own
from exporter.budget import Budget, Share
from exporter.clock import Clock
from exporter.errors import Failed, Malformed, TimedOut, TooLarge, Unreachable
from exporter.settings import Target
from exporter.tally import Tally

MOST_BYTES = 64 * 2**20
"""How large an answer may be, unpacked. A page of 1 000 contracts is about 2 MB."""

KEEPALIVE_SECONDS = 20
"""Longer than the shortest default interval, so that it needs no new connection; shorter than what nodes allow."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request: `route` is its path's template, by which it is counted, `path` the same filled in and quoted."""

    method: str
    route: str
    path: str
    query: Mapping[str, str]
    body: bytes | None

    def __str__(self) -> str:
        return f"{self.method} {self.route}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `asked` is the method and route, `sent` and `answered` our clock's Unix seconds at both ends."""

    asked: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    sent: float
    answered: float
    certificate_expiry: float | None


class Response(ClientResponse):
    """An answer that remembers until when the certificate it came under is valid."""

    certificate_expiry: float | None = None

    async def start(self, connection: Any) -> ClientResponse:
        # The connection goes back to the pool as soon as an empty body is read, so it is asked here.
        tls = connection.transport.get_extra_info("ssl_object") if connection.transport else None
        if tls is not None:
            expiry = (tls.getpeercert() or {}).get("notAfter")
            self.certificate_expiry = ssl.cert_time_to_seconds(expiry) if expiry else None
        return await super().start(connection)


@cache
def tls_context() -> ssl.SSLContext:
    """Return the one context all targets share: making one takes 20 ms. SSL_CERT_FILE adds a private authority."""
    return ssl.create_default_context()


class Transport:
    """The connections to one target."""

    def __init__(self, target: Target, budget: Budget, tally: Tally, clock: Clock) -> None:
        self._base = URL(target.url)
        self._headers = {name: value.get_secret_value() for name, value in target.headers.items()}
        self.secrets = frozenset(self._headers.values()) | set(self._base.query.values()) | {self._base.password or ""}
        """What must appear in no message: the target's header values, its url's password and query."""
        self._limit = target.timeout.total_seconds()
        self._budget = budget
        self._tally = tally
        self._clock = clock
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=tls_context(), keepalive_timeout=KEEPALIVE_SECONDS),
            response_class=Response,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "canton-exporter", "Accept": "application/json"},
            trust_env=True,
        )

    async def request(self, question: Question, token: str | None, share: Share, seconds: float) -> Reply:
        """Ask once and return the answer, whatever its status; `seconds` caps the target's own limit.

        Raises Unreachable, TimedOut, Malformed or TooLarge.
        """
        seconds -= await self._wait_for_budget(share)
        limit = min(self._limit, max(seconds, 0.001))
        started, sent = self._clock.monotonic(), self._clock.now()
        code = "cancelled"
        try:
            async with self._session.request(
                question.method,
                self._url(question),
                data=question.body,
                headers=self._headers_for(question, token),
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(limit),
            ) as response:
                code = str(response.status)
                answered = self._clock.now()
                body = await self._read(response, question)
                expiry = getattr(response, "certificate_expiry", None)
                return Reply(str(question), response.status, response.headers, body, sent, answered, expiry)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            failure = explain(error, question, limit)
            code = failure.reason
            raise failure from error
        except Failed as failure:
            code = failure.reason
            raise
        finally:
            self._tally.add(own.REQUESTS, question.route, question.method, code)
            self._tally.add(own.REQUEST_SECONDS, question.route, amount=self._clock.monotonic() - started)
            if code == "429":
                self._tally.add(own.THROTTLED)

    async def _wait_for_budget(self, share: Share) -> float:
        """Return how many seconds it took."""
        started = self._clock.monotonic()
        await self._budget.take(share)
        waited = self._clock.monotonic() - started
        if waited > 0.001:  # less is the asking itself
            self._tally.add(own.BUDGET_WAIT, amount=waited)
        return waited

    def _url(self, question: Question) -> URL:
        url = self._base.joinpath(question.path.lstrip("/"), encoded=True)
        return url.with_query(self._base.query).update_query(question.query)

    def _headers_for(self, question: Question, token: str | None) -> dict[str, str]:
        carried = {} if question.body is None else {"Content-Type": "application/json"}
        return {**self._headers, **carried, **({"Authorization": f"Bearer {token}"} if token else {})}

    async def _read(self, response: ClientResponse, question: Question) -> bytes:
        chunks, size = [], 0
        try:
            async for chunk in response.content.iter_any():
                chunks.append(chunk)
                size += len(chunk)
                if size > MOST_BYTES:
                    response.close()  # the rest must not be read only to keep the connection
                    raise TooLarge(f"{question}: the answer is larger than {MOST_BYTES >> 20} MiB")
        finally:
            self._tally.add(own.RESPONSE_BYTES, question.route, amount=response.content.total_raw_bytes if size else 0)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def close(self) -> None:
        await self._session.close()


def explain(error: Exception, asked: Question, limit: float) -> Failed:  # noqa: PLR0911 - one return for each fault
    """Say in our words what aiohttp ran into; its own would name the url, whose query may be a secret."""
    match error:
        case TimeoutError():
            return TimedOut(f"{asked}: no answer within {limit:.3g} s")
        case aiohttp.ClientConnectorCertificateError():
            reason = getattr(error.certificate_error, "verify_message", "") or str(error.certificate_error)
            return Unreachable(f"{asked}: the certificate of {error.host}:{error.port} is not trusted: {reason}")
        case aiohttp.ClientConnectorDNSError():
            return Unreachable(f"{asked}: the name {error.host} does not resolve")
        case aiohttp.ClientConnectorError():
            number = error.os_error.errno
            reason = os.strerror(number) if number and number > 0 else str(error.os_error)
            return Unreachable(f"{asked}: no connection to {error.host}:{error.port}: {reason}")
        case aiohttp.ClientPayloadError() if isinstance(error.__cause__, ContentEncodingError):
            return Malformed(f"{asked}: the answer is not packed the way it says")
        case aiohttp.ClientPayloadError():
            return Unreachable(f"{asked}: the answer broke off")
        case aiohttp.ClientResponseError():
            return Malformed(f"{asked}: the answer is not HTTP: {' '.join(error.message.split())[:200]}")
        case _:
            return Unreachable(f"{asked}: the connection was closed before an answer came")
