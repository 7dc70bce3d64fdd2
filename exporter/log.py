"""Log lines: logfmt or JSON, one line each, with the fields that are given as `extra`."""

import json
import logging
import math
import os
import threading
from contextlib import suppress
from datetime import UTC, datetime
from logging.handlers import QueueHandler
from queue import Full, Queue
from typing import Any, Literal

STANDARD_ERROR = 2
MOST_LINES = 1_000
"""How many lines may wait until somebody reads the log; more are dropped and counted."""
LONGEST_LINE = 16_384
"""How many characters of a line are kept: a traceback has some thousands."""
FLUSH_SECONDS = 1.0
"""How long the end waits for the lines that are left."""

ORDINARY = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return a record's fields, those that say nothing left out."""
    fields = {key: value for key, value in vars(record).items() if key not in ORDINARY and value is not None}
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {"ts": moment, "level": record.levelname.lower(), "msg": record.getMessage(), **fields}
    if record.exc_info:
        line["traceback"] = logging.Formatter().formatException(record.exc_info)
    return line


class Logfmt(logging.Formatter):
    """`key=value` pairs; what a node said is quoted, so that it can forge neither a field nor a line."""

    def format(self, record: logging.LogRecord) -> str:
        return " ".join(f"{key}={quote(str(value))}" for key, value in fields(record).items())


class Json(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {key: value if is_json(value) else str(value) for key, value in fields(record).items()}
        return json.dumps(line, default=str)


def is_json(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def quote(text: str) -> str:
    """Return text as logfmt writes it: bare if nothing in it could be mistaken, else as a JSON string."""
    bare = text.isascii() and text.isprintable() and not set(text) & set(' "=\\')
    return text if bare and text else json.dumps(text, ensure_ascii=not text.isprintable())


class Writer(QueueHandler):
    """Writes to a file descriptor in a thread of its own: a log that nobody reads blocks that thread and nothing else.

    It writes past `sys.stderr`, whose lock Python wants when it ends, even from a thread that hangs in a write.
    """

    def __init__(self, descriptor: int) -> None:
        self._lines: Queue[str | None] = Queue(MOST_LINES)
        super().__init__(self._lines)
        self.dropped = 0
        """How many lines were dropped."""
        self._descriptor = descriptor
        self._thread = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._thread.start()

    def prepare(self, record: logging.LogRecord) -> str:
        line = self.format(record)
        return f"{line[:LONGEST_LINE]}...\n" if len(line) > LONGEST_LINE else f"{line}\n"

    def enqueue(self, line: str) -> None:  # type: ignore[override] # what `prepare` returned
        try:
            self._lines.put_nowait(line)
        except Full:  # the standard way would write a traceback to where nobody reads
            self.dropped += 1

    def close(self) -> None:
        """Wait a moment for the lines that are left."""
        with suppress(Full):
            self._lines.put(None, timeout=FLUSH_SECONDS)
        self._thread.join(FLUSH_SECONDS)
        super().close()

    def _write_all(self) -> None:
        while (line := self._lines.get()) is not None:
            rest = line.encode(errors="backslashreplace")
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:  # it is closed, or its disk is full
                self.dropped += 1


def dropped_lines() -> int:
    """Return how many lines the log has dropped, as nobody read it."""
    return sum(handler.dropped for handler in logging.getLogger().handlers if isinstance(handler, Writer))


def set_up(level: str, style: Literal["logfmt", "json"]) -> None:
    """Write everything of `level` and above to standard error."""
    handler = Writer(STANDARD_ERROR)
    handler.setFormatter(Json() if style == "json" else Logfmt())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
