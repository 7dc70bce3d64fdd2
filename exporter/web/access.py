"""Who may use the exporter: TLS, users and limits, from the web configuration file of every Prometheus exporter.

As with the toolkit, no path is exempt: /-/healthy and /-/ready want the password and the certificate too. A Kubernetes
probe brings a password in `httpHeaders`, or runs `canton-exporter health`, which needs no certificate either.
"""

import base64
import logging
import ssl
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from aiohttp.typedefs import Handler
from aiolimiter import AsyncLimiter

from exporter.config.yaml_file import read_file
from exporter.errors import WrongConfiguration
from exporter.files import Stamp, stamp
from exporter.web.log_throttle import LogThrottle
from exporter.web.users import TooManyGuesses, Users
from exporter.web.web_config import RateLimit, WebConfig, check, files

log = logging.getLogger(__name__)


class AccessControl:
    """The web configuration in force: each connection and request checks whether a file has changed.

    Where a changed file is wrong, that is logged once, and the previous configuration goes on.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stamps: dict[Path, Stamp | None] = {}
        self._config = WebConfig()
        self._tls: ReloadingContext | None = None
        self._headers: Mapping[str, str] = {}
        self._limiters: Mapping[bool, AsyncLimiter] = {}
        """By whether the password was right before: what strangers send must not use up what Prometheus may."""
        self._users = Users()
        self._throttle = LogThrottle(log)
        self.refused = 0
        """How many logins were refused, as their password was wrong or their user unknown."""

    @classmethod
    def load(cls, path: Path | None) -> Self:
        """Return the access control of a file; without one all is open. Raises WrongConfiguration with every error."""
        access = cls(path)
        if path is not None:
            access._read(path)
        return access

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return what to listen with; None is plain HTTP."""
        return self._tls

    @property
    def is_guarded(self) -> bool:
        """Whether nobody may use the port without a password or a certificate."""
        tls = self._config.tls_server_config
        return bool(self._config.basic_auth_users) or (tls is not None and tls.requires_certificates)

    def guard(self, application: web.Application) -> None:
        """Stand before everything an application serves, until it is cleaned up."""
        application.middlewares.insert(0, self.middleware)
        application.on_response_prepare.append(self._add_headers)
        application.on_cleanup.append(self._close)

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self._refresh()
        name, password = read_credentials(request.headers.get("Authorization", ""))
        if limiter := self._limiters.get(self._users.knows(name, password)):
            if not limiter.has_capacity():
                raise web.HTTPTooManyRequests(text="the rate_limit of the web configuration is reached\n")
            await limiter.acquire()
        tls = self._config.tls_server_config
        if tls and tls.client_allowed_sans:  # checked here, as Python's TLS cannot choose whom a handshake verifies
            certificate = request.get_extra_info("peercert") or {}
            if not {*subject_alternative_names(certificate)} & {*tls.client_allowed_sans}:
                raise web.HTTPForbidden(text="the client's certificate has none of the client_allowed_sans\n")
        if self._config.basic_auth_users:
            await self._check_password(name, password, request.remote)
        return await handler(request)

    async def _check_password(self, name: bytes, password: bytes, address: str | None) -> None:
        try:
            if name and await self._users.admit(name, password, address):
                return
        except TooManyGuesses as error:
            raise web.HTTPServiceUnavailable(text="too many passwords wait to be checked\n") from error
        if name or password:  # a browser asks without them first
            self.refused += 1
            self._throttle.warn("a login was refused", address=address)
        raise web.HTTPUnauthorized(headers={"WWW-Authenticate": "Basic"}, text="a user and password are required\n")

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(self._headers)

    async def _close(self, application: web.Application) -> None:
        self._users.close()

    def _refresh(self) -> None:
        # Looked at here and not by a task of our own: a few stats take microseconds, and the next request is answered
        # by what the files hold by then. Only a changed file is read, and those are small.
        if self._path is None or all(stamp(file) == before for file, before in self._stamps.items()):
            return
        try:
            self._read(self._path)
        except WrongConfiguration as error:
            # Its errors are the whole report: there is no bug to trace.
            log.error("the new web configuration has errors; the old one stays in use", extra={"error": str(error)})  # noqa: TRY400
        else:
            log.info("the web configuration was read again", extra={"file": str(self._path)})

    def _read(self, path: Path) -> None:
        first = not self._stamps
        self._stamps = {path: stamp(path)}  # taken before reading: what changes meanwhile is seen next time
        tree = read_file(path, "--web.config.file", "basic_auth_users")
        self._stamps |= {file: stamp(file) for file in files(tree, path)}
        config, context = check(tree, path)
        if first and context:
            self._tls = ReloadingContext(context, self._refresh)
        elif (context is None) != (self._tls is None):
            raise WrongConfiguration([f"{path}: tls_server_config: TLS can be switched on or off only by a restart"])
        elif context and self._tls:
            self._tls.latest = context
        if config.rate_limit != self._config.rate_limit:
            self._limiters = make_limiters(config.rate_limit)
        self._users.replace(config.basic_auth_users)
        self._headers = config.http_server_config.headers.model_dump(by_alias=True, exclude_none=True)
        self._config = config


class ReloadingContext(ssl.SSLContext):
    """Makes each connection by the context that is the latest then.

    The ssl module's own hook, sni_callback, comes too late for that: by then the versions are settled, and whether a
    client's certificate is requested; and sessions of the context before could go on under an authority now gone.
    """

    def __new__(cls, *_: Any) -> Self:
        return super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)

    def __init__(self, latest: ssl.SSLContext, refresh: Callable[[], None]) -> None:
        self.latest = latest
        self._refresh = refresh

    def wrap_bio(self, *arguments: Any, **options: Any) -> ssl.SSLObject:
        self._refresh()
        return self.latest.wrap_bio(*arguments, **options)


def make_limiters(limit: RateLimit) -> Mapping[bool, AsyncLimiter]:
    if not limit.interval:
        return {}
    seconds = limit.burst * limit.interval.total_seconds()
    return {is_known: AsyncLimiter(limit.burst, seconds) for is_known in (False, True)}


def read_credentials(header: str) -> tuple[bytes, bytes]:
    """Return the user and password of an Authorization header, both empty if it holds none."""
    scheme, _, encoded = header.partition(" ")
    try:
        name, _, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
    except ValueError:
        return b"", b""
    return (name, password) if scheme.lower() == "basic" else (b"", b"")


def subject_alternative_names(certificate: Mapping[str, Any]) -> Iterator[str]:
    """Give the names of a client's certificate, addresses as Go writes them."""
    for kind, name in certificate.get("subjectAltName", ()):
        try:
            yield str(ip_address(name)) if kind == "IP Address" else name
        except ValueError:
            continue
