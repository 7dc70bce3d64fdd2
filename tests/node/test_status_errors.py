"""What statuses mean: answers, entries that are not there, and every kind of refusal."""

import re
from email.utils import formatdate
from typing import Any

import pytest

from exporter.config.models import Kind, TargetConfig
from exporter.errors import Failed, Limited, Refused, Unsupported
from exporter.node.endpoint import EndpointResolver
from exporter.node.messages import Response
from exporter.node.status_errors import means_no_entry, one_line, raise_for_status
from tests.conftest import NOW

ASKED = "GET /v2/things/{id}"
JSON = {"Content-Type": "application/json"}
NO_ROUTE = b'{"error":"The requested resource could not be found: GET /api/scan/v9/things"}'
HERE = EndpointResolver(TargetConfig(kind=Kind.LEDGER, url="http://node")).endpoint()


def reply(status: int = 200, body: bytes = b"{}", headers: dict[str, str] | None = None) -> Response:
    return Response(ASKED, HERE, status, JSON if headers is None else headers, body, NOW, NOW, None, "application/json")


def verdict(answer: Response) -> str:
    """Return what kind of refusal a reply is, and its sentence without the question."""
    with pytest.raises((Failed, Unsupported)) as caught:
        raise_for_status(answer)
    begin, _, said = str(caught.value).partition(f"{ASKED}: ")
    assert begin == ""
    return f"{type(caught.value).__name__}: {said}"


# Refusals


@pytest.mark.parametrize("status", [200, 201, 204, 206, 299])
def test_every_status_of_success_is_an_answer(status: int) -> None:
    answer = reply(status)
    assert raise_for_status(answer) is answer


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "Refused"),
        (401, "Unauthorized"),
        (403, "Unauthorized"),
        (404, "Unsupported"),
        (405, "Unsupported"),
        (409, "Refused"),
        (413, "TooLarge"),
        (429, "Limited"),
        (500, "Refused"),
        (501, "Unsupported"),
        (502, "Refused"),
        (503, "Refused"),
        (504, "Refused"),
        (101, "Refused"),
        (999, "Refused"),
    ],
)
def test_each_status_has_its_meaning(status: int, kind: str) -> None:
    assert verdict(reply(status, b"", {})) == f"{kind}: {status}"
    assert verdict(reply(status, b"no\n", {})) == f"{kind}: {status}: no"
    kind = "NoEntry" if status == 404 else kind
    assert verdict(reply(status, b'{"error":"Went wrong."}')) == f"{kind}: {status}: Went wrong."
    said = b'{"code":"WENT_WRONG","cause":"It went wrong.","correlationId":null,"grpcCodeValue":13}'
    assert verdict(reply(status, said)) == f"{kind}: {status} WENT_WRONG: It went wrong."


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_redirect_says_what_to_do(status: int) -> None:
    sentence = "redirects are not followed; configure the address it leads to"
    assert verdict(reply(status, b"", {"Location": "/login"})) == f"Refused: {status}: {sentence}"


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_disabled_operation_is_unsupported_whatever_its_status(status: int) -> None:
    body = b'{"code":"DEPRECATED_API_DISABLED","cause":"This endpoint is disabled."}'
    assert verdict(reply(status, body)) == f"Unsupported: {status} DEPRECATED_API_DISABLED: This endpoint is disabled."


def test_a_refusal_carries_status_and_code() -> None:
    with pytest.raises(Refused) as caught:
        raise_for_status(reply(503, b'{"code":"SERVICE_NOT_RUNNING","cause":"starting"}'))
    assert (caught.value.status, caught.value.code) == (503, "SERVICE_NOT_RUNNING")


def test_a_code_alone_is_said() -> None:
    assert verdict(reply(500, b'{"code":"LEDGER_API_INTERNAL_ERROR"}')) == "Refused: 500 LEDGER_API_INTERNAL_ERROR"


def test_absent_and_null_are_one_in_an_error_too() -> None:
    assert verdict(reply(500, b'{"code":null,"cause":"x","error":null}')) == "Refused: 500: x"
    assert verdict(reply(500, b'{"error":"y","cause":"x"}')) == "Refused: 500: y"


