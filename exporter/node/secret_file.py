"""Lines of text that somebody keeps in files and renews: tokens, headers' values, urls with a secret in them."""

from pathlib import Path

from exporter.files import FileTooLarge, read, stamp

MOST_BYTES = 2**16
"""How long a line may be, longer than any header that a server takes."""


class Unreadable(Exception):
    """A file gives no line, and why."""


class SecretFile:
    """A file that holds one line, read again whenever it changed. `what` it holds is named in errors."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self._what = what
        self._seen: object = None
        self._line = ""

    def read(self) -> str:
        """Return the line. Raises Unreadable."""
        seen = stamp(self.path)
        if self._line and seen is not None and seen == self._seen:
            return self._line
        try:
            line = read(self.path, MOST_BYTES + len("\r\n")).decode("ascii").strip()
        except FileTooLarge as error:
            raise self._no_line() from error
        except (OSError, UnicodeDecodeError) as error:
            self.forget()
            why = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
            raise Unreadable(f"the {self._what} cannot be read from {self.path}: {why}") from error
        if not line and self._line:
            return self._line  # it is being written at this moment
        if not line or not line.isprintable():
            raise self._no_line()
        self._line, self._seen = line, seen
        return line

    def _no_line(self) -> Unreadable:
        return Unreadable(f"{self.path} has no {self._what}; write one line of text")

    def forget(self) -> None:
        """Have the file read anew even if it looks the same."""
        self._line = ""
