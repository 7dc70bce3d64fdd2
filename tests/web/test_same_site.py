"""What a page of another site may do, by real requests and in a real browser; and that nobody else notices."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.typedefs import Handler

from exporter.web.same_site import SameSite

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPEN = {"/metrics", "/probe", "/-/healthy", "/-/ready"}
FOREIGN = "rebound.example:10066"
BROWSER_SECONDS = 120.0
"""A browser takes two seconds to start, and on a busy machine twenty and more."""


class Site:
    """An application behind the check, and what it answered."""

    def __init__(self, url: SplitResult | None, hosts: Sequence[str], *, guarded: bool) -> None:
        self.answered: list[tuple[str, str, int]] = []
        application = web.Application(middlewares=[self._note])
        for path in (*OPEN, "/", "/config", "/api/targets"):
            application.router.add_get(path, self._answer)
        for path in ("/-/reload", "/metrics"):
            application.router.add_post(path, self._answer)
            application.router.add_put(path, self._answer)
        SameSite(url, hosts, lambda: guarded).guard(application, OPEN)
        self.client: TestClient[Any, Any] = TestClient(TestServer(application))

    async def status(self, method: str, path: str, host: str | None = None, **headers: str) -> int:
        named = {"Host": host} if host is not None else {}
        answer = await self.client.request(method, path, headers={**headers, **named})
        return answer.status

    @property
    def port(self) -> int:
        return self.client.port or 0

    @web.middleware
    async def _note(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await handler(request)
        except web.HTTPException as error:
            self.answered.append((request.method, request.path, error.status))
            raise
        self.answered.append((request.method, request.path, response.status))
        return response

    async def _answer(self, request: web.Request) -> web.Response:
        return web.Response(text="what the exporter knows")


Open = Callable[..., Awaitable[Site]]


@pytest.fixture
async def open_site() -> AsyncIterator[Open]:
    sites: list[Site] = []

    async def open_site(url: str = "", hosts: Sequence[str] = (), *, guarded: bool = False) -> Site:
        sites.append(Site(urlsplit(url) if url else None, hosts, guarded=guarded))
        await sites[-1].client.start_server()
        return sites[-1]

    yield open_site
    for site in sites:
        await site.client.close()


# Names


@pytest.mark.parametrize("path", sorted(OPEN))
@pytest.mark.parametrize("host", ["", "rebound.example", "exporter.monitoring.example:80", "10.1.2.3:10066", "a b"])
async def test_scrapers_and_probes_may_use_any_name(open_site: Open, path: str, host: str) -> None:
    site = await open_site()
    assert await site.status("GET", path, host) == 200
    assert await site.status("HEAD", path, host) == 200


@pytest.mark.parametrize("path", ["/", "/config", "/api/targets"])
@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost",
        "LOCALHOST:10066",
        "localhost.",
        "127.0.0.1",
        "127.0.0.1:10066",
        "10.244.0.17:10066",
        "[::1]",
        "[::1]:10066",
        "[2001:DB8::17]:10066",
        "exporter",
        "canton_exporter:10066",
        "exporter.monitoring.svc",
        "exporter.monitoring.svc:10066",
        "0.exporter.monitoring.svc.cluster.local:10066",
        "tools.example",
        "Tools.Example.:443",
        "extra.example:8443",
        "a.b.lab.example",
    ],
)
async def test_pages_are_shown_under_names_that_only_this_network_knows_or_that_are_allowed(
    open_site: Open, path: str, host: str
) -> None:
    site = await open_site("https://tools.example/canton", ["extra.example", "*.lab.example"])
    assert await site.status("GET", path, host) == 200
    assert await site.status("POST", "/-/reload", host) == 200


@pytest.mark.parametrize("path", ["/", "/config", "/api/targets"])
@pytest.mark.parametrize(
    "host",
    [
        "rebound.example",
        FOREIGN,
        "exporter.svc.rebound.example",
        "exporter.monitoring.svc.cluster.local.rebound.example",
        "tools.example.rebound.example",
        "nottools.example",
        "lab.example",
        "notlab.example",
        "localhost.rebound.example",
        "127.0.0.1.rebound.example",
        "[::1].rebound.example",
        "user@127.0.0.1",
        "127.0.0.1:port",
        "127.0.0.1, rebound.example",
        "[rebound.example]",
    ],
)
async def test_no_page_is_shown_under_another_name(open_site: Open, path: str, host: str) -> None:
    site = await open_site("https://tools.example/canton", ["extra.example", "*.lab.example"])
    assert await site.status("GET", path, host) == 421
    assert await site.status("POST", "/-/reload", host) == 421
    assert await site.status("PUT", "/-/reload", host) == 421
    assert await site.status("POST", "/metrics", host) == 421


async def test_the_refusal_says_which_flag_allows_the_name(open_site: Open) -> None:
    site = await open_site()
    answer = await site.client.get("/config", headers={"Host": "Tools.Example:80"})
    assert await answer.text() == (
        "tools.example is not a known name of this exporter; to use it under this name, "
        "start it with --web.allowed-host=tools.example\n"
    )
    answer = await site.client.get("/config", headers={"Host": "<script>/"})
    assert await answer.text() == (
        "the Host header is not a known name of this exporter; to use it under this name, "
        "start it with --web.allowed-host=NAME\n"
    )


async def test_a_port_that_users_or_certificates_guard_may_have_any_name(open_site: Open) -> None:
    site = await open_site(guarded=True)
    assert await site.status("GET", "/config", FOREIGN) == 200
    assert await site.status("POST", "/-/reload", FOREIGN) == 200
    assert await site.status("POST", "/-/reload", Origin="http://rebound.example") == 403, "a browser keeps passwords"


# Requests of other pages


async def test_what_is_not_a_browser_may_reload(open_site: Open) -> None:
    site = await open_site()
    for method in ("POST", "PUT"):
        assert await site.status(method, "/-/reload") == 200
        assert await site.status(method, "/-/reload", **{"User-Agent": "curl/8.5.0", "Accept": "*/*"}) == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:10066", "http://localhost:10066"),
        ("[::1]:10066", "http://[::1]:10066"),
        ("10.0.0.1", "http://10.0.0.1"),
        ("10.0.0.1:80", "http://10.0.0.1"),
        ("10.0.0.1", "https://10.0.0.1"),
        ("tools.example", "https://tools.example"),
        ("exporter.monitoring.svc:10066", "https://tools.example"),
    ],
)
async def test_our_own_pages_may_reload(open_site: Open, host: str, origin: str) -> None:
    site = await open_site("https://tools.example/canton")
    sent = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    assert await site.status("POST", "/-/reload", host, **sent) == 200


@pytest.mark.parametrize(
    "sent",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:10067"},
        {"Origin": "http://localhost"},
        {"Origin": "http://tools.example"},
        {"Origin": "https://tools.example:8443"},
        {"Origin": "https://tools.example.evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://[::1"},
        {"Origin": "http://localhost:99999999"},
        {"Origin": "file://localhost:10066"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:10066"},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_pages_of_others_may_not(open_site: Open, method: str, sent: dict[str, str]) -> None:
    site = await open_site("https://tools.example/canton")
    assert await site.status(method, "/-/reload", "localhost:10066", **sent) == 403
    assert await site.status("GET", "/metrics", "localhost:10066", **sent) == 200


# In a browser

POSTING = """<!doctype html><form method="post" action="{url}"></form><script src="/submit.js"></script>"""
FETCHING = """<!doctype html><script>fetch("{url}", {{method: "POST", mode: "no-cors"}})</script>"""
SUBMIT = "document.forms[0].submit()"


async def browse(url: str, folder: Path) -> str:
    """Open a page in Chromium, in which every name of .example is this machine's; return what is shown in the end."""
    assert CHROMIUM
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--no-proxy-server",
        f"--user-data-dir={folder}",
        "--host-resolver-rules=MAP *.example 127.0.0.1",
        "--virtual-time-budget=5000",
        "--dump-dom",
        url,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
    )
    async with asyncio.timeout(BROWSER_SECONDS):
        shown, _ = await process.communicate()
    return shown.decode()