@pytest.mark.parametrize(
    ("text", "pause"),
    [
        ("", 1),
        ("0", 1),
        ("7", 7),
        (" 120 ", 120),
        ("9" * 400, 600),
        ("-5", 1),
        ("1.5", 1),
        ("1e9", 1),
        (formatdate(NOW + 86_400, usegmt=True), 600),
        ("\u00b2", 1),
        ("soon", 1),
        (formatdate(NOW + 90, usegmt=True), 90),
        (formatdate(NOW - 90, usegmt=True), 1),
        ("Sat, 99 Nov 2026 05:46:40 GMT", 1),
        ("Sat, 21 Nov 99999 05:46:40 GMT", 1),
        (",", 1),
        ("Sat, 21 Nov 2026 05:46:40 +99999999999999", 1),
    ],
)
def test_a_limited_question_tells_how_long_the_node_wants_to_be_left_alone(text: str, pause: float) -> None:
    with pytest.raises(Limited) as caught:
        raise_for_status(reply(429, b"", {"Retry-After": text}))
    assert caught.value.pause == pause


@pytest.mark.parametrize("status", range(400, 600))
def test_asking_again_may_help_where_the_node_is_unable_for_a_moment(status: int) -> None:
    with pytest.raises((Failed, Unsupported)) as caught:
        raise_for_status(reply(status, b""))
    assert getattr(caught.value, "pause", None) == {429: 1, 500: 0, 502: 0, 503: 0, 504: 0}.get(status)


HTML = [
    pytest.param(b"<!doctype html><title>Welcome</title>", {}, id="doctype"),
    pytest.param(b"\r\n <!DOCTYPE HTML>", {}, id="capitals"),
    pytest.param(b"<html><body>", {}, id="html"),
    pytest.param(b'<?xml version="1.0"?><html>', {}, id="xml"),
    pytest.param(b"Welcome", {"Content-Type": "text/html; charset=utf-8"}, id="by its type"),
    pytest.param(b'{"error":"x"}', {"Content-Type": "application/xhtml+xml"}, id="by another type"),
]


@pytest.mark.parametrize("status", [200, 204, 302, 400, 404, 405, 500, 501, 503])
@pytest.mark.parametrize(("body", "headers"), HTML)
def test_a_page_for_people_is_refused_whatever_its_status(status: int, body: bytes, headers: dict[str, str]) -> None:
    sentence = "and an HTML page: is this the API's address?"
    assert verdict(reply(status, body, headers)) == f"Refused: {status} {sentence}"


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "Unauthorized"), (403, "Unauthorized"), (413, "TooLarge"), (429, "Limited")]
)
def test_a_page_for_people_does_not_hide_what_its_status_says(status: int, kind: str) -> None:
    assert verdict(reply(status, b"<html>No.</html>", {})) == f"{kind}: {status}"
    assert verdict(reply(status, b"No.", {"Content-Type": "text/html"})) == f"{kind}: {status}"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        pytest.param(b"Welcome", {"Content-Type": "Text/HTML"}, id="a type in capitals"),
        pytest.param(b"\xef\xbb\xbf<!doctype html>", {}, id="a byte order mark"),
    ],
)
def test_a_page_for_people_is_known_however_it_begins(body: bytes, headers: dict[str, str]) -> None:
    assert verdict(reply(404, body, headers)) == "Refused: 404 and an HTML page: is this the API's address?"


# What a node says


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(b"a\r\n b\t\tc \x00\x1b[31md\x7f", "a b c [31md", id="control characters"),
        pytest.param("a\u2028b\u202ec\u0085d\ufeff".encode(), "a b c d", id="marks that turn or end a line"),
        pytest.param(b"x" * 5000, "x" * 200, id="length"),
        pytest.param("é".encode() * 500, "é" * 200, id="characters, not bytes"),
        pytest.param(b"\xff\xfe\x00", "\ufffd\ufffd", id="no text"),
        pytest.param(b"\xed\xa0\x80", "\ufffd\ufffd\ufffd", id="half a character"),
        pytest.param(b'{"error":"a\\n b\\u0000\\u001b[31mc\\u2028d"}', "a b [31mc d", id="escaped control characters"),
        pytest.param(b'{"error":"' + b"x" * 5000 + b'"}', "x" * 200, id="length of a sentence"),
        pytest.param(b'{"error":"\\ud800"}', '{"error":"\\ud800"}', id="half an escaped character"),
        pytest.param(b'{"error":5}', '{"error":5}', id="another form"),
        pytest.param(b'{"error":', '{"error":', id="a part of JSON"),
        pytest.param(b'{"error":' + b"9" * 5000 + b"}", '{"error":' + "9" * 191, id="a huge number"),
        pytest.param(b"[" * 200_000, "[" * 200, id="an endless array"),
        pytest.param(b'{"a":' * 200_000, ('{"a":' * 40), id="an endless object"),
        pytest.param(b'\xef\xbb\xbf{"error":"x"}', '{"error":"x"}', id="a byte order mark"),
        pytest.param(b"   ", "", id="nothing"),
    ],
)
def test_an_error_is_said_in_one_line_of_bounded_length(body: bytes, said: str) -> None:
    assert verdict(reply(500, body)) == f"Refused: 500: {said}".removesuffix(": ")


