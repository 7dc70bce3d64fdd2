"""A JSON document as fields."""

from typing import Any

import pytest

from exporter.api.json_fields import differences, digest, leaves, read_number
from exporter.errors import Malformed, TooLarge


def nested(key: str, depth: int) -> Any:
    document: Any = 1
    for _ in range(depth):
        document = {key: document}
    return document


def test_leaves_have_dotted_paths() -> None:
    document: Any = {"a": {"b": "1", "c": [{"_1": "x"}, True]}, "d": None, "e": {}, "f": [], "g": 2.5, "h.i": 3}
    assert leaves(document, "") == {"a.b": "1", "a.c.0._1": "x", "a.c.1": True, "g": 2.5, "h.i": 3}


def test_of_a_long_text_the_beginning_is_kept() -> None:
    assert leaves({"a": "x" * 2000}, "") == {"a": "x" * 200}


@pytest.mark.parametrize(
    "document",
    [
        {str(number): number for number in range(1_001)},
        {"x" * 201: 1},
        {"x" * 150: {"y" * 150: 1}},
        {"x" * 150: {"y" * 150: {"z": [1]}}},
        nested("", 2000),
        nested("a", 300),
    ],
    ids=["many", "long", "long steps", "long steps in a list", "nested without names", "nested"],
)
def test_a_document_without_measure_is_too_large(document: Any) -> None:
    with pytest.raises(TooLarge, match="GET /x: more than 1000 fields, or one whose path is longer than 200"):
        leaves(document, "GET /x")


def test_the_hash_knows_neither_order_nor_nulls() -> None:
    assert digest({"b": [None, 1], "a": {"c": None, "d": "\u00e9"}}, "") == digest(
        {"a": {"d": "\u00e9"}, "b": [None, 1]}, ""
    )
    assert digest({"a": 1, "b": "\u00e9"}, "") == "09ad9fd2fb648cb2f62141215828ea00a62c299db05d20aa9ade2f527a301cc6"
    assert digest({"b": [None, 1]}, "") != digest({"b": [1]}, "")


def test_what_cannot_be_hashed_is_malformed() -> None:
    with pytest.raises(Malformed):
        digest(nested("a", 2000), "")


@pytest.mark.parametrize(
    ("leaf", "number"),
    [
        ("100", 100.0),
        ("0.0000190259", 0.0000190259),
        ("-1.5", -1.5),
        (7, 7.0),
        (2.5, 2.5),
        (True, None),
        ("", None),
        ("0.1.23", None),
        ("1e5", None),
        ("Infinity", None),
        ("NaN", None),
        ("0x10", None),
        (" 5", None),
        ("5\n", None),
        ("\u0663", None),
        ("1_000", None),
        ("+1", None),
        (".5", None),
        ("9" * 41, None),
        (10**400, None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_number_is_what_the_contract_language_writes_as_one(leaf: Any, number: float | None) -> None:
    assert read_number(leaf) == number


def test_differences_are_told_field_by_field() -> None:
    assert differences({"a": "1", "b": "2", "c": 3}, {"a": "1", "b": "4", "d": "x\ny"}) == (
        "b 2 -> 4, c 3 -> (none), d (none) -> x y"
    )
    assert differences({"a": "1"}, {"a": "1"}) == ""


def test_many_differences_are_told_in_a_line_of_bounded_length() -> None:
    told = differences({}, {f"field{number}": "x" * 1000 for number in range(500)})
    assert told.startswith("field0 (none) -> xxx")
    assert told.endswith("x, and 400 more")
    assert len(told) < 8100
