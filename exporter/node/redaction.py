"""Takes secrets out of what is shown: whatever a node echoes or a library puts into an error."""

import re
from base64 import b64encode
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

SHORTEST = 4
"""A shorter text is not a secret, and taking it out would only garble what is shown."""
CERTAIN_LENGTH = 16
"""A secret as long as this is not a word of an answer: a header may well carry a network's name."""


class Redaction:
    """Knows a target's secrets, and those they were before, since one that was renewed may still be in an answer."""

    def __init__(self) -> None:
        self._secrets: dict[str, deque[frozenset[str]]] = {}
        """By what they are of, the last few."""
        self._hints: deque[frozenset[str]] = deque(maxlen=8)
        self._tokens: deque[str] = deque(maxlen=8)
        self._sort()

    def know(self, of: str, secrets: Iterable[str]) -> None:
        """Take note of what is secret in a header or a url now."""
        self._secrets.setdefault(of, deque(maxlen=8)).append(frozenset(secrets))
        self._sort()

    def hint(self, words: Iterable[str]) -> None:
        """Take note of what may be secret, and as well a name that good answers are full of: it is left in those."""
        self._hints.append(frozenset(words))
        self._sort()

    def add(self, token: str) -> None:
        if token not in self._tokens:
            self._tokens.append(token)
            self._sort()

    def _sort(self) -> None:
        """Have ready what to look for in every answer, which is more often than it changes."""
        known = {*self._tokens, *chain.from_iterable(chain.from_iterable(self._secrets.values()))}
        encoded = {form for secret in known if len(secret) >= CERTAIN_LENGTH for form in base64_forms(secret)}
        self._of_labels = longest_first(known | encoded, CERTAIN_LENGTH)
        self._of_the_rest = longest_first((known | encoded).union(*self._hints), SHORTEST)
        known |= {as_some_write_json(secret) for secret in known} | {secret.replace("/", "\\/") for secret in known}
        self._of_answers = longest_first(known, CERTAIN_LENGTH)

    def body(self, body: bytes, *, is_answer: bool) -> bytes:
        """Return a body without the secrets in it; of an answer's texts a short one may rightly be a part."""
        if not is_answer:
            return self(body.decode(errors="replace")).encode()
        for secret in self._of_answers:
            body = body.replace(secret.encode(), b"***")
        return body

    def __call__(self, text: str) -> str:
        return without(self._of_the_rest, text)

    def label(self, text: str) -> str:
        """Return a label's value without long secrets, and with what a terminal would obey written out."""
        text = without(self._of_labels, text)
        return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


ESCAPED = re.compile(r"\\u00([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|\\(?=/)")


def without(secrets: Iterable[str], text: str) -> str:
    """Return a text without secrets, written as they are or with some characters escaped as in JSON or a url."""
    for secret in secrets:
        text = text.replace(secret, "***")
    if "%" not in text and "\\" not in text:
        return text
    plain = ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)) if found[1] or found[2] else "", text)
    if not any(secret in plain for secret in secrets):
        return text
    for secret in secrets:
        plain = plain.replace(secret, "***")
    return plain


def base64_forms(secret: str) -> Iterator[str]:
    """Give what stands in every base64 text in which a secret is, wherever in it, in both alphabets."""
    raw = secret.encode("utf-8", "replace")
    for before in range(3):
        encoded = b64encode(b"\0" * before + raw).decode()
        # The first characters hold what comes before the secret too, the last ones what comes after it.
        form = encoded[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        yield form
        yield form.replace("+", "-").replace("/", "_")


def as_some_write_json(secret: str) -> str:
    """Return a secret with the characters escaped that Gson and others escape, though JSON would not need it."""
    return re.sub("[=&<>+']", lambda found: f"\\u{ord(found[0]):04x}", secret)


def longest_first(secrets: Iterable[str], shortest: int) -> list[str]:
    """Return secrets in an order in which one that is part of a longer one comes after it."""
    return sorted((secret for secret in secrets if len(secret) >= shortest), key=len, reverse=True)
