"""A page is made on request, compressed for a client that accepts it, and stays until something changes."""

import asyncio
import gzip
import sys
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from exporter.clock import Clock
from exporter.exposition.text import Format, Lines, write_page


@dataclass(slots=True)
class Page:
    """A page's bytes, and of when they are."""

    change: object
    made: float
    plain: bytes
    gzipped: bytes | None = None


class Pages:
    """Keeps each page until something changes, and makes it anew off the event loop, once for all who wait for it."""

    KEPT = 8
    OLDEST_SECONDS = 15.0
    """The process's own figures are read when a page is made, so a page ages even if no node changes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pages: OrderedDict[object, Page] = OrderedDict()
        self._making: dict[object, asyncio.Task[None]] = {}
        # A thread of its own, for name resolution may have taken all of the others.
        self._thread = ThreadPoolExecutor(1, "page")
        # While it computes, the event loop gets the interpreter back after this long, and not after 5 ms.
        sys.setswitchinterval(0.0005)
        self.rendered = 0

    async def get(
        self,
        key: object,
        change: Callable[[], object],
        blocks: Callable[[], Sequence[Lines]],
        format_: Format,
        *,
        gzipped: bool,
    ) -> bytes:
        """Return a page that is no older than this call, or than the last change.

        `key` names the page, `change` changes whenever the page would, `blocks` gathers what it is made of.
        """
        return await self.get_made(key, change, lambda: partial(write_page, blocks(), format_), gzipped=gzipped)

    async def get_made(
        self,
        key: object,
        change: Callable[[], object],
        prepare: Callable[[], Callable[[], bytes]],
        *,
        gzipped: bool = False,
        oldest_seconds: float = OLDEST_SECONDS,
    ) -> bytes:
        """Return another kind of page: `prepare` gathers what it shows, and returns what makes it in the thread."""
        called = self._clock.monotonic()
        while (page := self._held(key, change(), called, oldest_seconds)) is None:
            await self._once(key, lambda: self._make(key, change(), prepare()))
        while gzipped and page.gzipped is None:
            await self._once(id(page), lambda: self._gzip(page))
        return page.gzipped if gzipped and page.gzipped else page.plain

    def _held(self, key: object, change: object, called: float, oldest_seconds: float) -> Page | None:
        page = self._pages.get(key)
        if page is None or page.made >= called:
            return page
        return page if page.change == change and called - page.made < oldest_seconds else None

    async def _once(self, key: object, make: Callable[[], Coroutine[None, None, None]]) -> None:
        """Wait for what is being made, or begin it; it goes on for the others if the one who began it goes away."""
        making = self._making.get(key)
        # One that is done and still here, since its callback is yet to run, would be awaited without a pause for ever.
        if making is None or making.done():
            making = self._making[key] = asyncio.create_task(make())
            making.add_done_callback(lambda done: self._making.pop(key) if self._making.get(key) is done else None)
        await asyncio.shield(making)

    async def _make(self, key: object, change: object, make: Callable[[], bytes]) -> None:
        made = self._clock.monotonic()
        self.rendered += 1
        self._pages[key] = Page(change, made, await self._in_thread(make))
        self._pages.move_to_end(key)
        while len(self._pages) > self.KEPT:
            self._pages.popitem(last=False)

    async def _gzip(self, page: Page) -> None:
        page.gzipped = await self._in_thread(gzip.compress, page.plain, 6)

    async def _in_thread(self, function: Callable[..., bytes], *arguments: object) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
