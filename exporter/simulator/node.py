"""What all kinds of nodes have in common: a listener, a dialect, operations, a token, and a fault now and then."""

import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, ClassVar

from aiohttp import web
from aiohttp.typedefs import Handler

from exporter.simulator.dialect import Dialect
from exporter.simulator.faults import Down, Fault
from exporter.simulator.http.content_negotiation import admits
from exporter.simulator.http.listener import Listener
from exporter.simulator.http.token_expiry import expiry
from exporter.simulator.world.world import World

# Statuses that HTTP allows no body.
BODILESS = (204, 205, 304)

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    answer: Answer
    wants_token: bool = True


def admits_answer(request: web.Request, response: web.StreamResponse) -> bool:
    """An answer without a body has no media type that a client could dislike."""
    is_empty = isinstance(response, web.Response) and not response.body
    return is_empty or admits(",".join(request.headers.getall("Accept", ())), response.content_type)


class Node(ABC):
    """To add an operation: write its answer as a method of the node's class, and name it in `operations`."""

    kind: ClassVar[str]
    base: ClassVar[str] = ""

    def __init__(self, name: str, world: World, dialect: Dialect, port: int, token: str | None) -> None:
        self.name = name
        self.world = world
        self.dialect = dialect
        self._token = token
        self._fault: Fault | None = None
        self._since = 0.0  # when it has that fault
        self._listener = Listener(self._application, port)

    @abstractmethod
    def operations(self) -> Iterator[Operation]:
        """Give every operation this node has, in its dialect."""

    @abstractmethod
    def refuse(self, status: int, path: str) -> web.Response:
        """A status with the body that this kind of node sends with it."""

    @property
    def url(self) -> str:
        return self._listener.url + self.base

    @property
    def is_listening(self) -> bool:
        return self._listener.is_open

    @property
    def fault(self) -> Fault | None:
        return self._fault

    async def start(self) -> None:
        """Listen, which also ends a fault of being down."""
        if isinstance(self._fault, Down):
            self._fault = None
        await self._listener.open()

    async def stop(self) -> None:
        await self._listener.close()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def upgrade(self, dialect: Dialect) -> None:
        """Restart as another release, on the same port."""
        self.dialect = Dialect(dialect)
        await self.restart()

    async def set_fault(self, fault: Fault) -> None:
        """Misbehave from now on in this way, and no longer in another."""
        if self.kind not in fault.befalls:
            able = " or ".join(f"a {kind}" for kind in fault.befalls)
            raise ValueError(f"Only {able} can be {fault.kind}, and {self.name} is a {self.kind}.")
        await self._change_fault(fault)

    async def clear_fault(self) -> None:
        await self._change_fault(None)

    async def _change_fault(self, fault: Fault | None) -> None:
        was_down = isinstance(self._fault, Down)
        self._fault, self._since = fault, self.world.now()
        if isinstance(fault, Down):
            await self._listener.close()
        elif was_down:
            await self._listener.open()

    def knows(self, at: float) -> float:
        """Up to when this node knows at a time what the network did."""
        return at if self._fault is None else self._fault.knows(at, self._since)

    def json(self, body: Any, status: int = 200) -> web.Response:
        return web.Response(text=self.dialect.write(body), status=status, content_type="application/json")

    def token_of(self, request: web.Request) -> str | None:
        """The token that a request carries."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return token if scheme == "Bearer" else None

    def _application(self) -> web.Application:
        app = web.Application(middlewares=[self._misbehave])
        app.on_response_prepare.append(self._date)
        for operation in self.operations():
            answer = self._guarded(operation.answer) if operation.wants_token and self._token else operation.answer
            app.router.add_route(operation.method, self.base + operation.path, answer)
        return app

    def _guarded(self, answer: Answer) -> Answer:
        good_until = expiry(self._token or "")

        async def guarded(request: web.Request) -> web.StreamResponse:
            if self.token_of(request) == self._token and self.world.wall() < good_until:
                return await answer(request)
            return self.refuse(401, self._path(request))

        return guarded

    @web.middleware
    async def _misbehave(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        path = self._path(request)
        fault = self._fault
        if fault is not None and fault.concerns(path):
            instead = await fault.answer(request, path, self.refuse)
            if instead is not None:
                return instead
        if isinstance(request.match_info.http_exception, web.HTTPNotFound):
            return self.refuse(404, path)
        response = await handler(request)
        if response.status == 200 and self.negotiates(path) and not admits_answer(request, response):
            return self.not_acceptable(response.content_type)
        return response

    def negotiates(self, path: str) -> bool:
        """Whether an answer at a path is given only to a client that takes its media type."""
        return True

    def not_acceptable(self, media_type: str) -> web.Response:
        return web.Response(status=406)

    async def _date(self, request: web.Request, response: web.StreamResponse) -> None:
        # Without a fault the server writes it: the time of this machine, whatever the clock of the world is.
        if self._fault is not None:
            response.headers["Date"] = formatdate(self._fault.date(time.time()), usegmt=True)

    def _path(self, request: web.Request) -> str:
        return request.path.removeprefix(self.base)
