"""Takes secrets out of what is shown: whatever a node echoes or a library puts into an error."""

from collections import deque
from collections.abc import Iterable

SHORTEST = 4
"""A secret shorter than this is none, and taking it out would only garble what is said."""
UNMISTAKABLE = 16
"""A secret as long as this is no word of an answer: a header may well carry a network's name."""


class Redaction:
    """Knows a target's secrets, and those they were before, since one that was renewed may still be in an answer."""

    def __init__(self) -> None:
        self._secrets: dict[str, deque[frozenset[str]]] = {}
        """By what they are of, the last few."""
        self._tokens: deque[str] = deque(maxlen=8)

    def know(self, of: str, secrets: Iterable[str]) -> None:
        """Take note of what is secret in a header or a url now."""
        known = self._secrets.setdefault(of, deque(maxlen=8))
        known.append(frozenset(secret for secret in secrets if len(secret) >= SHORTEST))

    def add(self, token: str) -> None:
        if token not in self._tokens:
            self._tokens.append(token)

    def body(self, body: bytes, *, is_answer: bool) -> bytes:
        """Return a body without the secrets in it; of an answer's texts a short one may rightly be a part."""
        if not is_answer:
            return self(body.decode(errors="replace")).encode()
        for secret in self._longest_first():
            if len(secret) >= UNMISTAKABLE:
                body = body.replace(secret.encode(), b"***")
        return body

    def _longest_first(self) -> list[str]:
        """A secret may be a part of another."""
        others = (secret for known in self._secrets.values() for each in known for secret in each)
        return sorted({*others, *self._tokens}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._longest_first():
            text = text.replace(secret, "***")
        return text
