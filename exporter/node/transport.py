"""One hardened HTTP session per target: the only door to aiohttp's client. What bytes mean it does not know."""

import asyncio
import errno
import math
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus

import aiohttp
from aiohttp.client_reqrep import ClientResponse
from multidict import CIMultiDict
from yarl import URL

from exporter import limits
from exporter.clock import Clock
from exporter.config.models import TargetConfig
from exporter.errors import BUG, Failed, Limited, Malformed, NoBudget, TooLarge, Unreachable
from exporter.metrics import self_metrics
from exporter.metrics.counters import Counters
from exporter.node import websocket
from exporter.node.body import PACKINGS, PIECE, Body, BodyMemory, NotPacked, Unpacker
from exporter.node.connector import Connector
from exporter.node.endpoint import Endpoint, EndpointResolver
from exporter.node.messages import Request, Response, in_units
from exporter.node.rate_limit import RateLimit, Share
from exporter.node.transport_errors import explain

STATUSES = frozenset(HTTPStatus)


@dataclass(slots=True)
class Counted:
    """How a request ended: by an answer's status, and why it is not a whole answer if it is not."""

    code: str = ""
    reason: str = "cancelled"


class Transport:
    """The connections to one target."""

    def __init__(
        self,
        config: TargetConfig,
        rate_limit_of: Callable[[str], RateLimit],
        counters: Counters,
        clock: Clock,
        bodies: BodyMemory | None = None,
    ) -> None:
        """Take what every request needs, what gives the budget of a host, and what bounds all answers together."""
        self.destination = EndpointResolver(config)
        self.redact = self.destination.redact
        self._limit = config.timeout.total_seconds()
        self._rate_limit_of = rate_limit_of
        self._counters = counters
        self._clock = clock
        self._bodies = bodies or BodyMemory()
        self._connector = Connector(clock)
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "canton-exporter", "Accept-Encoding": PACKINGS},
            # Left to itself, aiohttp takes a packed answer for whole that breaks off, and unpacks more than is read.
            auto_decompress=False,
            middlewares=(websocket.require_upgrade,),
        )

    async def request(self, request: Request, token: str | None, share: Share, seconds: float) -> Response:
        """Ask once and return the answer, whatever its status; `seconds` caps the target's own limit.

        Raises Unreachable, TimedOut, NoBudget, Malformed or TooLarge, Limited while the node asks to wait,
        and Unauthorized while the file of a header is missing.
        """
        endpoint, headers, limit = await self._ready(request, token, share, seconds)
        with self._counted(request, endpoint, limit) as counted:
            sent = self._clock.now()
            async with self._session.request(
                request.method,
                url_of(endpoint, request),
                data=request.body,
                headers=headers,
                # Not trust_env: it would read ~/.netrc for every request, and send what the operator never configured.
                proxy=endpoint.proxy,
                allow_redirects=False,
                # Left to itself, aiohttp rounds longer limits up to whole seconds, beyond the run's end.
                timeout=aiohttp.ClientTimeout(limit, ceil_threshold=math.inf),
            ) as raw:
                counted.code = known(raw.status)
                return await self._read_response(raw, request, endpoint, sent)

    async def stream(
        self, request: Request, token: str | None, share: Share, seconds: float
    ) -> AsyncGenerator[Response, None]:
        """Ask by a websocket: give the answer to its opening, and if that is a 101, a response for each message.

        It ends when the node has closed it as it does when all was sent, within `seconds`. Otherwise as `request`.
        """
        until = asyncio.get_running_loop().time() + seconds
        opening = replace(request, body=None)
        endpoint, headers, limit = await self._ready(opening, token, share, seconds)
        with self._counted(request, endpoint, limit) as counted:
            sent, url = self._clock.now(), url_of(endpoint, request)
            try:
                async with asyncio.timeout(limit):
                    socket = await websocket.connect(
                        self._session,
                        url,
                        request,
                        headers=headers,
                        proxy=endpoint.proxy,
                        most_bytes=request.limit,
                    )
            except websocket.NotOpened as refusal:
                async with refusal.response as raw, asyncio.timeout(limit):
                    counted.code = known(raw.status)
                    response = await self._read_response(raw, request, endpoint, sent)
                counted.reason = ""
                yield response
                return
            counted.code = "101"
            opened = Response(str(request), endpoint, 101, {}, b"", sent, self._clock.now(), None, headers["Accept"])
            async with websocket.closing(socket):
                yield opened
                async for message in websocket.messages(socket, request, limit, until):
                    self._counters.add(self_metrics.RESPONSE_BYTES, request.route, amount=len(message))
                    yield replace(opened, body=message)

    async def _ready(
        self, request: Request, token: str | None, share: Share, seconds: float
    ) -> tuple[Endpoint, CIMultiDict[str], float]:
        """Wait for the turn of a request; return where it goes, with which headers, and how many seconds it has."""
        seconds -= await self._wait_for_turn(self.destination.endpoint(), request, share, seconds)
        # Only now, and both at once: a header that was renewed meanwhile belongs to the url that was.
        endpoint, headers = self.destination.endpoint(), headers_of(request, token, self.destination.headers())
        if token:
            self.redact.add(token)
        return endpoint, headers, max(min(self._limit, seconds), 0.001)  # to aiohttp 0 means no limit

    @contextmanager
    def _counted(self, request: Request, endpoint: Endpoint, limit: float) -> Iterator["Counted"]:
        """Count a request by how it ends, and raise in our words what aiohttp ran into."""
        counted, started = Counted(), self._clock.monotonic()
        try:
            yield counted
        except (aiohttp.ClientError, TimeoutError, OSError, UnicodeError) as error:
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
                counted.reason = BUG
                raise  # we have no file descriptor left, which is not the node's failure
            failure = explain(error, str(request), endpoint.host, limit, self.redact)
            counted.reason = failure.reason
            raise failure from error
        except Failed as failure:
            counted.reason = failure.reason
            raise
        else:
            counted.reason = ""
        finally:
            self._counters.add(self_metrics.REQUESTS, request.route, request.method, counted.code, counted.reason)
            self._counters.add(self_metrics.REQUEST_COUNT, request.route)
            self._counters.add(self_metrics.REQUEST_SECONDS, request.route, amount=self._clock.monotonic() - started)
            if counted.code == "429":
                self._counters.add(self_metrics.THROTTLED)

    def back_off(self, endpoint: Endpoint, seconds: float) -> None:
        """Pause the requests of all targets of the node after its 429; probes of health go on."""
        self._rate_limit_of(endpoint.host).back_off(endpoint.origin, self._clock.monotonic() + seconds)

    async def _wait_for_turn(self, endpoint: Endpoint, request: Request, share: Share, seconds: float) -> float:
        """Return how many seconds it took. Raises Limited or NoBudget if it would take longer than there is time."""
        if not share:
            return 0.0
        started = self._clock.monotonic()
        rate_limit = self._rate_limit_of(endpoint.host)

        def back_off() -> float:
            return rate_limit.back_off_left(endpoint.origin, self._clock.monotonic())

        try:
            async with asyncio.timeout(seconds if back_off() < seconds else 0):
                await asyncio.sleep(back_off())
                await rate_limit.take(share)
                while back_off():  # the node answered 429 while we waited
                    await asyncio.sleep(back_off())
                    await rate_limit.take(share)
        except TimeoutError as error:
            if left := back_off():
                reason = f"the node asked to wait {left:.0f} s more (429)"
                raise Limited(f"{request}: not sent: {reason}") from error
            raise NoBudget(
                f"{request}: our rate limit for this host allowed no request for {seconds:.3g} s (setting budget)"
            ) from error
        finally:
            waited = self._clock.monotonic() - started
            if waited > 0.001:  # less is the asking itself
                self._counters.add(self_metrics.BUDGET_WAIT, amount=waited)
        return waited

    async def _read_response(self, raw: ClientResponse, request: Request, endpoint: Endpoint, sent: float) -> Response:
        answered = self._clock.now()
        response = Response(
            str(request),
            endpoint,
            raw.status,
            raw.headers,
            b"",
            sent,
            answered,
            self._connector.certificate_expiry.get(endpoint.origin),
            raw.request_info.headers.get("Accept", ""),
        )
        try:
            with self._bodies.body(raw.close) as body:
                return await self._read(raw, request, response, body)
        finally:
            self._counters.add(self_metrics.RESPONSE_BYTES, request.route, amount=raw.content.total_bytes)

    async def _read(self, raw: ClientResponse, request: Request, response: Response, body: Body) -> Response:
        """Read an answer up to its limit. Of an error or an HTML page the beginning is enough, however much follows."""
        limit = request.limit if response.is_success else min(request.limit, limits.ERROR_BYTES)
        try:
            unpacker = Unpacker(raw.headers.get("Content-Encoding", ""))
            is_cut = await self._collect(raw, unpacker, body, limit)
        except NotPacked as error:
            raise Malformed(f"{request}: {error}") from error
        except aiohttp.ClientError as error:
            if body.is_dropped:
                raise no_room(request) from error
            raise
        if body.is_dropped:
            raise no_room(request)
        response = replace(response, body=body.taken(limit))
        if is_cut and response.is_success and not request.is_cut and not response.is_html:
            raise too_large(request)
        if not is_cut and not unpacker.is_whole:
            raise Unreachable(f"{request}: the answer is packed, and breaks off before its end")
        return response

    async def _collect(self, raw: ClientResponse, unpacker: Unpacker, body: Body, limit: int) -> bool:
        """Read into a body until the end, or until it is larger than `limit`; return whether it is."""
        async for chunk in raw.content.iter_any():
            for piece in unpacker.unpack(chunk):
                self._bodies.add(body, piece)
                if body.is_dropped or body.size > limit:
                    raw.close()  # the rest must not be read only to keep the connection
                    return True
                if len(piece) >= PIECE:  # a chunk of which more may follow
                    await asyncio.sleep(0)
        return False

    async def close(self) -> None:
        await self._session.close()


def url_of(endpoint: Endpoint, request: Request) -> URL:
    url = endpoint.url.joinpath(request.path.lstrip("/"), encoded=True)
    return url.with_query(endpoint.url.query).update_query(request.query)


def headers_of(request: Request, token: str | None, configured: Mapping[str, str]) -> CIMultiDict[str]:
    headers = CIMultiDict({"Accept": request.accept})
    headers.update(configured)  # in whichever case their names are written
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return headers


def known(status: int) -> str:
    """Return a status as a label; one that HTTP does not know is other, since a node can make up hundreds."""
    return str(status) if status in STATUSES else "other"


def too_large(request: Request) -> TooLarge:
    limit = in_units(request.limit)
    if request.is_page:
        return TooLarge(f"{request}: a result page of more than {limit}; lower the option page_size, if there is one")
    return TooLarge(f"{request}: the answer is larger than {limit}; this limit has no setting, as no node needs more")


def no_room(request: Request) -> TooLarge:
    limit = in_units(limits.BODIES_BYTES)
    return TooLarge(
        f"{request}: all nodes' answers together were larger than {limit}, and this was the largest; "
        "set a lower page_size, or fewer targets for each exporter"
    )
