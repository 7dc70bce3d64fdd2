"""How one page leads to the next, and how to notice that it leads nowhere."""

from typing import Protocol

Mark = str | int | None
"""What a page gives to ask for the next one by."""


class Paged(Protocol):
    """An answer that may have a next page; an absent, null or empty token says it has not."""

    @property
    def next_page_token(self) -> Mark: ...


class Circle:
    """Notices tokens that go round, without remembering every token."""

    def __init__(self) -> None:
        self._mark: Mark = None
        self._count, self._mark_at = 0, 1

    def is_closed_by(self, token: Mark) -> bool:
        """Tell whether a token was there before, at the latest after three times the circle's length."""
        if token == self._mark:
            return True
        self._count += 1
        if self._count == self._mark_at:  # the 1st, 2nd, 4th, 8th ... token
            self._mark, self._mark_at = token, self._mark_at * 2
        return False
