"""The token a target's requests carry: where it comes from, until when it holds, and when it is to be fetched anew."""

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from exporter.config.models import BearerAuth, NoAuth
from exporter.errors import Unauthorized
from exporter.node.secret_file import SecretFile, Unreadable


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token; `issued` and `expiry` are Unix seconds from its claims `iat` and `exp`, None without them."""

    text: str = field(repr=False)
    issued: float | None = None
    expiry: float | None = None


class Claims(msgspec.Struct):
    iat: float | None = None
    exp: float | None = None


def read_token(text: str) -> Token:
    """Return a token with the times it names, if it is a JWT; nothing is verified: that is the node's part."""
    try:
        payload = text.split(".")[1]
        claims = msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), type=Claims)
    except (IndexError, ValueError, msgspec.DecodeError, RecursionError):
        return Token(text)
    return Token(text, claims.iat, claims.exp)


class Auth(Protocol):
    """Where a target's token comes from."""

    renewed_by: str
    """What renews it: exporter, file or nobody."""

    async def token(self) -> Token | None:
        """Return the token to send, None if requests carry none. Raises Unauthorized if it cannot be had."""

    def available(self) -> Token | None:
        """Return the token if it is available without waiting."""

    def reject(self, token: Token) -> None:
        """Take note that the node did not accept this token: it is not returned again before it was fetched anew."""


class NoToken:
    """Requests carry no token."""

    renewed_by = "nobody"

    async def token(self) -> Token | None:
        return None

    def available(self) -> Token | None:
        return None

    def reject(self, token: Token) -> None:
        pass


class StaticToken:
    """A token written in the configuration: there is only this one."""

    renewed_by = "nobody"

    def __init__(self, text: str) -> None:
        self._token = read_token(text)

    async def token(self) -> Token | None:
        return self._token

    def available(self) -> Token | None:
        return self._token

    def reject(self, token: Token) -> None:
        pass


class FileToken:
    """A token in a file that somebody renews; it is read again whenever the file changed."""

    renewed_by = "file"

    def __init__(self, path: Path) -> None:
        self._file = SecretFile(path, "token")
        self._token: Token | None = None

    async def token(self) -> Token | None:
        return self._read()

    def available(self) -> Token | None:
        try:
            return self._read()
        except Unauthorized:
            return None

    def _read(self) -> Token:
        try:
            text = self._file.read()
        except Unreadable as error:
            raise Unauthorized(str(error)) from error
        if self._token is None or text != self._token.text:
            self._token = read_token(text)
        return self._token

    def reject(self, token: Token) -> None:
        if token == self._token:
            self._file.forget()


def make_auth(settings: NoAuth | BearerAuth) -> Auth:
    match settings:
        case BearerAuth(token=text) if text is not None:
            return StaticToken(text.get_secret_value())
        case BearerAuth(token_file=path) if path is not None:
            return FileToken(path)
        case _:
            return NoToken()
