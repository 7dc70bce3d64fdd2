"""Durations, as Prometheus writes them."""

import re
from datetime import timedelta

UNITS = {"y": 365 * 86400.0, "w": 7 * 86400.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
DURATION = "".join(rf"(?:(?P<{unit}>[0-9]{{1,18}}){unit})?" for unit in UNITS)


def read_duration(text: object) -> timedelta:
    """Read a duration as Prometheus writes it, such as `15s`, `500ms` or `1h30m`; it must be above zero."""
    if isinstance(text, timedelta):
        return text
    match = re.fullmatch(DURATION, text) if isinstance(text, str) else None
    seconds = sum(int(count) * UNITS[unit] for unit, count in match.groupdict(0).items()) if match else 0.0
    if not 0 < seconds <= 100 * UNITS["y"]:
        raise ValueError("is not a duration; write one above zero as Prometheus does, such as 15s, 500ms or 1h30m")
    return timedelta(seconds=seconds)


def write_duration(duration: timedelta) -> str:
    """Write a duration as Prometheus does, in the fewest parts; years and weeks are left to days."""
    left = round(duration.total_seconds() * 1000)
    text = ""
    for unit in ("d", "h", "m", "s", "ms"):
        count, left = divmod(left, round(UNITS[unit] * 1000))
        text += f"{count}{unit}" if count else ""
    return text
