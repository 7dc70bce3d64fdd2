"""Listens on every address, and serves what the routes lead to."""

import logging
import os
import ssl
from collections.abc import Sequence

from aiohttp import web

from exporter.config.flag_types import Address
from exporter.errors import WrongConfiguration
from exporter.web.access import AccessControl
from exporter.web.listener import Listener

log = logging.getLogger(__name__)


class Server:
    """An application behind its access control, on some addresses."""

    def __init__(self, application: web.Application, access: AccessControl, addresses: Sequence[Address]) -> None:
        access.guard(application)
        # A scraper that went away must not go on costing; one that reads slowly must not hold up the end.
        self._runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=1.0)
        self._listener: Listener | None = None
        self._access = access
        self._addresses = addresses

    async def start(self) -> None:
        """Listen. Raises WrongConfiguration if an address cannot be had."""
        await self._runner.setup()
        assert self._runner.server is not None, "it is set up"  # noqa: S101 - for the type checker
        self._listener = Listener(self._runner.server)
        for address in self._addresses:
            await listen(self._listener, address, self._access.ssl_context())

    async def stop(self) -> None:
        """Stop, however far it was started."""
        if self._listener:
            await self._listener.close()
        await self._runner.cleanup()


async def listen(listener: Listener, address: Address, tls: ssl.SSLContext | None) -> None:
    try:
        await listener.listen(address, tls)
    except (OSError, UnicodeError) as error:  # an invalid host name is the latter
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number and number > 0 else str(error)
        raise WrongConfiguration([f"cannot listen on {address}: {reason}; set --web.listen-address"]) from error
    log.info("listening", extra={"address": str(address)})
