"""/config and /-/reload: what is in force, and how it is put in force without a restart."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import yaml
from aiohttp import web

from exporter.config.loader import Settings
from exporter.config.models import public
from exporter.errors import WrongConfiguration

Reload = Callable[[], Awaitable[None]]
"""Reads the configuration anew and puts it in force. Raises WrongConfiguration, and then all is as it was."""


@dataclass
class Lifecycle:
    """The two handlers."""

    settings: Callable[[], Settings]
    read_again: Reload | None
    """None in the demo, whose settings come from no file."""

    async def show(self, request: web.Request) -> web.Response:
        text = yaml.safe_dump(masked(self.settings()), sort_keys=False, allow_unicode=True)
        return web.Response(text=text, headers={"Cache-Control": "no-store"})

    async def reload(self, request: web.Request) -> web.Response:
        if self.read_again is None:
            raise web.HTTPForbidden(text="the demo has no configuration file, so there is nothing to reload\n")
        try:
            await self.read_again()
        except WrongConfiguration as error:
            text = "\n".join(("the new configuration has errors; the old one stays in use:", *error.errors))
            raise web.HTTPInternalServerError(text=f"{text}\n") from error
        return web.Response(text="the configuration was read again\n")


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
