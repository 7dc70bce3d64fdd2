"""Takes secrets out of what is shown: whatever a node echoes or a library puts into an error."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

SHORTEST = 4
"""A secret shorter than this is none, and taking it out would only garble what is said."""
UNMISTAKABLE = 16
"""A secret as long as this is no word of an answer: a header may well carry a network's name."""


class Redaction:
    """Knows a target's secrets, and those they were before, since one that was renewed may still be in an answer."""

    def __init__(self) -> None:
        self._secrets: dict[str, deque[frozenset[str]]] = {}
        """By what they are of, the last few."""
        self._hints: deque[frozenset[str]] = deque(maxlen=8)
        self._tokens: deque[str] = deque(maxlen=8)

    def know(self, of: str, secrets: Iterable[str]) -> None:
        """Take note of what is secret in a header or a url now."""
        self._secrets.setdefault(of, deque(maxlen=8)).append(frozenset(secrets))

    def hint(self, words: Iterable[str]) -> None:
        """Take note of what may be secret, and as well a name that good answers are full of: it is left in those."""
        self._hints.append(frozenset(words))

    def add(self, token: str) -> None:
        if token not in self._tokens:
            self._tokens.append(token)

    def body(self, body: bytes, *, is_answer: bool) -> bytes:
        """Return a body without the secrets in it; of an answer's texts a short one may rightly be a part."""
        if not is_answer:
            return self(body.decode(errors="replace")).encode()
        for secret in longest_first(self._known(), UNMISTAKABLE):
            body = body.replace(secret.encode(), b"***")
        return body

    def _known(self) -> Iterator[str]:
        yield from self._tokens
        yield from chain.from_iterable(chain.from_iterable(self._secrets.values()))

    def __call__(self, text: str) -> str:
        for secret in longest_first(chain(self._known(), *self._hints), SHORTEST):
            text = text.replace(secret, "***")
        return text


def longest_first(secrets: Iterable[str], shortest: int) -> list[str]:
    """A secret may be a part of another."""
    return sorted({secret for secret in secrets if len(secret) >= shortest}, key=len, reverse=True)
