"""What /v2/updates answers: the updates of a range, or of an open-ended stream until it falls idle."""

import asyncio
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from aiohttp import web

from exporter.simulator.canton_error import CantonError
from exporter.simulator.dialect import Dialect
from exporter.simulator.participant import Event, Participant
from exporter.simulator.updates_json import checkpoint_json, transaction_json
from exporter.simulator.updates_request import LIST_LIMIT, UpdatesRequest

POLL_SECONDS = 0.05
EARLY_CHECK_SECONDS = 0.5
REQUEST_SECONDS = 20.0

Update = dict[str, Any]


async def collect(participant: Participant, request: UpdatesRequest, dialect: Dialect) -> list[Update]:
    check_range(participant, request)
    stream = Stream(participant, request, dialect)
    updates = await stream.until_idle() if request.end is None else stream.bounded(request.end)
    if len(updates) > LIST_LIMIT:
        cause = f"The number of matching elements ({len(updates)}) is greater than the node limit ({LIST_LIMIT})."
        code = "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
        raise CantonError(413, code, cause, category=2, grpc=10, retry="1 second")
    return updates


def check_range(participant: Participant, request: UpdatesRequest) -> None:
    ledger_end, pruned = participant.end().offset, participant.pruned()
    for name, offset in (("Begin", request.begin), ("End", request.end)):
        if offset is not None and offset > ledger_end:
            cause = f"{name} offset ({offset}) is after ledger end ({ledger_end})"
            raise CantonError(400, "OFFSET_AFTER_LEDGER_END", cause, category=12, grpc=11)
    if request.end is not None and request.end < request.begin:
        cause = f"End offset {request.end} is before begin offset {request.begin}."
        raise CantonError(400, "OFFSET_OUT_OF_RANGE", cause, category=9, grpc=9)
    if request.begin < pruned:
        cause = f"Updates request from {request.begin} precedes pruned offset {pruned}"
        context = {"earliest_offset": str(pruned)}
        raise CantonError(400, "PARTICIPANT_PRUNED_DATA_ACCESSED", cause, category=9, grpc=9, context=context)


class Stream:
    def __init__(self, participant: Participant, request: UpdatesRequest, dialect: Dialect) -> None:
        self._participant = participant
        self._request = request
        self._dialect = dialect
        self._position = request.begin  # the end of the last range processed
        self._emitted = -1  # the offset of the last checkpoint emitted

    def bounded(self, end: int) -> list[Update]:
        """The updates of a range that ends. They come without checkpoints."""
        events = self._wanted(self._request.begin, end)
        if self._request.descending:
            events = reversed(list(events))
        return [
            transaction_json(event, self._participant, self._dialect) for event in islice(events, self._request.rows)
        ]

    async def until_idle(self) -> list[Update]:
        """What comes until the rows are full, or until nothing has come for the idle time."""
        updates: list[Update] = []
        loop = asyncio.get_running_loop()
        opened = heard = loop.time()
        check_at = opened + EARLY_CHECK_SECONDS if self._dialect.checks_early_for_a_checkpoint else math.inf
        while len(updates) < self._request.rows:
            now = loop.time()
            new = list(islice(self._advance(), self._request.rows - len(updates)))
            # Unless told otherwise the idle cut-off falls together with the early check, and on the network either may
            # win. Here the cut-off always does: that is what callers must be able to live with.
            if not new and now - heard >= self._request.idle_seconds:
                break
            if not new and now >= check_at:
                new, check_at = list(self._check()), math.inf
            if new:
                heard = now
                updates += new
            elif now - opened >= REQUEST_SECONDS:
                raise web.HTTPServiceUnavailable(
                    text="The server was not able to produce a timely response to your request."
                )
            else:
                await asyncio.sleep(POLL_SECONDS)
        return updates

    def _advance(self) -> Iterator[Update]:
        """The range from the last one to the ledger end: its updates, and the checkpoint in its place between them."""
        head = self._participant.end().offset
        if head <= self._position:
            return
        checkpoint = self._participant.checkpoint()
        if checkpoint is not None and not self._position <= checkpoint.offset <= head:
            checkpoint = None
        for event in self._wanted(self._position, head):
            if checkpoint is not None and checkpoint.offset < event.offset:
                yield from self._emit(checkpoint)
                checkpoint = None
            yield transaction_json(event, self._participant, self._dialect)
        if checkpoint is not None:
            yield from self._emit(checkpoint)
        self._position = head

    def _check(self) -> Iterator[Update]:
        """The checkpoint, if it is exactly where the stream stands."""
        checkpoint = self._participant.checkpoint()
        if checkpoint is not None and checkpoint.offset == self._position:
            yield from self._emit(checkpoint)

    def _emit(self, checkpoint: Event) -> Iterator[Update]:
        if checkpoint.offset > self._emitted:
            self._emitted = checkpoint.offset
            yield checkpoint_json(checkpoint, self._participant)

    def _wanted(self, after: int, until: int) -> Iterator[Event]:
        # Without parties there is nothing to find, however long the range.
        if self._request.parties:
            yield from (
                event for event in self._participant.between(after, until) if self._request.parties.include(event)
            )
