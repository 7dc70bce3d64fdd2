"""The routes, below the prefix the operator chose."""

from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler

from exporter.web.lifecycle import Control
from exporter.web.probe import Probe
from exporter.web.scrape import Scrape
from exporter.web.status_page import Landing


def make_site(
    scrape: Scrape,
    landing: Landing,
    control: Control,
    probe: Probe,
    is_ready: Callable[[], bool],
    *,
    prefix: str,
    telemetry_path: str,
    most_requests: int,
) -> web.Application:
    """Return the application. /-/healthy looks at nothing: it answers as long as the event loop runs."""

    async def healthy(request: web.Request) -> web.Response:
        return web.Response(text="healthy\n")

    async def ready(request: web.Request) -> web.Response:
        if not is_ready():
            raise web.HTTPServiceUnavailable(text="the first round of runs has not ended yet\n")
        return web.Response(text="ready\n")

    async def to_prefix(request: web.Request) -> web.Response:
        raise web.HTTPFound(f"{prefix}/")

    async def name_server(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Server"] = "canton-exporter"  # aiohttp would tell its version, and Python's

    site = web.Application()
    site.on_response_prepare.append(name_server)
    site.router.add_get(f"{prefix}{telemetry_path}", at_most(most_requests, scrape.answer))
    site.router.add_get(f"{prefix}/-/healthy", healthy)
    site.router.add_get(f"{prefix}/-/ready", ready)
    site.router.add_get(f"{prefix}/probe", at_most(most_requests, probe.answer))
    site.router.add_get(f"{prefix}/config", control.show)
    for method in ("POST", "PUT"):
        site.router.add_route(method, f"{prefix}/-/reload", control.put_in_force)
    if telemetry_path != "/":
        site.router.add_get(f"{prefix}/", landing.answer)
    if prefix:
        site.router.add_get("/", to_prefix)
        site.router.add_get(prefix, to_prefix)
    return site


def at_most(count: int, handler: Handler) -> Handler:
    """Return a handler that turns requests away while `count` of them are under way."""
    under_way = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal under_way
        if under_way >= count:
            raise web.HTTPServiceUnavailable(text=f"{count} requests like this are under way already\n")
        under_way += 1
        try:
            return await handler(request)
        finally:
            under_way -= 1

    return answer
