"""What one participant has indexed of the network, as a function of a seed and the time.

Nothing runs in the background and nothing is stored, so it costs the same after a minute and after a year.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from exporter.simulator.facts import fingerprint
from exporter.simulator.world import World

# An event is indexed a little after the synchronizer gave it its record time.
INDEXING_SECONDS = 0.2

# Events come in blocks, each of which takes as many offsets and as long as any other: so division finds the block of an
# offset or of a time, and within a block events may fall as they like.
BLOCK_OFFSETS = 50
BLOCK_SECONDS = 10.0
LONGEST_GAP = 4
TRANSACTION_SHARE = 0.2

FIRST_END = 184_000
FIRST_PRUNED = 90_000
PRUNING_SECONDS = 300.0
PRUNING_STEP = 5_000
KEPT_OFFSETS = 20_000

OLD_SYNCHRONIZER_SECONDS = 90 * 86_400.0


@dataclass(frozen=True, slots=True)
class Event:
    """A transaction that created a contract of `party`; without a party, an event that no stream shows."""

    offset: int
    record_time: float
    party: str | None


@lru_cache(maxsize=1024)
def draw_block(seed: str, number: int) -> tuple[tuple[int, float, float], ...]:
    """Each event's offset and time, counted from the block's start, and a number below 1 that says what it is."""
    random = Random(f"{seed}/{number}")  # noqa: S311 - a pretence, not a secret
    offsets = [0]
    while offsets[-1] < BLOCK_OFFSETS:
        offsets.append(min(offsets[-1] + random.randint(1, LONGEST_GAP), BLOCK_OFFSETS))
    spacing = BLOCK_SECONDS / (len(offsets) - 1)
    return tuple(
        (offset, (place + random.random()) * spacing, random.random()) for place, offset in enumerate(offsets[1:])
    )


class Participant:
    def __init__(self, world: World, name: str, *, left_synchronizer: bool = False) -> None:
        self.world = world
        self.seed = f"{world.seed}/{name}"
        self.namespace = f"1220{fingerprint(self.seed)}"
        self.id = f"participant::{self.namespace}"
        self.parties = [f"{party}::{self.namespace}" for party in ("alice", "bob", "carol")]
        self.left_synchronizer = left_synchronizer
        self.frozen_at: float | None = None
        self.restarted_at: float | None = None

    def end(self) -> Event:
        """The newest event indexed."""
        return self._newest(self._now())

    def pruned(self) -> int:
        """The last offset pruned, which in steps comes as near to the end as KEPT_OFFSETS."""
        steps = math.floor((self._now() - self.world.began) / PRUNING_SECONDS)
        end_then = self._newest(self.world.began + steps * PRUNING_SECONDS).offset
        return min(FIRST_PRUNED + steps * PRUNING_STEP, end_then - KEPT_OFFSETS)

    def checkpoint(self) -> Event | None:
        """The event of the cached checkpoint: the newest at the last tick.

        A restart empties the cache until a tick after the first new event.
        """
        start = self.world.began if self.restarted_at is None else self.restarted_at
        interval = self.world.checkpoint_interval
        tick = start + math.floor((self.world.now() - start) / interval) * interval
        event = self._newest(min(tick, self._now()))
        if self.restarted_at is not None and event.record_time + INDEXING_SECONDS <= self.restarted_at:
            return None
        return event

    def between(self, after: int, until: int) -> Iterator[Event]:
        """Events in order of their offsets, `after` excluded and `until` included."""
        for number in range(self._block_of(after + 1), self._block_of(until) + 1):
            yield from (event for event in self._block(number) if after < event.offset <= until)

    def synchronizer_times(self, event: Event) -> list[tuple[str, float]]:
        """The synchronizers ever connected, with the newest record time indexed from each."""
        times = [(self.world.synchronizer, event.record_time)]
        if self.left_synchronizer:
            times.append((self.world.old_synchronizer, self.world.began - OLD_SYNCHRONIZER_SECONDS))
        return times

    def restart(self) -> None:
        self.restarted_at = self.world.now()

    def _now(self) -> float:
        return self.world.now() if self.frozen_at is None else self.frozen_at

    def _newest(self, at: float) -> Event:
        number = math.floor((at - INDEXING_SECONDS - self.world.began) / BLOCK_SECONDS)
        indexed = [event for event in self._block(number) if event.record_time + INDEXING_SECONDS <= at]
        return indexed[-1] if indexed else self._block(number - 1)[-1]

    def _block(self, number: int) -> list[Event]:
        """Block 0 starts when the world began, at FIRST_END; those before it are the history."""
        start = self.world.began + number * BLOCK_SECONDS
        first = FIRST_END + number * BLOCK_OFFSETS
        return [
            Event(first + offset, round(start + seconds, 6), self._party(kind))
            for offset, seconds, kind in draw_block(self.seed, number)
        ]

    def _party(self, kind: float) -> str | None:
        if kind >= TRANSACTION_SHARE:
            return None
        return self.parties[int(kind / TRANSACTION_SHARE * len(self.parties))]

    @staticmethod
    def _block_of(offset: int) -> int:
        return (offset - 1 - FIRST_END) // BLOCK_OFFSETS
