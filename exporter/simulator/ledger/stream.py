"""A stream of what a participant indexes, from an offset on until it falls idle, with checkpoints in their places."""

import asyncio
import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from aiohttp import web

from exporter.simulator.ledger.indexed_events import Event
from exporter.simulator.ledger.participant import Participant

POLL_SECONDS = 0.05
EARLY_CHECK_SECONDS = 0.5
REQUEST_SECONDS = 20.0

Element = dict[str, Any]


class Stream:
    """`show` says how an event is shown, which is None if it is not; without it there are checkpoints only."""

    def __init__(
        self,
        participant: Participant,
        begin: int,
        show: Callable[[Event], Element | None] | None,
        show_checkpoint: Callable[[Event], Element],
        *,
        checks_early: bool,
    ) -> None:
        self._participant = participant
        self._show = show
        self._show_checkpoint = show_checkpoint
        self._checks_early = checks_early
        self._position = begin  # the end of the last range processed
        self._emitted = -1  # the offset of the last checkpoint emitted

    async def until_idle(self, rows: int, idle_seconds: float) -> list[Element]:
        """What comes until the rows are full, or until nothing has come for the idle time."""
        elements: list[Element] = []
        loop = asyncio.get_running_loop()
        opened = heard = loop.time()
        check_at = opened + EARLY_CHECK_SECONDS if self._checks_early else math.inf
        while len(elements) < rows:
            now = loop.time()
            new = list(islice(self._advance(), rows - len(elements)))
            # Unless told otherwise the idle cut-off falls together with the early check, and on the network either may
            # win. Here the cut-off always does: that is what callers must be able to live with.
            if not new and now - heard >= idle_seconds:
                break
            if not new and now >= check_at:
                new, check_at = list(self._check()), math.inf
            if new:
                heard = now
                elements += new
            elif now - opened >= REQUEST_SECONDS:
                raise web.HTTPServiceUnavailable(
                    text="The server was not able to produce a timely response to your request."
                )
            else:
                await asyncio.sleep(POLL_SECONDS)
        return elements

    def _advance(self) -> Iterator[Element]:
        """The range from the last one to the ledger end: its elements, and the checkpoint in its place between them."""
        head = self._participant.end().offset
        if head <= self._position:
            return
        checkpoint = self._participant.checkpoint()
        if checkpoint is not None and not self._position <= checkpoint.offset <= head:
            checkpoint = None
        for offset, element in self._shown(self._position, head):
            if checkpoint is not None and checkpoint.offset < offset:
                yield from self._emit(checkpoint)
                checkpoint = None
            yield element
        if checkpoint is not None:
            yield from self._emit(checkpoint)
        self._position = head

    def _shown(self, after: int, until: int) -> Iterator[tuple[int, Element]]:
        if self._show is None:
            return  # however long the range
        for event in self._participant.between(after, until):
            element = self._show(event)
            if element is not None:
                yield event.offset, element

    def _check(self) -> Iterator[Element]:
        """The checkpoint, if it is exactly where the stream stands."""
        checkpoint = self._participant.checkpoint()
        if checkpoint is not None and checkpoint.offset == self._position:
            yield from self._emit(checkpoint)

    def _emit(self, checkpoint: Event) -> Iterator[Element]:
        if checkpoint.offset > self._emitted:
            self._emitted = checkpoint.offset
            yield self._show_checkpoint(checkpoint)
