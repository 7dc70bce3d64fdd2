"""Requests and responses: what is sent to a node, and what came back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from exporter import limits
from exporter.node.endpoint import Endpoint

NOTHING: Mapping[str, str] = {}
JSON, ANYTHING = "application/json", "*/*"
"""What an answer may be, as the header Accept names it. From Canton 3.5 on nodes answer 406 to one they cannot meet."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request: `route` is its path's template, by which it is counted, `path` the same filled in and quoted."""

    method: str
    route: str
    path: str
    query: Mapping[str, str]
    body: bytes | None
    most_bytes: int | None = None
    """How large an answer may be, where that is less than usual."""
    accept: str = JSON
    is_cut: bool = False
    """Whether the beginning of a larger answer is enough."""

    @property
    def limit(self) -> int:
        """How many bytes are read of an answer, unpacked."""
        return self.most_bytes or limits.ANSWER_BYTES

    def __str__(self) -> str:
        return f"{self.method} {self.route}"


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, from where. `operation` is the method and route, `sent` and `answered` our clock's Unix seconds.

    `certificate_expiry` is of the newest handshake with the node, which is this request's or at most ten minutes old.
    """

    operation: str
    endpoint: Endpoint
    status: int
    headers: Mapping[str, str]
    body: bytes
    sent: float
    answered: float
    certificate_expiry: float | None
    accept: str
    """The header Accept that was sent."""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class RequestLogEntry(NamedTuple):
    """One line of a run's request log."""

    method: str
    path: str
    outcome: str
    seconds: float


def make_request(
    method: str,
    route: str,
    fill: Mapping[str, str] = NOTHING,
    query: Mapping[str, str] = NOTHING,
    body: object = None,
    *,
    most_bytes: int | None = None,
    accept: str = JSON,
) -> Request:
    path = route.format_map({name: quote_part(value) for name, value in fill.items()})
    return Request(method, route, path, query, None if body is None else msgspec.json.encode(body), most_bytes, accept)


def quote_part(text: str) -> str:
    """Quote one part of a path; one of dots only would otherwise lead to a different path."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")
