"""Takes secrets out of what is shown: whatever a node echoes or a library puts into an error."""

from collections import deque
from collections.abc import Iterable

SHORTEST = 4
"""A secret shorter than this is none, and taking it out would only garble what is said."""


class Redaction:
    """Knows a target's secrets, and the last few tokens, since one that was renewed may still be in an answer."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._tokens: deque[str] = deque(maxlen=8)

    def add(self, token: str) -> None:
        if token not in self._tokens:
            self._tokens.append(token)

    def __call__(self, text: str) -> str:
        # The longest first: a secret may be a part of another.
        for secret in sorted({*self._secrets, *self._tokens}, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text
