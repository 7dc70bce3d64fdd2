"""What a node's bytes mean: typed answers, and where they are malformed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from exporter.errors import Malformed
from exporter.node.decoding import Int64, Moment, Struct, decode
from tests.node.test_status_errors import ASKED, reply


class Part(Struct):
    name: str = "nobody"


class Thing(Struct):
    count: Int64 | None = None
    text: str | None = None
    share: float | None = None
    at: Moment | None = None
    part: Part | None = None
    parts: list[Part] | None = None


def malformed(body: bytes) -> str:
    with pytest.raises(Malformed) as caught:
        decode(reply(body=body), Thing)
    begin, _, said = str(caught.value).partition(f"{ASKED}: not the documented answer: ")
    assert begin == ""
    return said


# Answers


@pytest.mark.parametrize(
    "body", [b"{}", b'{"count":null,"text":null,"share":null,"at":null,"part":null,"parts":null}', b'{"more":[{}]}']
)
def test_absent_null_and_default_are_one(body: bytes) -> None:
    assert decode(reply(body=body), Thing) == Thing()


def test_reads_what_is_there() -> None:
    body = b'{"count":-9223372036854775808,"text":"\\u0000\\ud83d\\ude00","share":5,"at":"2026-11-21T06:46:40.5+01:00",'
    thing = decode(reply(body=body + b'"part":{},"parts":[{"name":"a"}]}'), Thing)
    at = datetime(2026, 11, 21, 5, 46, 40, 500_000, UTC)
    assert thing == Thing(-(2**63), "\0\U0001f600", 5.0, at, Part(), [Part("a")])
    assert decode(reply(body=b'{"count":9223372036854775807}'), Thing).count == 2**63 - 1


def test_reads_an_answer_whose_unread_parts_are_no_utf8() -> None:
    assert decode(reply(body=b'{"\xff":1,"more":"\xff","text":"a"}'), Thing).text == "a"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "Input data was truncated"),
        (b'{"count":', "Input data was truncated"),
        (b"{}{}", "JSON is malformed: trailing characters (byte 3)"),
        (b"OK", "JSON is malformed: invalid character (byte 0)"),
        (b"null", "Expected `object`, got `null`"),
        (b"[]", "Expected `object`, got `array`"),
        (b'\xef\xbb\xbf{"count":1}', "JSON is malformed: invalid character (byte 0)"),
        (b'{"share":NaN}', "JSON is malformed: invalid character (byte 9)"),
        (b'{"text":"\x00"}', "JSON is malformed: invalid character (byte 9)"),
        (b'{"count":"5"}', "Expected `int | null`, got `str` - at `$.count`"),
        (b'{"count":true}', "Expected `int | null`, got `bool` - at `$.count`"),
        (b'{"count":1.5}', "Expected `int | null`, got `float` - at `$.count`"),
        (b'{"count":9223372036854775808}', "Expected `int` <= 9223372036854775807 - at `$.count`"),
        (b'{"count":-9223372036854775809}', "Expected `int` >= -9223372036854775808 - at `$.count`"),
        pytest.param(
            b'{"count":' + b"9" * 5000 + b"}", "Integer value out of range - at `$.count`", id="a huge whole number"
        ),
        (b'{"count":1e400}', "Number out of range - at `$.count`"),
        (b'{"share":1e400}', "Number out of range - at `$.share`"),
        pytest.param(b'{"share":' + b"9" * 400 + b"}", "Number out of range - at `$.share`", id="a huge number"),
        (b'{"at":"2026-11-21T05:46:40"}', "Expected `datetime` with a timezone component - at `$.at`"),
        (b'{"at":"99999-01-01T00:00:00Z"}', "Invalid RFC3339 encoded datetime - at `$.at`"),
        (b'{"part":{"name":5}}', "Expected `str`, got `int` - at `$.part.name`"),
        (b'{"parts":[{},{"name":null}]}', "Expected `str`, got `null` - at `$.parts[1].name`"),
        (b'{"text":"\\ud800\\u0041"}', "JSON is malformed: invalid utf-16 surrogate pair (byte 21)"),
        (
            b'{"text":"\xff"}',
            "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        ),
        (
            b'{"text":"\xed\xa0\x80"}',
            "'utf-8' codec can't decode byte 0xed in position 0: invalid continuation byte",
        ),
        pytest.param(
            b'{"more":' + b"[" * 200_000,
            "maximum recursion depth exceeded while deserializing an object",
            id="arrays without end",
        ),
        pytest.param(
            b'{"more":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
            "maximum recursion depth exceeded while deserializing an object",
            id="arrays in arrays",
        ),
    ],
)
def test_says_where_an_answer_is_not_what_it_should_be(body: bytes, said: str) -> None:
    assert malformed(body) == said


def test_arrays_without_end_are_malformed_where_anything_is_read() -> None:
    with pytest.raises(Malformed, match="maximum recursion depth exceeded"):
        decode(reply(body=b"[" * 200_000 + b"]" * 200_000), Any)


def test_half_a_character_is_malformed() -> None:
    assert malformed(b'{"text":"\\ud800"}')
    assert malformed(b'{"text":"\\udc00 and more"}')
