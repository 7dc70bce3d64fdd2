"""Requests and responses: what is sent to a node, and what came back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from exporter import limits
from exporter.node.endpoint import Endpoint

HTML = re.compile(rb"<(!|html|head|body|title|script|meta|\?xml)", re.IGNORECASE)
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
    """How large an answer may be, where that differs from the usual."""
    accept: str = JSON
    is_cut: bool = False
    """Whether the beginning of a larger answer is enough."""
    is_page: bool = False
    """Whether it asks for a result page, of a size that we choose."""

    @property
    def limit(self) -> int:
        """How many bytes are read of an answer, unpacked."""
        return self.most_bytes or (limits.PAGE_BYTES if self.is_page else limits.ANSWER_BYTES)

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

    @property
    def is_html(self) -> bool:
        """Whether it is a page for people; an empty one is not, whatever its Content-Type."""
        beginning = self.body[: limits.HTML_BYTES]
        if "html" in self.headers.get("Content-Type", "").lower():
            return bool(beginning.strip())
        beginning = beginning.replace(b"\0", b"")  # of UTF-16 each other byte is one
        return HTML.match(re.sub(rb"^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)", b"", beginning).lstrip()) is not None


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
    is_page: bool = False,
    accept: str = JSON,
) -> Request:
    path = route.format_map({name: quote_part(value) for name, value in fill.items()})
    content = None if body is None else msgspec.json.encode(body)
    return Request(method, route, path, query, content, most_bytes, accept, is_page=is_page)


def quote_part(text: str) -> str:
    """Quote one part of a path; one of dots only would otherwise lead to a different path."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def in_units(count: int) -> str:
    """Return a number of bytes as it is written for people."""
    for unit, size in (("MiB", 2**20), ("KiB", 2**10)):
        if count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} bytes"
