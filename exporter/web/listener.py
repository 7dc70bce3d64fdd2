"""Accepts connections: never more at once than there is room for, and also when descriptors have run out.

asyncio's own way has no limit, and logs a hundred tracebacks for each connection that it has no descriptor for.
"""

import asyncio
import errno
import logging
import os
import resource
import socket
import ssl
from contextlib import suppress
from functools import partial

from aiohttp import web

from exporter.config.flag_types import Address
from exporter.web.connection import Connection
from exporter.web.log_throttle import LogThrottle

log = logging.getLogger(__name__)

MOST_CONNECTIONS = 512
RESERVE = 8
"""How many descriptors are kept for connections, for when those to nodes have taken all others."""
HANDSHAKE_SECONDS = 10.0
BACKLOG = 1024
MOST_AT_ONCE = 32
"""How many connections are accepted before the event loop does something else."""
PAUSE_SECONDS = 0.5
"""How long nothing is accepted where there is no descriptor and nothing to close."""
BREATH_SECONDS = 0.01
"""How long nothing is accepted after connections were closed, so that the younger ones can send their heads."""
EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
NOT_HERE = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}


def most_connections() -> int:
    """Return how many connections there may be: half of the descriptors are for nodes, files and logs."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(MOST_CONNECTIONS, soft // 2))


class Listener:
    """The listening sockets and their connections.

    Where there are too many, the one that was idle for the longest time makes room: strangers who hold connections
    keep nobody out.
    """

    def __init__(self, server: web.Server) -> None:
        self._server = server
        self._most = most_connections()
        self._sockets: list[socket.socket] = []
        self._connections: dict[Connection, None] = {}
        """Those of the oldest requests first."""
        self._handshakes: dict[asyncio.Task[None], None] = {}
        self._reserve: list[int] = []
        self._throttle = LogThrottle(log)
        self._loop = asyncio.get_running_loop()

    async def listen(self, address: Address, tls: ssl.SSLContext | None) -> None:
        """Accept connections on an address. Raises OSError, or UnicodeError for a name that is none."""
        for each in await bind(address):
            self._sockets.append(each)
            self._loop.add_reader(each, self._accept, each, tls)
        self._fill_reserve()

    async def close(self) -> None:
        """Accept no more; the connections go on."""
        for each in self._sockets:
            self._loop.remove_reader(each)
            each.close()
        self._sockets.clear()
        while self._reserve:
            os.close(self._reserve.pop())
        for task in self._handshakes:
            task.cancel()
        await asyncio.gather(*self._handshakes, return_exceptions=True)

    # What connections report

    def opened(self, connection: Connection) -> None:
        self._connections[connection] = None

    def used(self, connection: Connection) -> None:
        if connection in self._connections:
            del self._connections[connection]
            self._connections[connection] = None

    def closed(self, connection: Connection) -> None:
        self._connections.pop(connection, None)
        self._loop.call_soon(self._fill_reserve)  # its descriptor is free by then

    def malformed(self, address: str | None, error: str) -> None:
        self._throttle.warn("a malformed request was refused", address=address, error=error)

    # Accepting

    def _accept(self, listening: socket.socket, tls: ssl.SSLContext | None) -> None:
        for _ in range(MOST_AT_ONCE):
            try:
                accepted, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._throttle.warn("a connection could not be accepted", error=os.strerror(error.errno or 0))
                if error.errno not in EXHAUSTED:
                    return
                if not self._reserve:
                    self._pause(listening, tls, BREATH_SECONDS if self._evict_half() else PAUSE_SECONDS)
                    return
                os.close(self._reserve.pop())
                continue
            accepted.setblocking(False)
            if len(self._connections) + len(self._handshakes) >= self._most and not self._make_room(address[0]):
                accepted.close()
                continue
            task = self._loop.create_task(self._begin(accepted, tls))
            self._handshakes[task] = None
            task.add_done_callback(partial(self._begun, accepted))

    async def _begin(self, accepted: socket.socket, tls: ssl.SSLContext | None) -> None:
        """Hand an accepted connection to aiohttp, after the handshake if there is one."""
        timeout = HANDSHAKE_SECONDS if tls else None
        # A client that speaks no TLS, has no certificate or goes away is its own affair, as it was for asyncio.
        with suppress(OSError):
            await self._loop.connect_accepted_socket(
                lambda: Connection(self._server, self), accepted, ssl=tls, ssl_handshake_timeout=timeout
            )

    def _begun(self, accepted: socket.socket, task: asyncio.Task[None]) -> None:
        self._handshakes.pop(task, None)
        if task.cancelled():  # perhaps before its first step, when nobody else has the socket
            accepted.close()
            self._fill_reserve()

    def _make_room(self, address: str) -> bool:
        self._throttle.warn(
            "too many connections are open; an idle one is closed for each new one", most=self._most, address=address
        )
        return self._evict()

    def _evict(self) -> bool:
        """End the connection that is missed least; return whether there was one that does not do any work."""
        connections = self._connections
        found = next((each for each in connections if each.is_idle), None)
        if found is None and self._handshakes:
            oldest = next(iter(self._handshakes))
            del self._handshakes[oldest]
            oldest.cancel()
            return True
        found = found or next((each for each in connections if each.writing_paused), None)
        if found is None:
            return False
        del connections[found]
        found.drop()
        return True

    def _evict_half(self) -> bool:
        return sum(self._evict() for _ in range(len(self._connections) // 2 + 1)) > 0

    def _pause(self, listening: socket.socket, tls: ssl.SSLContext | None, seconds: float) -> None:
        self._loop.remove_reader(listening)

        def go_on() -> None:
            if listening in self._sockets:
                self._loop.add_reader(listening, self._accept, listening, tls)

        self._loop.call_later(seconds, go_on)

    def _fill_reserve(self) -> None:
        with suppress(OSError):
            while self._sockets and len(self._reserve) < RESERVE:
                self._reserve.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))


async def bind(address: Address) -> list[socket.socket]:
    """Return sockets that listen on each address of a host; one that this machine does not have is left out."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    for family, place in dict.fromkeys((family, place) for family, _, _, _, place in found):
        try:
            sockets.append(socket.create_server(place, family=family, backlog=BACKLOG))
        except OSError as error:
            missing = error
            if error.errno not in NOT_HERE:
                break
    if missing and (not sockets or missing.errno not in NOT_HERE):
        for each in sockets:
            each.close()
        raise missing
    for each in sockets:
        each.setblocking(False)
    return sockets
