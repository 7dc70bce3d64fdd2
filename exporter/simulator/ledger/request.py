"""What all operations of a ledger have in common: how they are named, and how a request to them is read.

As on the network, what cannot be decoded is refused in plain text, and what then makes no sense with a JsCantonError.
"""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from aiohttp import web

from exporter.simulator.http.canton_error import CantonError, invalid_argument

Query = Mapping[str, str]
T = TypeVar("T")


class LedgerOperation(NamedTuple):
    """An operation that answers JSON, or raises a CantonError."""

    method: str
    path: str
    answer: Callable[[web.Request], Awaitable[Any]]


async def disabled(_: web.Request) -> Any:
    """The answer of Canton 3.6 at the paths of what it no longer serves."""
    cause = "This operation is deprecated and disabled."
    raise CantonError(400, "DEPRECATED_API_DISABLED", cause, category=9, grpc=9)


def undecodable(where: str, what: str) -> web.HTTPBadRequest:
    return web.HTTPBadRequest(text=f"Invalid value for: {where} ({what})")


def read_query(query: Query, name: str) -> int | None:
    value = query.get(name)
    if value is None:
        return None
    if not re.fullmatch("[0-9]{1,18}", value):
        raise undecodable(f"query parameter {name}", f"{value!r} is not a whole number")
    return int(value)


def read_body(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError as error:
        raise undecodable("body", str(error)) from error
    if not isinstance(body, dict):
        raise undecodable("body", "expected an object")
    return body


def read_field(of: dict[str, Any], name: str, kind: type[T]) -> T | None:
    """The field, None if it is absent or null."""
    value = of.get(name)
    # By type, not isinstance: in JSON true is no number, in Python it is.
    if value is not None and type(value) is not kind:
        raise undecodable("body", f"Got value {json.dumps(value)} with wrong type at {name!r}")
    return value


def read_strings(of: dict[str, Any], name: str) -> list[str]:
    """The list of strings, which is empty if it is absent or null."""
    values: list[Any] = read_field(of, name, list) or []
    if not all(isinstance(value, str) for value in values):
        raise undecodable("body", f"Got a value that is no string at {name!r}")
    return values


def require(value: T | None, name: str) -> T:
    if value is None:
        raise undecodable("body", f"Missing required field at {name!r}")
    return value


def page_size(asked: int | None, most: int, default: int | None = None) -> int:
    """How many elements a page has: 0 is the same as not to say."""
    if asked is not None and not 0 <= asked <= most:
        raise invalid_argument(f"The page size ({asked}) is not between 0 and the maximum of {most}.")
    return asked or default or most


def page_token(*at: int) -> str:
    """A token, to be understood by nobody but the node, for the place at which the next page begins."""
    return urlsafe_b64encode("/".join(map(str, at)).encode()).decode()


def read_page_token(token: str | None, parts: int = 1) -> list[int] | None:
    if not token:
        return None
    try:
        at = [int(part) for part in urlsafe_b64decode(token).decode("ascii").split("/")]
    except ValueError:
        at = []
    if len(at) != parts or min(at) < 0:
        raise invalid_argument("The page token cannot be read.")
    return at
