"""The bodies of answers: unpacked piece by piece, collected once, bounded each by itself and all together."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO

from exporter import limits

PIECE = 2**18
"""How much is unpacked at once, before everything else has its turn."""
WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
MISMATCH = "the answer does not match its Content-Encoding"
PACKINGS = "gzip, deflate"
"""What we can unpack, as the header Accept-Encoding names it."""


class NotPacked(Exception):
    """Bytes that are not packed as the answer's Content-Encoding says."""


class Unpacker:
    """Unpacks what one answer has of bytes; those of an answer that is not packed it gives as they are."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        self._bits = WINDOW_BITS.get(self._encoding)
        if self._bits is None and self._encoding not in ("", "identity"):
            raise NotPacked(f"the answer's Content-Encoding is {encoding[:40]!r}, where {PACKINGS} was asked for")
        self._stream = zlib.decompressobj(self._bits) if self._bits else None
        self._has_begun = False

    @property
    def is_whole(self) -> bool:
        """Return whether the end was there; nothing at all is whole, too."""
        return self._stream is None or self._stream.eof or not self._has_begun

    def unpack(self, chunk: bytes) -> Iterator[bytes]:
        """Give what is in a chunk in pieces of a bounded size. Raises NotPacked."""
        if self._stream is None:
            yield chunk
            return
        if not self._has_begun and self._encoding == "deflate" and chunk[0] & 0xF != 8:
            self._stream = zlib.decompressobj(-15)  # without its own header, as some have understood the name
        self._has_begun = True
        try:
            while chunk:
                if self._stream.eof:
                    raise NotPacked(MISMATCH)
                yield self._stream.decompress(chunk, PIECE)
                chunk = self._stream.unconsumed_tail or self._stream.unused_data
        except zlib.error as error:
            raise NotPacked(MISMATCH) from error


class Body:
    """What was read of one answer so far. It is not read on once `is_dropped`."""

    def __init__(self, drop: Callable[[], None]) -> None:
        self.is_dropped = False
        self.size = 0
        self._collected = BytesIO()
        self._drop = drop

    def add(self, piece: bytes) -> None:
        """Collect a piece."""
        self.size += len(piece)
        self._collected.write(piece)

    def drop(self) -> None:
        """Forget everything, and have who reads it stop."""
        self.is_dropped, self.size, self._collected = True, 0, BytesIO()
        self._drop()

    def taken(self, most: int) -> bytes:
        """Return the beginning, or all; the collected bytes themselves, and not a copy."""
        self._collected.truncate(min(most, self.size))
        return self._collected.getvalue()


class BodyMemory:
    """All bodies that the process is reading: where they become too much together, the largest is dropped."""

    def __init__(self) -> None:
        self.held = 0
        """How many bytes they have, unpacked."""
        self._bodies: set[Body] = set()

    @contextmanager
    def body(self, drop: Callable[[], None]) -> Iterator[Body]:
        """Give a body to read into; `drop` is called if it is the largest when there is no room."""
        body = Body(drop)
        self._bodies.add(body)
        try:
            yield body
        finally:
            self._bodies.discard(body)
            self.held -= body.size

    def add(self, body: Body, piece: bytes) -> None:
        """Add a piece to one of them; it is this one that is dropped only if no other is as large."""
        if body.is_dropped:
            return
        body.add(piece)
        self.held += len(piece)
        while self.held > limits.BODIES_BYTES:
            largest = max(self._bodies, key=lambda each: (each.size, each is not body))
            self.held -= largest.size
            largest.drop()
