"""What the status of a node's response means: an answer, "there is none", or one of our errors, with its text."""

from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TypeVar

import msgspec

from exporter import limits
from exporter.errors import Failed, Limited, Malformed, NoEntry, Refused, TooLarge, Unauthorized, Unsupported
from exporter.node.decoding import Struct, decode
from exporter.node.messages import Response

T = TypeVar("T")


class ErrorBody(Struct):
    """The two error forms: a ledger's `code` and `cause`, the others' `error`."""

    code: str | None = None
    cause: str | None = None
    error: str | None = None


class StreamError(ErrorBody):
    """The error with which a ledger ends a stream, where no HTTP status can show its kind."""

    grpc: int | None = msgspec.field(name="grpcCodeValue", default=None)


STATUS_OF_GRPC = {
    1: 499,
    3: 400,
    4: 504,
    5: 404,
    6: 409,
    7: 403,
    8: 429,
    9: 400,
    10: 409,
    11: 400,
    12: 501,
    14: 503,
    16: 401,
}
"""The HTTP status with which a ledger answers elsewhere, by gRPC code; everything else is a 500."""
NO_SUCH_ROUTE = "The requested resource could not be found"
"""How scan and validator answer for a path they do not have, in the form they also use for a missing entry."""


def raise_for_status(response: Response) -> Response:
    """Return a response that is an answer; raise the error of any other."""
    if response.is_success and not looks_like_html(response):
        return response
    code, text = error_text(response)
    message = f"{response.operation}: {response.status}{f' {code}' if code else ''}{f': {text}' if text else ''}"
    raise failure_of(response, message, code)


def failure_of(response: Response, message: str, code: str | None) -> Failed | Unsupported:  # noqa: PLR0911 - a table of statuses
    """Return the error that a response means: first by its status, then by its body."""
    status = response.status
    if status in (401, 403):
        return Unauthorized(message, status, code)
    if status == 406:
        wanted = f"it has no answer of the type that the request's header Accept asked for, {response.accept}"
        return Refused(f"{message}: {wanted}", status, code)
    if status == 413:
        return TooLarge(message, status, code)
    if status == 429:
        limited = Limited(message, status, code)
        limited.pause = read_retry_after(response)
        return limited
    if looks_like_html(response):
        return Refused(f"{response.operation}: {status} and an HTML page: is this the API's address?", status)
    if 300 <= status < 400:
        where = "redirects are not followed; configure the address it leads to"
        return Refused(f"{response.operation}: {status}: {where}", status)
    if code == "DEPRECATED_API_DISABLED":
        return Unsupported(message)
    if means_no_entry(response):
        return NoEntry(message)
    if status in (404, 405, 501):
        return Unsupported(message)
    return Refused(message, status, code)


def read_retry_after(response: Response) -> float:
    """Return how many seconds to wait before the next request: 1 without the header, at most BACK_OFF_SECONDS."""
    text = response.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        seconds = float(text[:9])
    else:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - response.answered
        except (ValueError, OverflowError):
            seconds = 0.0
    return min(max(1.0, seconds), limits.BACK_OFF_SECONDS)


def means_no_entry(response: Response) -> bool:
    """Return whether a 404 means "no such entry", not "no such operation"."""
    body = error_body(response) if response.status == 404 else None
    text = (body.error or body.cause or "") if body else ""
    return bool(body and (text or body.code)) and not text.startswith(NO_SUCH_ROUTE)


def looks_like_html(response: Response) -> bool:
    """Return whether an answer is a page for people; an empty one is not, whatever its Content-Type."""
    return response.is_html


def error_body(response: Response) -> ErrorBody | None:
    """Return an error in one of the APIs' own forms, if this is one."""
    try:
        return msgspec.json.decode(response.body, type=ErrorBody)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def error_text(response: Response) -> tuple[str | None, str]:
    """Return a node's error code, if it gave one, and its message, in one line of bounded length."""
    body = error_body(response)
    if body and (body.code or body.error or body.cause):
        return one_line(body.code or "") or None, one_line(body.error or body.cause or "")
    return None, "" if looks_like_html(response) else one_line(
        response.body[: 4 * limits.ERROR_TEXT].decode(errors="replace")
    )


def one_line(text: str) -> str:
    """Return what can be shown of a text in one line; of a long one no more than its beginning is looked at."""
    text = text[: 8 * limits.ERROR_TEXT]
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[: limits.ERROR_TEXT]


def decode_message(response: Response, answer: type[T]) -> T:
    """Return a message of a stream, of a type that needs what an error does not have. Raises what an error means."""
    try:
        return decode(response, answer)
    except Malformed:
        try:
            error = msgspec.json.decode(response.body, type=StreamError)
        except (msgspec.DecodeError, RecursionError, ValueError):
            error = StreamError()
        if not error.code or error.cause is None:
            raise
    return decode(raise_for_status(replace(response, status=STATUS_OF_GRPC.get(error.grpc or 0, 500))), answer)
