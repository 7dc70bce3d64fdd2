"""Durations: read and written as Prometheus does."""

import re
from datetime import timedelta

import pytest
from pydantic import TypeAdapter

from exporter.config.durations import read_duration, write_duration
from exporter.config.models import Duration

NONE = "is not a duration; write one above zero as Prometheus does, such as 15s, 500ms or 1h30m"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1ms", 0.001),
        ("500ms", 0.5),
        ("15s", 15),
        ("007s", 7),
        ("90s", 90),
        ("1m", 60),
        ("1h30m", 5400),
        ("1d", 86400),
        ("1w", 7 * 86400),
        ("1y", 365 * 86400),
        ("1y2w3d4h5m6s7ms", 365 * 86400 + 17 * 86400 + 4 * 3600 + 306.007),
        ("0h5s", 5),
        ("100y", 100 * 365 * 86400),
    ],
)
def test_reads_what_prometheus_reads(text: str, seconds: float) -> None:
    assert read_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "0s",
        "0",
        "0h0m",
        "15",
        "s",
        "-1s",
        "+1s",
        "1.5h",
        "1e3s",
        "15 s",
        " 15s",
        "15s ",
        "15s\n",
        "15S",
        "1m1h",
        "1s1s",
        "1us",
        "101y",
        "99999999999999999999y",
        "٣s",
        "PT15S",
        "00:01:30",
        "1h,30m",
    ],
)
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(NONE)}$"):
        read_duration(text)


@pytest.mark.parametrize("thing", [None, 15, 1.5, True, [], {}, ["15s"], b"15s"])
def test_only_text_is_a_duration(thing: object) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(NONE)}$"):
        read_duration(thing)


def test_digits_without_end_are_no_duration() -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(NONE)}$"):
        read_duration("9" * 5000 + "s")


def test_a_duration_that_was_read_already_stays_what_it_is() -> None:
    assert read_duration(timedelta(seconds=3)) == timedelta(seconds=3)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(milliseconds=1), "1ms"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(seconds=90.5), "1m30s500ms"),
        (timedelta(hours=24), "1d"),
        (timedelta(weeks=1), "7d"),
        (timedelta(days=400, hours=1), "400d1h"),
    ],
)
def test_writes_the_fewest_parts(duration: timedelta, text: str) -> None:
    assert write_duration(duration) == text


@pytest.mark.parametrize(
    "milliseconds", [1, 999, 1000, 59_999, 3_600_000, 86_399_999, 31_536_000_001, 3_153_600_000_000]
)
def test_what_is_written_reads_the_same(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)
    assert read_duration(write_duration(duration)) == duration


def test_a_setting_is_shown_as_it_is_written() -> None:
    adapter = TypeAdapter[timedelta](Duration)
    assert adapter.dump_json(adapter.validate_python("90s")) == b'"1m30s"'


def test_its_schema_knows_what_is_written() -> None:
    schema = TypeAdapter[timedelta](Duration).json_schema()
    assert schema["type"] == "string"
    for text in ("15s", "500ms", "1h30m", "1y2w3d4h5m6s7ms"):
        assert re.search(schema["pattern"], text)
    for text in ("15", "1m1h", "-1s", "15s 1"):
        assert not re.search(schema["pattern"], text)


def test_its_schema_refuses_an_empty_text() -> None:
    schema = TypeAdapter[timedelta](Duration).json_schema()
    assert schema["minLength"] == 1  # the pattern alone would let it through
    assert all(re.search(schema["pattern"], text) for text in ("1s", "1h30m", "500ms", "1d12h"))
    assert not any(re.search(schema["pattern"], text) for text in ("1", "30m1h", "1 s", "-1s", "1.5s"))
