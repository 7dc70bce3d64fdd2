"""Log lines that strangers can cause, which are at most one a minute each."""

import logging
import time
from collections.abc import Callable
from typing import Any

SECONDS = 60.0


class LogThrottle:
    """Warns by a logger. A line says how many of its kind were left out since the one before."""

    def __init__(self, log: logging.Logger, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._monotonic = monotonic
        self._logged: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def warn(self, message: str, **fields: Any) -> None:
        """Log a message, which is fixed text, unless it was logged within the last minute."""
        now = self._monotonic()
        if message in self._logged and now - self._logged[message] < SECONDS:
            self._left_out[message] = self._left_out.get(message, 0) + 1
            return
        self._logged[message] = now
        self._log.warning(message, extra={**fields, "left_out": self._left_out.pop(message, None)})
