"""Lines of text that somebody keeps in files and renews: tokens, headers' values, urls with a secret in them."""

from pathlib import Path


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
                line = self.path.read_text(encoding="ascii").strip()
                if not line and self._line:
                    return self._line  # it is being written at this moment
                if not line or not line.isprintable():
                    raise Unreadable(f"{self.path} holds no {self._what}: one line of text is expected")
                self._line, self._seen = line, seen
        except (OSError, UnicodeDecodeError) as error:
            self.forget()
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise Unreadable(f"the {self._what} cannot be read from {self.path}: {why}") from error
        return self._line

    def forget(self) -> None:
        """Have the file read anew even if it looks the same."""
        self._line = ""
