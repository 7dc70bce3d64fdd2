"""An HTTP server on loopback that can be closed and opened again, on the same port each time."""

import asyncio
from collections.abc import Callable

from aiohttp import web

HOST = "127.0.0.1"

# Requests may be waiting on purpose when a listener closes, and nobody is served better by letting them end.
SHUTDOWN_SECONDS = 0.05


class Listener:
    def __init__(self, build: Callable[[], web.Application], port: int) -> None:
        self._build = build
        self._port = port
        self._runner: web.AppRunner | None = None
        self._changing = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        return self._runner is not None

    @property
    def url(self) -> str:
        if not self._port:
            raise RuntimeError("The port is not known before the first start.")
        return f"http://{HOST}:{self._port}"

    async def open(self) -> None:
        async with self._changing:
            if self._runner is not None:
                return
            # Without cancellation, a delayed answer would outlive the client that has gone.
            runner = web.AppRunner(
                self._build(), access_log=None, handler_cancellation=True, shutdown_timeout=SHUTDOWN_SECONDS
            )
            try:
                await runner.setup()
                await web.TCPSite(runner, HOST, self._port).start()
            except BaseException:
                await runner.cleanup()
                raise
            self._port = runner.addresses[0][1]
            self._runner = runner

    async def close(self) -> None:
        async with self._changing:
            if self._runner is not None:
                await self._runner.cleanup()
                self._runner = None
