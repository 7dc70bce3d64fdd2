"""A node for tests: real HTTP on loopback that answers what it was told, and nothing else."""

import asyncio
import json
import secrets
import socket
import ssl
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self
from urllib.parse import parse_qsl

import trustme
from aiohttp import web

NO_ROUTE = {"error": "The requested resource could not be found: ..."}
"""What scan and validator say of a path that they do not have."""
DATE = "Sat, 01 Aug 2026 12:00:00 GMT"
"""What a node says the time is, unless told: the true time would change from one answer to the next."""
Key = tuple[str, str, tuple[tuple[str, str], ...], str]


def free_port() -> int:
    """Return a port of loopback that nobody listens on.

    It is below those a kernel gives to whoever asks for any: another test would be given it before a command listens.
    """
    while True:
        port = 20000 + secrets.randbelow(12768)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def server_tls(certificate: trustme.LeafCert) -> ssl.SSLContext:
    """Return what a node needs to serve TLS with a certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)
    return context


@dataclass
class Told:
    """One answer, and how often it was asked for."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    asked: int = 0


@dataclass
class Socket:
    """What a websocket answers to one message, and how often it was opened."""

    asked: str
    messages: tuple[object, ...]
    code: int
    token: str | None
    opened: int = 0


@dataclass
class TestNode:
    """Answers the exact method, path, query and JSON body it was told; anything else is a fault of the test."""

    __test__ = False

    told: dict[Key, Told] = field(default_factory=dict)
    sockets: dict[str, Socket] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    requests: list[web.Request] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set as soon as anybody asked anything."""
    instead: Told | None = None
    """When set, the answer to everything."""
    lenient: bool = False
    """Whether answers that are never asked for are no fault."""
    silent: bool = False
    """Whether it takes every question and never answers."""
    url: str = ""
    tls: ssl.SSLContext | None = None

    def get(self, path: str, asked: object = None, /, **answer: Any) -> None:
        """Tell the answer to a GET, with a body if any: `answers` (JSON), or `status`, `body` (bytes), `headers`."""
        self._tell("GET", path, "" if asked is None else json.dumps(asked, sort_keys=True), made(**answer))

    def post(self, path: str, body: object, /, **answer: Any) -> None:
        """Tell the answer to a POST with a JSON body; otherwise as `get`. Telling again replaces."""
        self._tell("POST", path, json.dumps(body, sort_keys=True), made(**answer))

    def socket(
        self, path: str, asked: object, /, *messages: object, code: int = 1000, token: str | None = None
    ) -> None:
        """Tell what a websocket answers to its first message; then it is closed. With a token, no other opens it."""
        self.sockets[path] = Socket(json.dumps(asked, sort_keys=True), messages, code, token)

    def answer_anything(self, path: str, /, **answer: Any) -> None:
        """Tell the answer to whatever is asked of a path, for what a clock is part of."""
        self._tell("*", path, "", made(**answer))

    def answer_everything(self, **answer: Any) -> None:
        self.instead = made(**answer)

    def _tell(self, method: str, path: str, body: str, told: Told) -> None:
        route, _, query = path.partition("?")
        self.told[(method, route, tuple(sorted(parse_qsl(query))), body)] = told

    async def _converse(self, request: web.Request, told: Socket) -> web.StreamResponse:
        if told.token and request.headers.get("Authorization") != f"Bearer {told.token}":
            return web.Response(status=401)
        told.opened += 1
        socket = web.WebSocketResponse(protocols=("daml.ws.auth",))
        await socket.prepare(request)
        asked = json.dumps(await socket.receive_json(), sort_keys=True)
        if asked != told.asked:
            self.unexpected.append(f"websocket {request.raw_path} {asked}")
        for message in told.messages:
            await socket.send_json(message)
        await socket.close(code=told.code)
        return socket

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.asked.set()
        if self.silent:
            await asyncio.sleep(3600)
        if not self.instead and "Upgrade" in request.headers and request.path in self.sockets:
            return await self._converse(request, self.sockets[request.path])
        text = await request.text()
        body = json.dumps(json.loads(text), sort_keys=True) if text else ""
        key = (request.method, request.raw_path.partition("?")[0], tuple(sorted(request.query.items())), body)
        told = self.instead or self.told.get(key) or self.told.get(("*", key[1], (), ""))
        if told is None:
            self.unexpected.append(f"{request.method} {request.raw_path} {body}")
            return web.Response(status=599, text="nobody told me")
        told.asked += 1
        return web.Response(status=told.status, body=told.body, headers={"Date": DATE} | dict(told.headers))

    async def start(self, tls: ssl.SSLContext | None = None) -> "TestNode":
        self.tls = tls
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    def renew(self, certificate: trustme.LeafCert) -> None:
        """Show another certificate from the next handshake on, without disturbing the connections there are."""
        assert self.tls is not None
        certificate.configure_cert(self.tls)

    async def stop(self) -> None:
        await self._runner.cleanup()

    def check(self) -> None:
        """Fail if anything else was asked, or anything told was never asked for."""
        assert not self.unexpected, f"asked for what nobody told: {self.unexpected}"
        never: list[object] = [key for key, told in self.told.items() if not told.asked]
        never += [path for path, told in self.sockets.items() if not told.opened]
        assert not never or self.lenient or self.instead or self.silent, f"never asked for: {never}"


def made(
    answers: object = None, status: int = 200, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> Told:
    if body is None:
        return Told(status, json.dumps(answers).encode(), {"Content-Type": "application/json", **(headers or {})})
    return Told(status, body, headers or {})


class RawNode:
    """Says exactly these bytes to whoever asks and hangs up, or stays on the line: for what no web server would say.

    `async with RawNode(b"...") as node` listens while the block lasts. What it says is taken piece by piece, so an
    endless iterator is an endless answer. With `turns`, each who asks is told the next of them and nothing else.
    """

    def __init__(
        self, *pieces: bytes, endless: Iterable[bytes] = (), stays: bool = False, turns: Iterable[bytes] | None = None
    ) -> None:
        self._pieces, self._endless, self._stays = pieces, endless, stays
        self._turns = None if turns is None else iter(turns)
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self.asked = asyncio.Event()
        """Set as soon as anybody asked anything."""
        self.sent = 0
        """How many bytes were taken from it."""
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()  # whatever was not taken yet
        await asyncio.gather(*self._tasks)
        await self._server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            self._tasks.append(task)
        self._writers.append(writer)
        with suppress(ConnectionError):
            if not await reader.read(65536):
                return
            self.asked.set()
            turn = (next(self._turns),) if self._turns is not None else chain(self._pieces, self._endless)
            for piece in turn:
                if writer.is_closing():
                    return
                writer.write(piece)
                await writer.drain()
                self.sent += len(piece)
            if self._stays:
                await reader.read()
        writer.close()
