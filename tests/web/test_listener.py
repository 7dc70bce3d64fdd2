"""What clients that hold connections, send half a request or read nothing can do to others: real sockets throughout."""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from aiohttp import ClientSession, web

from exporter.config.flag_types import Address
from exporter.web import connection, listener
from exporter.web.access import AccessControl
from exporter.web.server import Server
from tests.nodes import free_port

PATIENCE = 60.0
WHOLE = b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic aHVudGVyMg=="
LARGE = b"x" * 50_000_000

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Port:
    """A server, and the clients of it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.working, self.go_on, self.given_up = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.writers: list[asyncio.StreamWriter] = []

    async def connect(self, sent: bytes = b"") -> Client:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**16)
        self.writers.append(writer)
        writer.write(sent)
        return reader, writer

    async def get(self, path: str = "/-/healthy") -> int:
        async with asyncio.timeout(PATIENCE), ClientSession() as session, session.get(self.url + path) as answer:
            await answer.read()
            return answer.status

    async def until_closed(self, client: Client) -> bytes:
        """Return what was received until the server closed the connection."""
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                return await client[0].read()
        return b""

    def application(self) -> web.Application:
        async def healthy(request: web.Request) -> web.Response:
            return web.Response(text="healthy\n")

        async def work(request: web.Request) -> web.Response:
            self.working.set()
            await self.go_on.wait()
            return web.Response(text="done\n")

        async def large(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            try:
                await response.prepare(request)
                await response.write(LARGE)
            finally:
                self.given_up.set()
            return response

        application = web.Application()
        application.router.add_get("/-/healthy", healthy)
        application.router.add_get("/work", work)
        application.router.add_get("/large", large)
        application.router.add_post("/work", healthy)
        return application


async def response(client: Client) -> bytes:
    """Return the response to one request, of a connection that stays."""
    async with asyncio.timeout(PATIENCE):
        head = await client[0].readuntil(b"\r\n\r\n")
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length: "))
        return head + await client[0].readexactly(int(length.split()[1]))


Serve = Callable[..., Awaitable[Port]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    servers: list[Server] = []
    ports: list[Port] = []

    async def serve(path: Path | None = None) -> Port:
        port = Port(free_port())
        ports.append(port)
        servers.append(Server(port.application(), AccessControl.load(path), [Address("127.0.0.1", port.port)]))
        await servers[-1].start()
        return port

    yield serve
    for port in ports:
        port.go_on.set()
        for writer in port.writers:
            writer.transport.abort()
    for server in servers:
        await server.stop()


@pytest.fixture
def little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(connection, "STALLED_SECONDS", 0.2)


# Time


@pytest.mark.usefixtures("little_time")
@pytest.mark.parametrize("sent", [b"", HALF, b"G"])
async def test_a_client_that_sends_no_whole_head_is_not_waited_for(serve: Serve, sent: bytes) -> None:
    port = await serve()
    assert await port.until_closed(await port.connect(sent)) == b""
    assert await port.get() == 200


@pytest.mark.usefixtures("little_time")
async def test_a_head_that_comes_byte_by_byte_has_no_more_time(serve: Serve) -> None:
    port = await serve()
    client = await port.connect()
    async with asyncio.timeout(PATIENCE):
        with suppress(ConnectionError):
            while not client[0].at_eof():
                client[1].write(b"G")
                await client[1].drain()
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.02):
                        await client[0].read(1)


@pytest.mark.usefixtures("little_time")
async def test_nor_is_a_second_head_of_a_connection(serve: Serve) -> None:
    port = await serve()
    client = await port.connect(WHOLE)
    assert b" 200 " in await response(client)
    client[1].write(HALF)
    assert await port.until_closed(client) == b""


@pytest.mark.usefixtures("little_time")
async def test_a_connection_may_be_idle_and_a_handler_may_take_its_time(serve: Serve) -> None:
    port = await serve()
    idle, busy = await port.connect(WHOLE), await port.connect(b"GET /work HTTP/1.1\r\nHost: a\r\n\r\n")
    assert b" 200 " in await response(idle)
    await port.working.wait()
    assert await port.until_closed(await port.connect(HALF)) == b"", "as long as a head may take has passed"
    port.go_on.set()
    assert b"done" in await response(busy)
    idle[1].write(WHOLE)
    assert b" 200 " in await response(idle)


@pytest.mark.usefixtures("little_time")
async def test_a_client_that_reads_nothing_is_not_waited_for(serve: Serve) -> None:
    port = await serve()
    stalled = await port.connect(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    stalled[1].transport.pause_reading()  # type: ignore[attr-defined] # of a client it is one that reads
    async with asyncio.timeout(PATIENCE):
        await port.given_up.wait()
    assert await port.get() == 200


@pytest.mark.usefixtures("little_time")
async def test_a_body_that_nobody_reads_does_not_hold_a_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.SETTINGS, "lingering_time", 0.1)
    port = await serve()
    client = await port.connect(b"POST /work HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf")
    assert b" 200 " in await port.until_closed(client)


# Number


async def test_idle_connections_keep_nobody_out(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 8)
    port = await serve()
    busy = await port.connect(b"GET /work HTTP/1.1\r\nHost: a\r\n\r\n")
    await port.working.wait()
    used = await port.connect(WHOLE)
    assert b" 200 " in await response(used)
    held = [await port.connect(HALF if number % 2 else b"") for number in range(60)]
    assert [await port.get() for _ in range(3)] == [200] * 3
    assert await port.until_closed(held[0]) == b""
    assert await port.until_closed(used) == b"", "of the idle ones it was used the longest time ago"
    port.go_on.set()
    assert b"done" in await response(busy)
    assert [record.message for record in caplog.records if record.name == listener.__name__] == [
        "too many connections are open; an idle one is closed for each new one"
    ]


async def test_where_all_connections_work_the_next_is_closed_at_once(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 2)
    port = await serve()
    for _ in range(2):
        await port.connect(b"GET /work HTTP/1.1\r\nHost: a\r\n\r\n")
        await port.working.wait()
        port.working.clear()
    assert await port.until_closed(await port.connect()) == b""
    port.go_on.set()
    assert await port.get() == 200


async def test_handshakes_that_never_end_keep_nobody_out(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 4)
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "tls.crt")
    certificate.private_key_pem.write_to_path(tmp_path / "tls.key")
    file = tmp_path / "web.yml"
    file.write_text(yaml.safe_dump({"tls_server_config": {"cert_file": "tls.crt", "key_file": "tls.key"}}))
    port = await serve(file)
    held = [await port.connect() for _ in range(20)]
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    async with ClientSession() as session:
        async with session.get(f"https://localhost:{port.port}/-/healthy", ssl=trusting) as answer:
            assert answer.status == 200
        for client in held[:16]:
            assert await port.until_closed(client) == b""


def test_half_of_the_descriptors_are_for_other_things(monkeypatch: pytest.MonkeyPatch) -> None:
    for soft, most in ((-1, 512), (1_048_576, 512), (256, 128), (1, 1)):
        monkeypatch.setattr("resource.getrlimit", lambda _, soft=soft: (soft, soft))
        assert listener.most_connections() == most


# Descriptors

SERVER = """
import asyncio, os, sys
from aiohttp import web
from exporter.config.flag_types import Address
from exporter import log
from exporter.web import listener
from exporter.web.access import AccessControl
from exporter.web.server import Server

