"""Has the configuration read again when its file has changed, without anybody who says so.

What counts is what the file holds: of a ConfigMap that is mounted as a folder, Kubernetes swaps a symlink on the way to
the file, and a file that was only touched has not changed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from exporter.config.loader import Settings
from exporter.config.yaml_file import MOST_BYTES
from exporter.files import digest

log = logging.getLogger(__name__)


class ConfigFile:
    """The settings' file, and whether it holds something else than when it was last read, by whomever."""

    def __init__(self, path: Path, read: Callable[[], Settings]) -> None:
        self.path = path
        self._read = read
        self._held: bytes | None = None
        self._was_gone = False

    def read(self) -> Settings:
        """Return what the file says. Raises WrongConfiguration; that too is read once until it changes."""
        self._held = digest(self.path, MOST_BYTES)  # before it is read: what changes meanwhile is seen at the next look
        return self._read()

    def has_changed(self) -> bool:
        """Look at the file. One that is gone may be about to be replaced, so it has changed if it is gone twice."""
        found = digest(self.path, MOST_BYTES)
        is_on_its_way = found is None and not self._was_gone
        self._was_gone = found is None
        return found != self._held and not is_on_its_way


async def watch_file(
    file: ConfigFile,
    interval: timedelta,
    reload: Callable[[], None],
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Look at the file once an interval, and have it read again when it has changed."""
    while True:
        await pause(interval.total_seconds())
        if await asyncio.to_thread(file.has_changed):  # a file on a network can take its time
            log.info("the configuration file has changed", extra={"file": str(file.path)})
            reload()
