"""One node for one run: a request goes in, a typed answer comes out, or one of our errors."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from exporter import limits
from exporter.clock import Clock
from exporter.config.models import Kind
from exporter.errors import Failed, NoEntry, OutOfTime
from exporter.node.auth import Auth, Token
from exporter.node.combining import Combining
from exporter.node.decoding import decode
from exporter.node.messages import ANYTHING, NOTHING, Request, RequestLogEntry, Response, make_request
from exporter.node.pagination import Mark, P, follow_pages
from exporter.node.rate_limit import Share
from exporter.node.remark import Remark
from exporter.node.status_errors import raise_for_status, read_retry_after
from exporter.node.stream import stream_elements
from exporter.node.transport import Transport

T = TypeVar("T")


RETRY_SECONDS = (1, 4, 16)
"""How many seconds to wait before requesting a page again, each time longer; more if Retry-After is longer."""


class Node(Combining):
    """One node for one run, which ends at `deadline` (monotonic seconds)."""

    def __init__(
        self,
        kind: Kind,
        transport: Transport,
        auth: Auth,
        clock: Clock,
        deadline: float,
        *,
        share: Share = Share.WHOLE,
        is_probe: bool = False,
        progress: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.kind = kind
        self.progress = progress
        """Report in words how far a long run has come, as often as you like."""
        self._free = Share.PROBE if is_probe else Share.NONE
        self._share = share | self._free
        self._transport = transport
        self._auth = auth
        self._clock = clock
        self._deadline = deadline
        # An answer must have time left to be read, so requests end before the run does, by a tenth and at most 0.5 s.
        self._reserve = min(0.5, self.time_left() / 10)
        self.remarks: list[Remark] = []
        """What `remark` was called with."""
        self.news: list[str] = []
        """What happened since the last run: logged each time, if this run ends well."""
        self.requests: deque[RequestLogEntry] = deque(maxlen=limits.REQUESTS_SHOWN)
        """The last requests, oldest first."""

    def now(self) -> float:
        """Return the wall clock's Unix seconds."""
        return self._clock.now()

    def time_left(self) -> float:
        """Return how many seconds this run still has."""
        return self._deadline - self._clock.monotonic()

    def remark(self, summary: str, detail: str = "") -> None:
        """Let people know of something although the run is ok: logged when it begins, and shown with the watch."""
        self.remarks.append(Remark(summary, detail))

    async def get(
        self,
        route: str,
        answer: type[T],
        *,
        query: Mapping[str, str] = NOTHING,
        most_bytes: int | None = None,
        **fill: str,
    ) -> T:
        """GET a route, its `{names}` filled in, and return the answer, of at most `most_bytes`.

        Raises Unsupported if the node does not have the operation, and every kind of Failed.
        """
        return decode(await self._answer(make_request("GET", route, fill, query, most_bytes=most_bytes)), answer)

    async def post(
        self,
        route: str,
        answer: type[T],
        body: object,
        *,
        query: Mapping[str, str] = NOTHING,
        most_bytes: int | None = None,
        **fill: str,
    ) -> T:
        """POST a body as JSON; otherwise as `get`. Only for operations that read: nothing here writes to a node."""
        return decode(await self._answer(make_request("POST", route, fill, query, body, most_bytes=most_bytes)), answer)

    async def find(
        self,
        route: str,
        answer: type[T],
        body: object = None,
        *,
        query: Mapping[str, str] = NOTHING,
        most_bytes: int | None = None,
        **fill: str,
    ) -> T | None:
        """Request an entry that need not be there: a 404 in the API's own error form is None, and that is an answer.

        A GET, or with a body a POST.
        """
        request = make_request("GET" if body is None else "POST", route, fill, query, body, most_bytes=most_bytes)
        try:
            return decode(await self._answer(request), answer)
        except NoEntry:
            return None

    def pages(
        self, route: str, answer: type[P], body: Callable[[Mark], object], *, method: str = "POST", **fill: str
    ) -> AsyncGenerator[P, None]:
        """POST for page after page; `body` makes the body from the last page's token, None at first.

        With `method` GET the body travels on a GET, as older ledgers want some.
        Pages take at most half of the budget. One that fails for a moment is requested again: a count of an hour
        must not end with it. Raises Malformed if the tokens go round in a circle, and Unsupported for the first page
        only: what answered one page has the operation.
        """
        return follow_pages(
            lambda mark: make_request(method, route, fill, body=body(mark), is_page=True), self._persist, answer
        )

    def listed(
        self, route: str, answer: type[P], query: Callable[[Mark], Mapping[str, str]], **fill: str
    ) -> AsyncGenerator[P, None]:
        """GET page after page; `query` makes the query from the last page's token. Otherwise as `pages`."""
        return follow_pages(
            lambda mark: make_request("GET", route, fill, query(mark), is_page=True), self._persist, answer
        )

    def stream(self, route: str, answer: type[T], body: object) -> AsyncGenerator[T, None]:
        """Ask by a websocket and give what each message of the answer is, until the node has closed it as whole.

        `answer` needs something that no error has. It is not repeated if it breaks off: elements were given already.
        Raises Unsupported as `pages` does, and where websockets are not let through. Close it: `async with aclosing`.
        """
        return stream_elements(
            make_request("GET", route, body=body, is_page=True), answer, self._auth, self._open_stream
        )

    async def fetch(self, route: str, **fill: str) -> Response:
        """GET a route and return the answer whatever its status, as a probe of health does.

        It does not use the budget and waits for no token: an available one is sent, and after a 401 or 403 none.
        """
        request = replace(
            make_request("GET", route, fill, most_bytes=limits.HEALTH_BYTES, accept=ANYTHING), is_cut=True
        )
        token = self._auth.available()
        response = await self._exchange(request, token, self._free)
        if token and response.status in (401, 403):
            response = await self._exchange(request, None, self._free)
        return response

    async def _answer(self, request: Request) -> Response:
        """Send a request once; in a run of many requests, which may be an hour's work, retry as for a page."""
        return (
            await self._persist(request) if Share.PAGES in self._share else raise_for_status(await self._ask(request))
        )

    async def _persist(self, request: Request) -> Response:
        """Request a page, and again after a pause if that may help, as long as there is time."""
        for longer in RETRY_SECONDS:
            try:
                return raise_for_status(await self._ask(request, self._share | Share.HALF))
            except Failed as failure:
                if failure.pause is None or max(failure.pause, longer) > self.time_left() - self._reserve:
                    raise
                await asyncio.sleep(max(failure.pause, longer))
        return raise_for_status(await self._ask(request, self._share | Share.HALF))

    async def _ask(self, request: Request, share: Share | None = None) -> Response:
        """Send a request with the target's token; after a 401 once more, if the token was renewed meanwhile."""
        share = share or self._share
        token = await self._auth.token()
        response = await self._exchange(request, token, share)
        if response.status == 401 and token is not None:
            self._auth.reject(token)
            renewed = await self._auth.token()
            if renewed != token:
                response = await self._exchange(request, renewed, share)
        return response

    async def _open_stream(self, request: Request, token: Token | None) -> AsyncGenerator[Response, None]:
        """Send a request once by a websocket within the time this run has, and write it into the request log."""
        started, outcome = self._clock.monotonic(), "cancelled"
        try:
            seconds = self._seconds_for(request)
            stream = self._transport.stream(request, token.text if token else None, self._share | Share.HALF, seconds)
            async with aclosing(stream) as responses:
                async for response in responses:
                    outcome = str(response.status)
                    yield self._noted(response)
        except Failed as failure:
            outcome = failure.reason
            raise
        finally:
            self._log(request, outcome, started)

    def _log(self, request: Request, outcome: str, started: float) -> None:
        seconds = self._clock.monotonic() - started
        self.requests.append(RequestLogEntry(request.method, request.path, outcome, seconds))

    def _seconds_for(self, request: Request) -> float:
        seconds = self.time_left() - self._reserve
        if seconds <= 0:
            raise OutOfTime(f"{request}: the run had no time left for it")
        return seconds

    def _noted(self, response: Response) -> Response:
        """Pause requests to the node after a 429, and take secrets out of its answer."""
        if response.status == 429:
            self._transport.back_off(response.endpoint, read_retry_after(response))
        # Here, while it is whole: of a secret that was cut to be quoted, the beginning would not be found.
        is_answer = response.is_success or response.status == 101
        return replace(response, body=self._transport.redact.body(response.body, is_answer=is_answer))

    async def _exchange(self, request: Request, token: Token | None, share: Share) -> Response:
        """Send a request once within the time this run has, and write it into the request log."""
        started = self._clock.monotonic()
        outcome = "cancelled"
        try:
            seconds = self._seconds_for(request)
            response = await self._transport.request(request, token.text if token else None, share, seconds)
        except Failed as failure:
            outcome = failure.reason
            raise
        else:
            outcome = str(response.status)
            return self._noted(response)
        finally:
            self._log(request, outcome, started)
