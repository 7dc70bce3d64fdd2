"""Small files that operators write and renew: what they hold, and whether they have changed.

Whoever reads the configuration, the web configuration or a secret reads it here: from a regular file, and only so much.
"""

import errno
import os
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

MOST_BYTES = 2**24
"""How large a file may be: sixteen times what a ConfigMap or Secret of Kubernetes can hold."""


class FileTooLarge(OSError):
    """A file holds more than whoever reads it can use."""


class Stamp(NamedTuple):
    """What tells a file from the one that was there before it, without reading either."""

    real_path: str
    device: int
    inode: int
    modified_ns: int
    size: int


def read(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return what a file holds. Raises OSError, whose `strerror` has nothing of the content in it.

    A pipe, a device and a directory are never read: nobody may ever write to the one, and the other may have no end.
    """
    with open(path, "rb", opener=without_waiting) as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise FileTooLarge(errno.EFBIG, f"it is larger than {most_bytes} bytes", str(path))
    return content


def without_waiting(path: str, flags: int) -> int:
    """Open a file even if it is a pipe that nobody writes to, which would hold up everything."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def stamp(path: Path) -> Stamp | None:
    """Return what differs when a file was written or replaced; None while there is none that can be read.

    Take it before reading: what changes meanwhile is then seen at the next look. The time and size are not enough: what
    Kubernetes swaps is a symlink on the way to the file, and both files may have the same. They also stay the same when
    a file is made readable.
    """
    try:
        found = path.stat()
    except OSError:
        return None
    if not os.access(path, os.R_OK):
        return None
    return Stamp(os.path.realpath(path), found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


def digest(path: Path, most_bytes: int = MOST_BYTES) -> bytes | None:
    """Return what differs when a file holds something else, however often it is touched; None if it cannot be read."""
    try:
        return sha256(read(path, most_bytes)).digest()
    except OSError:
        return None