async def healthy(request):
    return web.Response(text="healthy")

async def main():
    application = web.Application()
    application.router.add_get("/-/healthy", healthy)
    listener.most_connections = lambda: {most}
    server = Server(application, AccessControl.load(None), [Address("127.0.0.1", {port})])
    await server.start()
    taken = []
    try:
        while {takes_all}:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    print("ready", flush=True)
    await asyncio.Event().wait()

log.set_up("info", "logfmt")
asyncio.run(main())
"""


@pytest.mark.parametrize(("most", "takes_all"), [(10_000, False), (20, True)], ids=["by clients", "by the rest"])
async def test_without_descriptors_it_still_answers_and_logs_little(
    tmp_path: Path, serve: Serve, most: int, takes_all: bool
) -> None:
    port = Port(free_port())
    script = SERVER.format(port=port.port, most=most, takes_all=takes_all)
    command = f"ulimit -n 48; exec {sys.executable} -c '{script}'"
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_shell(
            command, stdout=asyncio.subprocess.PIPE, stderr=file, env={**os.environ}
        )
    try:
        assert process.stdout
        async with asyncio.timeout(PATIENCE):
            assert await process.stdout.readline() == b"ready\n", log.read_text()
        for _ in range(5):
            for _ in range(40):
                await port.connect(HALF)
            assert await port.get() == 200
    finally:
        for writer in port.writers:
            writer.transport.abort()
        process.kill()
        await process.communicate()
    assert len(log.read_text().splitlines()) < 10, log.read_text()
    assert "Traceback" not in log.read_text()


# Malformed requests


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET / HTTP/1.1\r\nAuthorization hunter2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"hunter2" * 5000 + b"\r\n\r\n",
        b"hunter2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: hunter2\r\n\r\n",
    ],
    ids=["TLS", "header", "length", "words", "number"],
)
async def test_malformed_requests_are_one_line_and_answered_without_a_word_of_what_we_are(
    serve: Serve, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    port = await serve()
    for _ in range(5):
        answer = await port.until_closed(await port.connect(sent))
        if answer:  # what is left unread has the connection reset
            assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.0 400 "))
            assert b"Server: canton-exporter\r\n" in answer
            assert b"X-Content-Type-Options: nosniff\r\n" in answer
            assert b"hunter2" not in answer
    [record] = caplog.records
    assert (record.levelname, record.message) == ("WARNING", "a malformed request was refused")
    fields: dict[str, Any] = vars(record)
    assert fields["address"] == "127.0.0.1"
    assert "hunter2" not in str(fields)
    assert record.exc_info is None
    assert await port.get() == 200