@pytest.fixture
async def foreign() -> AsyncIterator[Callable[[str], Awaitable[str]]]:
    """Return a function that serves a page of another site, and returns its address."""
    servers: list[TestServer] = []

    async def serve(page: str) -> str:
        async def show(request: web.Request) -> web.Response:
            return web.Response(text=page, content_type="text/html")

        async def submit(request: web.Request) -> web.Response:
            return web.Response(text=SUBMIT, content_type="text/javascript")

        application = web.Application()
        application.router.add_get("/", show)
        application.router.add_get("/submit.js", submit)
        servers.append(TestServer(application))
        await servers[-1].start_server()
        return f"http://evil.example:{servers[-1].port}/"

    yield serve
    for server in servers:
        await server.close()


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("page", [POSTING, FETCHING], ids=["form", "fetch"])
async def test_in_a_browser_a_foreign_page_cannot_reload(
    open_site: Open, foreign: Callable[[str], Awaitable[str]], tmp_path: Path, page: str
) -> None:
    site = await open_site()
    await browse(await foreign(page.format(url=f"http://127.0.0.1:{site.port}/-/reload")), tmp_path)
    assert ("POST", "/-/reload", 403) in site.answered, "or the browser never sent it, and this proves nothing"
    assert ("POST", "/-/reload", 200) not in site.answered


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
async def test_in_a_browser_nothing_is_read_under_a_foreign_name(open_site: Open, tmp_path: Path) -> None:
    site = await open_site()
    assert "what the exporter knows" in await browse(f"http://127.0.0.1:{site.port}/config", tmp_path)
    shown = await browse(f"http://rebound.example:{site.port}/config", tmp_path)
    assert "--web.allowed-host=rebound.example" in shown
    assert "what the exporter knows" not in shown
