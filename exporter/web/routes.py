"""The routes, below the prefix the operator chose."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Handler

from exporter.web.headers import add_headers
from exporter.web.lifecycle import Lifecycle
from exporter.web.probe import Probe
from exporter.web.same_site import SameSite
from exporter.web.scrape import Scrape
from exporter.web.status_page import StatusPage

MOST_OVERDUE_SECONDS = 60.0
"""How late the earliest run may be before only a restart helps."""


def make_application(
    scrape: Scrape,
    status_page: StatusPage,
    lifecycle: Lifecycle,
    probe: Probe,
    is_ready: Callable[[], bool],
    *,
    same_site: SameSite,
    overdue: Callable[[], Awaitable[float]],
    prefix: str,
    telemetry_path: str,
    max_requests: int,
) -> web.Application:
    """Return the application. /-/healthy does not look at nodes: only whether runs that are due are started."""

    async def healthy(request: web.Request) -> web.Response:
        if (seconds := await overdue()) > MOST_OVERDUE_SECONDS:
            text = f"no collector has been started for {seconds:.0f} s although one was due; restart the exporter\n"
            raise web.HTTPServiceUnavailable(text=text)
        return web.Response(text="healthy\n")

    async def ready(request: web.Request) -> web.Response:
        if not is_ready():
            raise web.HTTPServiceUnavailable(text="not every collector has run once yet\n")
        return web.Response(text="ready\n")

    async def to_prefix(request: web.Request) -> web.Response:
        raise web.HTTPFound(f"{prefix}/")

    async def prepare(request: web.Request, response: web.StreamResponse) -> None:
        add_headers(response)

    application = web.Application()
    application.on_response_prepare.append(prepare)
    open_paths = (telemetry_path, "/probe", "/-/healthy", "/-/ready")
    same_site.guard(application, {f"{prefix}{path}" for path in open_paths})
    application.router.add_get(f"{prefix}{telemetry_path}", at_most(max_requests, scrape.answer))
    application.router.add_get(f"{prefix}/-/healthy", healthy)
    application.router.add_get(f"{prefix}/-/ready", ready)
    application.router.add_get(f"{prefix}/probe", at_most(max_requests, probe.answer))
    application.router.add_get(f"{prefix}/config", at_most(max_requests, lifecycle.show))
    reload = at_most(max_requests, lifecycle.reload)
    for method in ("POST", "PUT"):
        application.router.add_route(method, f"{prefix}/-/reload", reload)
    if telemetry_path != "/":
        application.router.add_get(f"{prefix}/", at_most(max_requests, status_page.answer))
    if prefix:
        application.router.add_get("/", to_prefix)
        application.router.add_get(prefix, to_prefix)
    return application


def at_most(count: int, handler: Handler) -> Handler:
    """Return a handler that turns requests away while `count` of them are under way."""
    under_way = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal under_way
        if under_way >= count:
            raise web.HTTPServiceUnavailable(text=f"{count} requests of this kind are already being answered\n")
        under_way += 1
        try:
            return await handler(request)
        finally:
            under_way -= 1

    return answer
