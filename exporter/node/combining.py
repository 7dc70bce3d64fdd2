"""How several requests go together: one after another until one is answered, or side by side."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

from exporter.errors import NoEntry, Unsupported, worst

T = TypeVar("T")
K = TypeVar("K")


class Combining:
    """A node's methods that combine requests; none is sent from here."""

    async def first(self, *ways: Callable[[], Awaitable[T]]) -> T:
        """Return the answer of the first way the node has. Raises Unsupported if it has none of them.

        That is NoEntry if any way raised it: then the node may well have the operation.
        """
        lacks = []
        for way in ways:
            try:
                return await way()
            except Unsupported as error:
                lacks.append(error)
        kind = NoEntry if any(isinstance(lack, NoEntry) for lack in lacks) else Unsupported
        raise kind("; ".join(map(str, lacks)))

    async def for_each(self, things: Iterable[K], ask: Callable[[K], Awaitable[T]]) -> dict[K, T]:
        """Return the answer for each of several things, requested side by side and once each."""
        each = list(dict.fromkeys(things))
        return dict(zip(each, await self.gather([partial(ask, thing) for thing in each]), strict=True))

    async def or_none(self, way: Callable[[], Awaitable[T]]) -> T | None:
        """Return an answer that is only a part of what is needed; None where the node does not have it."""
        try:
            return await way()
        except Unsupported:
            return None

    async def gather(self, ways: Iterable[Callable[[], Awaitable[T]]], at_once: int = 8) -> list[T]:
        """Return the answers of requests made side by side, at most `at_once` at a time; one that fails ends all."""
        turns = asyncio.Semaphore(at_once)

        async def take_turn(way: Callable[[], Awaitable[T]]) -> T:
            async with turns:
                return await way()

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(take_turn(way)) for way in ways]
        except ExceptionGroup as failures:
            failure = worst(failures)
        else:
            return [task.result() for task in tasks]
        # Not inside the except, nor from the group, which has this failure in it: in a circle of references all that
        # its frames hold, as a page of 8 MiB, would stay until the garbage collector comes.
        try:
            raise failure
        finally:
            del failure, tasks
