"""Keeps pages of other sites away from what only this exporter's own pages and its operators may use.

A browser on the operator's network reaches this port for any page that it shows. Such a page may send a POST here, or
have its own name resolve to this address and then read the answers (DNS rebinding). Requests of the first kind carry
the page's Origin, those of the second the page's name as their Host. No page can change either.
"""

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

HOST = re.compile(r"(?P<name>\[[^\[\]\s]+\]|[^\[\]:/@?#\\\s]+)(:(?P<port>[0-9]{0,5}))?", re.ASCII)
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
DEFAULT_PORTS = {"http": 80, "https": 443}
IN_CLUSTER = (".svc", ".svc.cluster.local")
"""How the names of Services end; nobody can register a public name that does."""
LONGEST_NAME = 255


@dataclass(frozen=True)
class SameSite:
    """The names by which this exporter is known. `is_guarded` returns whether users or certificates guard the port."""

    external_url: SplitResult | None
    allowed_hosts: Sequence[str]
    """Host names, or `*.` and a name for every name below it."""
    is_guarded: Callable[[], bool]

    def guard(self, application: web.Application, open_paths: AbstractSet[str]) -> None:
        """Check each request of an application; GET of `open_paths` is answered under any name, as scrapers need."""

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            is_safe = request.method in SAFE_METHODS
            # Under a foreign name a browser sends no password, and our certificate is not valid.
            if not self.is_guarded() and not (is_safe and request.path in open_paths):
                for host in request.headers.getall("Host", ()):
                    self._check_host(host)
            if not is_safe and self._is_cross_site(request):
                raise web.HTTPForbidden(
                    text="the request comes from a page of another site; if this exporter is served under that "
                    "address, set --web.external-url\n"
                )
            return await handler(request)

        application.middlewares.append(check)

    def accepts(self, host: str) -> bool:
        """Return whether a Host header names this exporter, and not what somebody else's DNS resolves to it."""
        name = read_host(host)[0]
        if name is None:
            return False
        if is_address(name) or "." not in name or name.endswith(IN_CLUSTER):
            return True
        known = [each.lower() for each in self.allowed_hosts]
        if self.external_url and self.external_url.hostname:
            known.append(self.external_url.hostname)
        return any(name.endswith(each[1:]) if each.startswith("*.") else name == each for each in known)

    def _check_host(self, host: str) -> None:
        if host and not self.accepts(host):
            name = read_host(host)[0]
            shown = name if name and len(name) <= LONGEST_NAME and name.isascii() and name.isprintable() else "NAME"
            raise web.HTTPMisdirectedRequest(
                text=f"{'the Host header' if shown == 'NAME' else shown} is not a known name of this exporter; to use "
                f"it under this name, start it with --web.allowed-host={shown}\n"
            )

    def _is_cross_site(self, request: web.Request) -> bool:
        """Return whether a page of another site sent this. curl and other programs send no such headers."""
        if request.headers.get("Sec-Fetch-Site") == "cross-site":
            return True
        origins = request.headers.getall("Origin", ())
        return any(not self._is_ours(origin, request.headers.get("Host", "")) for origin in origins)

    def _is_ours(self, text: str, host: str) -> bool:
        try:
            origin = urlsplit(text)
            usual = DEFAULT_PORTS[origin.scheme]
            page = origin.hostname, origin.port or usual
        except (ValueError, KeyError):  # of "null" too, which a page without an origin sends
            return False
        url = self.external_url
        if url and url.scheme == origin.scheme and page == (url.hostname, url.port or usual):
            return True
        # Whether it is http or https, only a proxy may know: what counts is where the page came from.
        name, port = read_host(host)
        return name is not None and page == (name, port or usual)


def read_host(text: str) -> tuple[str | None, int | None]:
    """Return the name or address of a Host header as URLs spell it, None if it is not one, and its port, if any."""
    if (match := HOST.fullmatch(text)) is None:
        return None, None
    name = match["name"].strip("[]").lower().removesuffix(".")
    return name or None, int(match["port"]) if match["port"] else None


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
