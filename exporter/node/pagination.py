"""How one page leads to the next, and how to notice that it leads nowhere."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Protocol, TypeVar

from exporter.errors import Malformed, Refused, Unsupported
from exporter.node.decoding import decode
from exporter.node.messages import Request, Response

Mark = str | int | None
"""What a page gives to ask for the next one by."""


class Paged(Protocol):
    """An answer that may have a next page; an absent, null or empty token means it has none."""

    @property
    def next_page_token(self) -> Mark: ...


P = TypeVar("P", bound=Paged)


async def follow_pages(
    ask: Callable[[Mark], Request], answer_to: Callable[[Request], Awaitable[Response]], answer: type[P]
) -> AsyncGenerator[P, None]:
    """Give page after page: `ask` makes the request by the last page's token, `answer_to` sends it.

    Raises Malformed if the tokens go round in a circle, and Refused if the operation goes away in the middle.
    """
    request, circle = ask(None), Circle()
    page = decode(await answer_to(request), answer)
    while True:
        token = page.next_page_token
        yield page
        del page  # or it would be held until the next has come
        if token is None or token == "":
            return
        if circle.is_closed_by(token):
            raise Malformed(f"{request}: the page token {str(token)[:40]!r} came again, so the pages have no end")
        try:
            page = decode(await answer_to(ask(token)), answer)
        except Unsupported as lack:
            raise Refused(f"{lack}, in the middle of the pages") from lack


class Circle:
    """Notices tokens that go round, without remembering every token."""

    def __init__(self) -> None:
        self._mark: Mark = None
        self._count, self._mark_at = 0, 1

    def is_closed_by(self, token: Mark) -> bool:
        """Return whether a token was there before, at the latest after three times the circle's length."""
        if token == self._mark:
            return True
        self._count += 1
        if self._count == self._mark_at:  # the 1st, 2nd, 4th, 8th ... token
            self._mark, self._mark_at = token, self._mark_at * 2
        return False
