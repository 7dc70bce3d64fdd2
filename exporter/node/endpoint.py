"""Where a target's requests go and which headers they carry: as written, or by files that are read again."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote_plus, unquote_plus
from urllib.request import getproxies, proxy_bypass

from yarl import URL

from exporter.config.models import TargetConfig, check_url, public
from exporter.errors import Unauthorized, Unreachable
from exporter.node.redaction import CERTAIN_LENGTH, Redaction
from exporter.node.secret_file import SecretFile, Unreadable

Read = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a node's API is, and the way there. By its origin it is paused after a 429, by its host it has a budget."""

    url: URL
    node: str
    """The url without user, password and query, by which two nodes' APIs are distinguished."""
    public_url: str
    """The url as it may be shown: of one that is kept in a file its path too may hold a key."""
    origin: str
    host: str
    proxy: URL | None


class EndpointResolver:
    """What requests need of a target's settings. A secret that turns up in a file is made known to `redact`."""

    def __init__(self, target: TargetConfig) -> None:
        self.redact = Redaction()
        self._is_authorized = target.ways_besides_url > 0
        self._is_secret = target.url_file is not None
        self._what = f"the url in {target.url_file}" if target.url_file else "the url"
        self._read_url: Read = SecretFile(target.url_file, "url").read if target.url_file else lambda: target.url or ""
        self._read_headers: dict[str, Read] = {
            **{name: value.get_secret_value for name, value in target.headers.items()},
            **{name: SecretFile(path, f"header {name}").read for name, path in target.header_files.items()},
        }
        self._endpoint: Endpoint | None = None
        self._url = ""
        self._headers: dict[str, str] = {}
        for learn in (self.headers, self.endpoint):  # what is secret must be known before any error is shown
            with suppress(Unauthorized, Unreachable):
                learn()

    def endpoint(self) -> Endpoint:
        """Return where the node is. Raises Unreachable where no file holds it."""
        try:
            text = self._read_url()
            if self._endpoint is None or text != self._url:
                self._endpoint, self._url = self._find(text), text
        except (Unreadable, ValueError) as error:
            raise Unreachable(str(error), cause=None) from error
        return self._endpoint

    def headers(self) -> dict[str, str]:
        """Return the headers of every request. Raises Unauthorized where a file has none."""
        for name, read in self._read_headers.items():
            try:
                value = read()
            except Unreadable as error:
                raise Unauthorized(str(error)) from error
            if value != self._headers.get(name):
                self.redact.know(f"header {name}", secrets_of_header(value))
                self._headers[name] = value
        return dict(self._headers)

    @property
    def public_url(self) -> str:
        """The url as it may be shown, "" while no file holds it."""
        try:
            return self.endpoint().public_url
        except Unreachable:
            return ""

    def _find(self, text: str) -> Endpoint:
        try:
            url = URL(check_url(text))
        except ValueError as error:
            raise ValueError(f"{self._what} {error}") from error
        if url.user is not None and self._is_authorized:
            raise ValueError(f"{self._what} has a user, and the target has another authorization; keep one")
        self.redact.know("url", secrets_of_url(url))
        self.redact.hint(hints_of_path(url) if self._is_secret else ())
        node, origin = public(str(url)), str(url.origin())
        return Endpoint(url, node, origin if self._is_secret else node, origin, url.host or "", proxy_for(url))


def proxy_for(url: URL) -> URL | None:
    """Return the proxy that the environment names for a node, None for a direct connection."""
    if url.host is None or proxy_bypass(f"{url.host}:{url.port}"):
        return None
    proxy = getproxies().get(url.scheme)
    try:
        return URL(proxy if "://" in proxy else f"http://{proxy}") if proxy else None
    except ValueError as error:
        where = f"environment variable {url.scheme.upper()}_PROXY"
        raise ValueError(f"{where}: is not an address of a proxy; write http://host:port") from error


def secrets_of_url(url: URL) -> Iterator[str]:
    """Give what must be shown nowhere of a url, in every form in which a node could echo it."""
    for pair in url.raw_query_string.split("&"):
        raw = pair.partition("=")[2]
        yield raw
        yield quote_plus(unquote_plus(raw))
        yield unquote_plus(raw)
    if url.password:
        yield url.password
        yield url.raw_password or ""
        for encoding in ("utf-8", "latin-1"):
            yield b64encode(f"{url.user or ''}:{url.password}".encode(encoding, "replace")).decode()


def hints_of_path(url: URL) -> Iterator[str]:
    """Give what may be a key in a secret url's path: all of it, and each part that is hardly a word."""
    for path in (url.raw_path, url.path):
        yield path.strip("/")
        yield from (part for part in path.split("/") if len(part) >= CERTAIN_LENGTH or re.search("[A-Z0-9]", part))


def secrets_of_header(value: str) -> Iterator[str]:
    """Give what must be shown nowhere of a header, and the token behind Bearer or Basic."""
    yield value
    yield value.rsplit(maxsplit=1)[-1] if value.split() else ""
