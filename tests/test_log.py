"""Log lines: one line for each record, and nothing a node says can look like ours."""

import json
import logging
import math
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from exporter.log import LONGEST_LINE, MOST_LINES, Json, Logfmt, Writer, dropped_lines, quote, set_up

MOMENT = 1_795_240_000.25
FORGERIES = [
    "a\nts=2026-11-21T05:46:40.250Z level=error msg=forged",
    "a\r\nforged",
    'a" level=error forged="',
    "a\\",
    'a\\" level=error',
    "a level=error",
    "a=b",
    "\x1b[2J\x1b[31mforged",
    "a\x85forged",
    "a\u2028forged\u2029forged",
    "a\x00\x07\x08\x0b\x0c\x7f\x9b",
    "\u202eforged",
    "\u200b\ufeff",
    "\ud800",
    "a\xa0b",
]


def record(message: str = "acs failed on a", level: int = logging.WARNING, **extra: Any) -> logging.LogRecord:
    return logging.makeLogRecord(
        {"msg": message, "levelno": level, "levelname": logging.getLevelName(level), "created": MOMENT, **extra}
    )


def test_logfmt_writes_pairs_in_the_order_they_came() -> None:
    assert Logfmt().format(record(target="a", collector="health", series=3)) == (
        'ts=2026-11-21T05:46:40.250Z level=warning msg="acs failed on a" target=a collector=health series=3'
    )


def test_json_writes_one_object() -> None:
    assert Json().format(record(target="a", series=3)) == (
        '{"ts": "2026-11-21T05:46:40.250Z", "level": "warning", "msg": "acs failed on a", "target": "a", "series": 3}'
    )


@pytest.mark.parametrize("style", [Logfmt(), Json()])
def test_fields_that_say_nothing_are_left_out(style: logging.Formatter) -> None:
    assert "reason" not in style.format(record(reason=None))


def test_a_field_that_is_empty_is_said() -> None:
    assert Logfmt().format(record("m", error="")).endswith('msg=m error=""')


def test_arguments_are_written_into_the_message() -> None:
    assert 'msg="3 of 4"' in Logfmt().format(record("%d of %d", args=(3, 4)))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "plain"),
        ("/v0/a?b", "/v0/a?b"),
        ("two words", '"two words"'),
        ("a=b", '"a=b"'),
        ('a"b', r'"a\"b"'),
        ("a\\b", r'"a\\b"'),
        ("", '""'),
        ("a\nb", r'"a\nb"'),
        ("\x1b[31m", r'"\u001b[31m"'),
        ("\u2028", r'"\u2028"'),
        ("é", '"é"'),
        ("é\n", r'"\u00e9\n"'),
    ],
)
def test_what_could_be_mistaken_is_quoted(text: str, written: str) -> None:
    assert quote(text) == written


@pytest.mark.parametrize("text", FORGERIES)
def test_a_node_can_forge_no_logfmt_line_and_no_field(text: str) -> None:
    line = Logfmt().format(record("m", error=text, target="a"))
    assert line.isprintable()
    said, end = json.JSONDecoder().raw_decode(line.partition(" error=")[2])
    assert said == text
    assert line.partition(" error=")[2][end:] == " target=a"


@pytest.mark.parametrize("text", FORGERIES)
def test_a_node_can_forge_no_json_line_and_no_field(text: str) -> None:
    line = Json().format(record("m", error=text, target="a"))
    assert line.isascii()
    assert line.isprintable()
    assert list(json.loads(line).items())[2:] == [("msg", "m"), ("error", text), ("target", "a")]


@pytest.mark.parametrize("text", FORGERIES)
@pytest.mark.parametrize("style", [Logfmt(), Json()])
def test_a_message_is_as_harmless_as_a_field(style: logging.Formatter, text: str) -> None:
    assert style.format(record(text)).isprintable()


@pytest.mark.parametrize("style", [Logfmt(), Json()])
def test_a_traceback_stays_on_the_line(style: logging.Formatter) -> None:
    try:
        dict[str, str]()["a\nb\x1b"]
    except KeyError:
        line = style.format(record(exc_info=sys.exc_info()))
    assert line.isprintable()
    assert "traceback" in line
    assert "KeyError" in line


