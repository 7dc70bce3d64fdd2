"""Takes secrets out of what is shown: whatever a node echoes or a library puts into an error."""

from collections import deque
from collections.abc import Iterable

SHORTEST = 4
"""A secret shorter than this is none, and taking it out would only garble what is said."""
UNMISTAKABLE = 16
"""A secret as long as this is no word of an answer: a header may well carry a network's name."""


class Redaction:
    """Knows a target's secrets, and the last few tokens, since one that was renewed may still be in an answer."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._tokens: deque[str] = deque(maxlen=8)

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
        return sorted({*self._secrets, *self._tokens}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._longest_first():
            text = text.replace(secret, "***")
        return text