@pytest.mark.parametrize("status", [404, 500])
def test_an_error_that_is_no_utf8_is_said_as_far_as_it_can_be_read(status: int) -> None:
    assert verdict(reply(status, b'{"error":"\xff"}')).endswith(f': {status}: {{"error":"\ufffd"}}')


def test_a_page_for_people_that_is_no_utf8_is_refused_all_the_same() -> None:
    answer = reply(200, b'{"error":"\xff"}', {"Content-Type": "text/html"})
    assert verdict(answer) == "Refused: 200 and an HTML page: is this the API's address?"


def test_an_errors_code_has_no_control_characters() -> None:
    assert verdict(reply(500, b'{"code":"A\\nB\\u001b[31m","cause":"x"}')).isprintable()


def test_an_errors_code_is_of_bounded_length() -> None:
    assert verdict(reply(500, b'{"code":"' + b"A" * 5000 + b'","cause":"x"}')) == f"Refused: 500 {'A' * 200}: x"


# An entry that is not there


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":"No contract found for party a::12"}',
        b'{"code":"CONTRACT_EVENTS_NOT_FOUND","cause":"Contract events not found"}',
        b'{"code":"PARTY_NOT_KNOWN_ON_LEDGER"}',
        b' \n{"error":"Not found"}',
    ],
)
def test_a_404_in_the_apis_own_form_is_no_entry(body: bytes) -> None:
    assert means_no_entry(reply(404, body))


@pytest.mark.parametrize("status", [200, 400, 401, 403, 405, 410, 500, 501])
def test_no_other_status_is_no_entry(status: int) -> None:
    assert not means_no_entry(reply(status, b'{"error":"Not found"}'))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(NO_ROUTE, id="the node's own word for no such path"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"Not Found", id="text"),
        pytest.param(b'"Not Found"', id="a JSON string"),
        pytest.param(b'[{"error":"Not found"}]', id="a list"),
        pytest.param(b"{}", id="an empty object"),
        pytest.param(b'{"error":"","code":null}', id="an error that says nothing"),
        pytest.param(b'{"message":"no Route matched with those values"}', id="a gateway"),
        pytest.param(b"<html>{}</html>", id="a page"),
        pytest.param(b"[" * 200_000, id="an endless array"),
    ],
)
def test_any_other_404_is_no_such_operation(body: bytes) -> None:
    assert not means_no_entry(reply(404, body))
    assert re.match("(Unsupported|Refused): 404", verdict(reply(404, body)))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"code":404,"message":"The current request is not defined by this API."}', id="a gateway"),
        pytest.param(b'{"error":{"code":404,"message":"Not Found"}}', id="another gateway"),
        pytest.param(b"{not json", id="no JSON"),
        pytest.param(b'{"error":' * 200_000, id="an endless object"),
    ],
)
def test_a_404_in_a_form_that_is_not_the_apis_is_no_such_operation(body: bytes) -> None:
    assert not means_no_entry(reply(404, body))


def test_of_a_long_text_only_the_beginning_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    monkeypatch.setattr("exporter.limits.ERROR_TEXT", 10)

    class Text(str):
        def __getitem__(self, part: Any) -> str:
            looked.append(part)
            return str.__getitem__(self, part)

    assert one_line(Text("a\nb " * 10**6)) == "a b a b a "
    assert looked == [slice(None, 80)]
