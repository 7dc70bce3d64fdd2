"""What a participant indexes, block by block, as a function of a seed and a number."""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from random import Random

# Events come in blocks, each of which takes as many offsets and as long as any other: so division finds the block of an
# offset or of a time, and within a block events may fall as they like.
BLOCK_OFFSETS = 50
BLOCK_SECONDS = 10.0
LONGEST_GAP = 4


class Sort(StrEnum):
    """What an event is: an update that streams show, a command that was rejected, or nothing that anybody sees."""

    TRANSACTION = "Transaction"
    REASSIGNMENT = "Reassignment"
    TOPOLOGY = "TopologyTransaction"
    REJECTION = "rejection"
    SILENT = "silent"


# Up to which lot an event is of a sort.
SHARES = (
    (0.2, Sort.TRANSACTION),
    (0.21, Sort.REASSIGNMENT),
    (0.215, Sort.TOPOLOGY),
    (0.23, Sort.REJECTION),
    (1.0, Sort.SILENT),
)


@dataclass(frozen=True, slots=True)
class Event:
    offset: int
    record_time: float
    sort: Sort = Sort.SILENT


@lru_cache(maxsize=1024)
def draw_block(seed: str, number: int) -> tuple[tuple[int, float, Sort], ...]:
    """Each event's offset and time, counted from the block's start, and what it is."""
    random = Random(f"{seed}/{number}")  # noqa: S311 - a pretence, not a secret
    offsets = [0]
    while offsets[-1] < BLOCK_OFFSETS:
        offsets.append(min(offsets[-1] + random.randint(1, LONGEST_GAP), BLOCK_OFFSETS))
    spacing = BLOCK_SECONDS / (len(offsets) - 1)
    return tuple(
        (offset, (place + random.random()) * spacing, sort_of(random.random()))
        for place, offset in enumerate(offsets[1:])
    )


def sort_of(lot: float) -> Sort:
    return next(sort for share, sort in SHARES if lot < share)
