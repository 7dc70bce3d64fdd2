"""What a caller of scan or validator sent, and how it is told what is wrong with it."""

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from aiohttp import web

T = TypeVar("T")

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
INT32 = 2**31
INT64 = 2**63


def bad_request(error: str) -> web.HTTPBadRequest:
    return web.HTTPBadRequest(text=json.dumps({"error": error}), content_type="application/json")


def not_found(error: str) -> web.HTTPNotFound:
    return web.HTTPNotFound(text=json.dumps({"error": error}), content_type="application/json")


def malformed(what: str) -> web.HTTPBadRequest:
    return bad_request(f"The request content was malformed: {what}")


def read_body(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError as error:
        raise malformed(str(error)) from error
    if not isinstance(body, dict):
        raise malformed("expected an object")
    return body


def read_field(body: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    """The field, None if it is absent or null."""
    value = body.get(name)
    # By type, not isinstance: in JSON true is no number, in Python it is.
    if value is not None and type(value) is not kind:
        raise malformed(f"Got value {json.dumps(value)} with wrong type: DownField({name})")
    return value


def require(value: T | None, name: str) -> T:
    if value is None:
        raise malformed(f"Missing required field: DownField({name})")
    return value


def read_whole(body: Mapping[str, Any], name: str, limit: int) -> int | None:
    value = read_field(body, name, int)
    if value is not None and not -limit <= value < limit:
        raise malformed(f"The number {value} is too large: DownField({name})")
    return value


def read_strings(body: Mapping[str, Any], name: str) -> list[str]:
    values = read_field(body, name, list) or []
    if not all(isinstance(value, str) for value in values):
        raise malformed(f"expected strings: DownField({name})")
    return values


def read_time(text: str, name: str) -> float:
    """Seconds since 1970. A time without its zone is none."""
    try:
        seconds = datetime.fromisoformat(text).timestamp() if TIME.fullmatch(text) else math.nan
    except ValueError:
        seconds = math.nan
    if math.isnan(seconds):
        raise malformed(f"Text '{text}' could not be parsed: {name}")
    return seconds


def query_text(query: Mapping[str, str], name: str) -> str:
    if name not in query:
        raise bad_request(f"Request is missing required query parameter '{name}'")
    return query[name]


def query_whole(query: Mapping[str, str], name: str) -> int:
    text = query_text(query, name)
    if not re.fullmatch("-?[0-9]{1,18}", text):
        raise bad_request(
            f"The query parameter '{name}' was malformed: '{text}' is not a valid 64-bit signed integer value"
        )
    return int(text)