def test_json_writes_what_it_does_not_know_as_text() -> None:
    assert json.loads(Json().format(record(error=OSError("no\nway"))))["error"] == "no\nway"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_json_is_json_even_for_what_is_no_number(value: float) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    json.loads(Json().format(record(value=value)), parse_constant=refuse)


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger; it gets its handlers back in the end."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    flush()
    root.handlers[:], root.level = handlers, level


def flush() -> None:
    """Have all written that was logged."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, Writer):
            handler.close()


@pytest.mark.parametrize(("level", "told"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_writes_its_level_and_above_to_standard_error(
    root: logging.Logger, capfd: pytest.CaptureFixture[str], level: str, told: int
) -> None:
    set_up(level, "logfmt")
    for name in ("debug", "info", "warning", "error"):
        logging.getLogger("exporter.test").log(getattr(logging, name.upper()), "m", extra={"n": name})
    flush()
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", told)
    assert err.endswith("level=error msg=m n=error\n")


def test_writes_json_where_that_is_asked_for(root: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    set_up("info", "json")
    logging.getLogger("exporter.test").info("m", extra={"target": "a"})
    flush()
    line = json.loads(capfd.readouterr().err)
    assert (line["level"], line["msg"], line["target"]) == ("info", "m", "a")


def test_set_up_twice_writes_once(root: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    set_up("info", "logfmt")
    set_up("info", "logfmt")
    logging.getLogger("exporter.test").info("m")
    flush()
    assert len(capfd.readouterr().err.splitlines()) == 1


class Reader:
    """A pipe that somebody reads, or does not."""

    def __init__(self) -> None:
        self.reads, self.writes = os.pipe()

    def lines(self, count: int) -> list[str]:
        with os.fdopen(self.reads, encoding="utf-8", closefd=False) as file:
            return [file.readline() for _ in range(count)]

    def drain(self) -> None:
        """Read until nobody writes any more."""
        while os.read(self.reads, 2**20):
            pass


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    os.close(reader.reads)


@pytest.fixture
def writer(reader: Reader) -> Iterator[Writer]:
    """A writer that is the root logger's handler."""
    root, before = logging.getLogger(), logging.getLogger().handlers[:]
    writer = Writer(reader.writes)
    writer.setFormatter(Logfmt())
    root.addHandler(writer)
    yield writer
    root.handlers[:] = before
    drain = threading.Thread(target=reader.drain)
    drain.start()
    writer.close()
    assert not writer._thread.is_alive()
    os.close(reader.writes)
    drain.join()


def test_a_log_that_nobody_reads_stops_nobody_and_what_is_dropped_is_counted(writer: Writer, reader: Reader) -> None:
    line = "x" * LONGEST_LINE
    for _ in range(2 * MOST_LINES):
        writer.handle(record(line))
    assert MOST_LINES - 10 <= writer.dropped == dropped_lines() <= MOST_LINES
    assert reader.lines(1)[0].startswith("ts=")


def test_a_line_is_cut_that_nobody_would_read(writer: Writer, reader: Reader) -> None:
    writer.handle(record("x" * 10 * LONGEST_LINE))
    [line] = reader.lines(1)
    assert (len(line), line[-5:]) == (LONGEST_LINE + 4, "x...\n")


def test_what_was_logged_is_written_before_the_end(reader: Reader) -> None:
    writer = Writer(reader.writes)
    writer.setFormatter(Logfmt())
    for number in range(100):
        writer.handle(record(f"line {number}"))
    writer.close()
    os.close(reader.writes)
    assert [line.split("line ")[1] for line in reader.lines(100)] == [f'{number}"\n' for number in range(100)]


def test_a_log_that_was_closed_is_counted_and_stops_nobody(reader: Reader) -> None:
    os.close(reader.writes)
    writer = Writer(reader.writes)
    writer.handle(record())
    writer.close()
    assert writer.dropped == 1
