"""Lines of text that somebody keeps in files and renews: tokens, headers' values, urls with a secret in them."""

import os
from pathlib import Path
from stat import S_ISREG

MOST_BYTES = 2**16
"""How long a line may be, longer than any header that a server takes."""


class Unreadable(Exception):
    """A file gives no line, and why."""


class SecretFile:
    """A file that holds one line, read again whenever it is another. `what` it holds is said where it does not."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self._what = what
        self._seen: object = None
        self._line = ""

    def read(self) -> str:
        """Return the line. Raises Unreadable."""
        try:
            # Whoever renews it replaces the file or, on Kubernetes, the link it is behind: the inode tells both.
            status = self.path.stat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
            if not self._line or seen != self._seen:
                line = self._first_bytes().decode("ascii").strip()
                if not line and self._line:
                    return self._line  # it is being written at this moment
                if not line or not line.isprintable() or len(line) > MOST_BYTES:
                    raise Unreadable(f"{self.path} holds no {self._what}: one line of text is expected")
                self._line, self._seen = line, seen
        except (OSError, UnicodeDecodeError) as error:
            self.forget()
            why = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
            raise Unreadable(f"the {self._what} cannot be read from {self.path}: {why}") from error
        return self._line

    def _first_bytes(self) -> bytes:
        with open(self.path, "rb", opener=without_waiting) as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(0, "it is not a regular file")
            return file.read(MOST_BYTES + 2)

    def forget(self) -> None:
        """Have the file read anew even if it looks the same."""
        self._line = ""


def without_waiting(path: str, flags: int) -> int:
    """Open a file even if it is a pipe that nobody writes to, which would hold up everything."""
    return os.open(path, flags | os.O_NONBLOCK)
