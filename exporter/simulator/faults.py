"""The ways in which a node can misbehave, and what each of them answers to a request."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from aiohttp import web

from exporter.simulator.facts import DAY

PAGE = "<!DOCTYPE html><html><head><title>{0}</title></head><body><h1>{0}</h1><hr>load balancer</body></html>"
STATUSES = range(200, 600)

# Before that, what a ledger has in its beginning is pruned.
LATEST_SECONDS = 18_000

Refuse = Callable[[int, str], web.Response]


@dataclass(frozen=True)
class Fault:
    kind: ClassVar[str]
    takes: ClassVar[str] = "nothing else"
    befalls: ClassVar[tuple[str, ...]] = ("scan", "ledger", "validator")

    def __post_init__(self) -> None:
        if not self.is_valid():
            raise ValueError(self.allowed())

    @classmethod
    def allowed(cls) -> str:
        return f'A fault of kind "{cls.kind}" takes {cls.takes}.'

    def is_valid(self) -> bool:
        return True

    def concerns(self, path: str) -> bool:
        """Whether it changes what is answered at a path, which is counted from the node's base."""
        return False

    def knows(self, at: float, since: float) -> float:
        """Up to when a node knows at a time what the network did, if it has misbehaved since some time."""
        return at

    def date(self, now: float) -> float:
        """What time it is by the clock of the node."""
        return now

    async def answer(self, request: web.Request, path: str, refuse: Refuse) -> web.StreamResponse | None:
        """The answer in place of the node's; None lets the node answer. `refuse` is how this node says a status."""
        return None


@dataclass(frozen=True)
class Frozen(Fault):
    """An end and record times that stand still while the node answers everything; the network goes on."""

    kind = "frozen"
    befalls: ClassVar[tuple[str, ...]] = ("ledger", "scan")

    def knows(self, at: float, since: float) -> float:
        return min(at, since)


@dataclass(frozen=True)
class Disconnected(Frozen):
    """A participant connected to no synchronizer, so that it hears nothing, while it answers everything."""

    kind = "disconnected"
    befalls = ("ledger",)


@dataclass(frozen=True)
class Quiet(Fault):
    """A healthy participant on which nobody does anything: what it hears of comes only now and then."""

    kind = "quiet"
    befalls = ("ledger",)
    takes = '"every" (a number from 0.1 to 86400, the seconds between what it hears of) and nothing else'
    every: float

    def is_valid(self) -> bool:
        return is_number(self.every) and 0.1 <= self.every <= DAY

    def knows(self, at: float, since: float) -> float:
        return at if at < since else since + (at - since) // self.every * self.every


@dataclass(frozen=True)
class Late(Fault):
    """A node that processes all there is, but behind: what it knows is that of a while ago, and moves."""

    kind = "late"
    befalls: ClassVar[tuple[str, ...]] = ("ledger", "scan")
    takes = '"seconds" (a number from 0 to 18000) and nothing else'
    seconds: float

    def is_valid(self) -> bool:
        return is_number(self.seconds) and 0 <= self.seconds <= LATEST_SECONDS

    def knows(self, at: float, since: float) -> float:
        return at - self.seconds


@dataclass(frozen=True)
class Skew(Fault):
    """A clock that is wrong by some seconds, as the Date of each answer tells; otherwise all is right."""

    kind = "skew"
    takes = '"seconds" (a number from -86400 to 86400) and nothing else'
    seconds: float

    def is_valid(self) -> bool:
        return is_number(self.seconds) and -DAY <= self.seconds <= DAY

    def date(self, now: float) -> float:
        return now + self.seconds


@dataclass(frozen=True)
class Down(Fault):
    """A closed listener: connections are refused."""

    kind = "down"


@dataclass(frozen=True)
class AtPath(Fault):
    """A fault of the paths that begin with `path`: of all, unless told."""

    takes = 'optionally "path" (a prefix that begins with "/") and nothing else'
    path: str = field(default="/", kw_only=True)

    def is_valid(self) -> bool:
        return isinstance(self.path, str) and self.path.startswith("/")

    def concerns(self, path: str) -> bool:
        return path.startswith(self.path)


@dataclass(frozen=True)
class Status(AtPath):
    """A status, with the body that the node would send with it."""

    kind = "status"
    takes = f'"status" (a whole number from 200 to 599), {AtPath.takes}'
    status: int

    def is_valid(self) -> bool:
        return super().is_valid() and type(self.status) is int and self.status in STATUSES

    async def answer(self, request: web.Request, path: str, refuse: Refuse) -> web.Response:
        return refuse(self.status, path)


@dataclass(frozen=True)
class Delay(AtPath):
    """The right answer, but late."""

    kind = "delay"
    takes = f'"seconds" (a number from 0 to 3600), {AtPath.takes}'
    seconds: float

    def is_valid(self) -> bool:
        return super().is_valid() and is_number(self.seconds) and 0 <= self.seconds <= 3600

    async def answer(self, request: web.Request, path: str, refuse: Refuse) -> None:
        await asyncio.sleep(self.seconds)


@dataclass(frozen=True)
class Cut(AtPath):
    """A connection that closes in the middle of a body."""

    kind = "cut"

    async def answer(self, request: web.Request, path: str, refuse: Refuse) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_type = "application/json"
        response.content_length = 64
        await response.prepare(request)
        await response.write(b'{"offset": 184000, "synchronizer')
        if request.transport is not None:
            request.transport.close()
        return response


@dataclass(frozen=True)
class Garbage(AtPath):
    """A 200 that calls itself JSON and is not."""

    kind = "garbage"

    async def answer(self, request: web.Request, path: str, refuse: Refuse) -> web.Response:
        return web.Response(body=b'\x00\xff{"offset": \xfe', content_type="application/json")


@dataclass(frozen=True)
class Html(AtPath):
    """A page that a load balancer shows in place of the node."""

    kind = "html"
    takes = f'optionally "status" (a whole number from 200 to 599), {AtPath.takes}'
    status: int = 404

    def is_valid(self) -> bool:
        return super().is_valid() and type(self.status) is int and self.status in STATUSES

    async def answer(self, request: web.Request, path: str, refuse: Refuse) -> web.Response:
        title = "404 Not Found" if self.status == 404 else "Welcome"
        return web.Response(status=self.status, text=PAGE.format(title), content_type="text/html")


ALL = (Status, Delay, Cut, Garbage, Html, Frozen, Late, Quiet, Disconnected, Skew, Down)
KINDS: dict[str, type[Fault]] = {kind.kind: kind for kind in ALL}


def is_number(value: Any) -> bool:
    return type(value) in (int, float)


def read_fault(given: Any) -> Fault:
    """The fault that a JSON object tells; a ValueError says in one sentence what is allowed."""
    kind = given.get("kind") if isinstance(given, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f'A fault is a JSON object whose "kind" is one of {", ".join(KINDS)}.')
    try:
        return KINDS[kind](**{key: value for key, value in given.items() if key != "kind"})
    except TypeError as error:  # a field missing, or one too many
        raise ValueError(KINDS[kind].allowed()) from error


def show_fault(fault: Fault) -> dict[str, Any]:
    """The JSON object that tells the fault."""
    return {"kind": fault.kind, **asdict(fault)}
