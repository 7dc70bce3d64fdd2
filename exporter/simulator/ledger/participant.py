"""What one participant has indexed of the network, as a function of a seed and the time.

Nothing runs in the background and nothing is stored, so it costs the same after a minute and after a year.
"""

import math
from collections.abc import Callable, Iterator

from exporter.simulator.ledger.indexed_events import BLOCK_OFFSETS, BLOCK_SECONDS, Event, draw_block
from exporter.simulator.ledger.transactions import Act, Contents
from exporter.simulator.world.world import World

# An event is indexed a little after the synchronizer gave it its record time.
INDEXING_SECONDS = 0.2

FIRST_END = 184_000
FIRST_PRUNED = 90_000
PRUNING_SECONDS = 300.0
PRUNING_STEP = 5_000
KEPT_OFFSETS = 20_000

OLD_SYNCHRONIZER_SECONDS = 90 * 86_400.0


def at_once(at: float) -> float:
    return at


class Participant:
    def __init__(
        self,
        world: World,
        name: str,
        *,
        left_synchronizer: bool = False,
        knows: Callable[[float], float] = at_once,
    ) -> None:
        """`knows` tells up to when the participant has indexed the network at a time; it never goes down."""
        self.world = world
        self._knows = knows
        self.seed = f"{world.seed}/{name}"
        self.id = world.participant_id(name)
        self.namespace = self.id.partition("::")[2]
        self.parties = [f"{party}::{self.namespace}" for party in ("alice", "bob", "carol")]
        self.left_synchronizer = left_synchronizer
        self.restarted_at: float | None = None
        self.first_end = FIRST_END
        self.began = world.began
        self._first_pruned = FIRST_PRUNED
        self._pruned_by_hand = 0
        self._resets = 0
        self.contents = Contents(self.seed, self.parties, self._block)

    def end(self) -> Event:
        """The newest event indexed; at offset 0 there is none."""
        return self._newest(self._now())

    def pruned(self) -> int:
        """The last offset pruned: by hand, or in steps that come as near to the end as KEPT_OFFSETS."""
        steps = max(0, math.floor((self._now() - self.began) / PRUNING_SECONDS))
        end_then = self._newest(self.began + steps * PRUNING_SECONDS).offset
        return max(self._pruned_by_hand, min(self._first_pruned + steps * PRUNING_STEP, end_then - KEPT_OFFSETS))

    def checkpoint(self) -> Event | None:
        """The event of the cached checkpoint: the newest at the last tick.

        A restart empties the cache until a tick after the first new event.
        """
        start = self.world.began if self.restarted_at is None else self.restarted_at
        interval = self.world.checkpoint_interval
        tick = start + math.floor((self.world.now() - start) / interval) * interval
        event = self._newest(self._knows(tick))
        if self.restarted_at is not None and event.record_time + INDEXING_SECONDS <= self._knows(self.restarted_at):
            return None
        return event if event.offset else None

    def between(self, after: int, until: int) -> Iterator[Event]:
        """Events in order of their offsets, `after` excluded and `until` included."""
        for number in range(self._block_of(after + 1), self._block_of(until) + 1):
            yield from (event for event in self._block(number) if after < event.offset <= until)

    def acts(self, event: Event) -> tuple[Act, ...]:
        """What happened in the transaction at an event."""
        return self.contents.transaction(event, self._block_of(event.offset))

    def synchronizer_times(self, event: Event) -> list[tuple[str, float]]:
        """The synchronizers ever connected, with the newest record time indexed from each."""
        times = [(self.world.synchronizer, event.record_time)] if event.offset else []
        if self.left_synchronizer and not self._resets:
            times.append((self.world.old_synchronizer, self.world.began - OLD_SYNCHRONIZER_SECONDS))
        return times

    def restart(self) -> None:
        self.restarted_at = self.world.now()

    def prune(self, offset: int) -> None:
        """Forget what is up to an offset, unless more has been forgotten before."""
        end = self.end().offset
        if not 0 < offset <= end:
            raise ValueError(f"It can be pruned up to an offset from 1 to its end, which is {end}.")
        self._pruned_by_hand = max(self._pruned_by_hand, offset)

    def reset(self) -> None:
        """Be rebuilt: the same participant with the same parties, and a ledger that is empty and begins anew."""
        self.restart()
        self.began = self.world.now()
        self._resets += 1
        self.first_end = self._first_pruned = self._pruned_by_hand = 0
        self.contents = Contents(f"{self.seed}/{self._resets}", self.parties, self._block)

    def _now(self) -> float:
        return self._knows(self.world.now())

    def _newest(self, at: float) -> Event:
        number = math.floor((at - INDEXING_SECONDS - self.began) / BLOCK_SECONDS)
        events = self._block(number - 1) + self._block(number)
        indexed = [event for event in events if event.record_time + INDEXING_SECONDS <= at]
        return indexed[-1] if indexed else Event(0, self.began)

    def _block(self, number: int) -> list[Event]:
        """Block 0 starts when the ledger began to be watched, at its first end; those before it are the history."""
        start = self.began + number * BLOCK_SECONDS
        first = self.first_end + number * BLOCK_OFFSETS
        return [
            Event(first + offset, round(start + seconds, 6), sort)
            for offset, seconds, sort in draw_block(self.contents.seed, number)
            if first + offset > 0
        ]

    def _block_of(self, offset: int) -> int:
        return (offset - 1 - self.first_end) // BLOCK_OFFSETS
