"""/config and /-/reload: what is in force, and how it is put in force without a restart."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import yaml
from aiohttp import web

from exporter.config.loader import Settings
from exporter.config.models import public
from exporter.errors import WrongConfiguration
from exporter.exposition.page_cache import Pages

Reload = Callable[[], Awaitable[None]]
"""Reads the configuration anew and puts it in force. Raises WrongConfiguration, and then all is as it was."""


@dataclass
class Lifecycle:
    """The two handlers."""

    settings: Callable[[], Settings]
    read_again: Reload | None
    """None in the demo, whose settings come from no file."""
    pages: Pages
    _shown: Settings | None = None
    _changes: int = 0

    async def show(self, request: web.Request) -> web.Response:
        body = await self.pages.get_made(
            "/config", self._change, lambda: partial(write, self.settings()), oldest_seconds=math.inf
        )
        headers = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
        return web.Response(body=body, headers=headers)

    async def reload(self, request: web.Request) -> web.Response:
        if self.read_again is None:
            raise web.HTTPForbidden(text="the demo has no configuration file, so there is nothing to reload\n")
        try:
            await self.read_again()
        except WrongConfiguration as error:
            text = "\n".join(("the new configuration has errors; the old one stays in use:", *error.errors))
            raise web.HTTPInternalServerError(text=f"{text}\n") from error
        return web.Response(text="the configuration was read again\n")

    def _change(self) -> int:
        """Return a number that changes with the settings: to compare thousands of targets would take long."""
        if (settings := self.settings()) is not self._shown:
            self._shown = settings
            self._changes += 1
        return self._changes


def write(settings: Settings) -> bytes:
    """Write the settings as YAML, which takes seconds for thousands of targets."""
    return yaml.safe_dump(masked(settings), sort_keys=False, allow_unicode=True).encode()


def masked(settings: Settings) -> dict[str, Any]:
    """Return settings as they could be written, with every default, and without secrets."""
    targets = {
        name: target.model_dump(mode="json", exclude_none=True) | ({"url": public(target.url)} if target.url else {})
        for name, target in settings.targets.items()
    }
    return {
        "party_labels": settings.party_labels,
        "aliases": dict(settings.aliases),
        "budget": settings.budget.model_dump(mode="json"),
        "targets": targets,
    }
