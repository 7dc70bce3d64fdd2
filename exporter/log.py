"""Log lines: logfmt or JSON, one line each, with the fields that are given as `extra`."""

import json
import logging
import math
from datetime import UTC, datetime
from typing import Any, Literal

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


def set_up(level: str, style: Literal["logfmt", "json"]) -> None:
    """Write everything of `level` and above to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(Json() if style == "json" else Logfmt())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
