"""Which of several exporters watches a target: rendezvous hashing, also called highest random weight.

For each target every shard draws a lot, which is a hash of both names, and the highest lot wins. So each exporter finds
its part alone, from nothing but the number of shards. With one shard more, a target moves only if the new shard draws
higher than all others: of n shards' targets 1/(n+1) move, all of them to the new one, and the rest goes on undisturbed.
By a hash modulo the number of shards nearly all would move.

Lots are compared as they are written, in lower-case hex, since a Helm template can do that too: `sha256sum` of
`TARGET/NUMBER`. Who changes how a lot is drawn moves everybody's targets.
"""

from dataclasses import dataclass
from hashlib import sha256

from exporter.errors import WrongConfiguration


def lot(target: str, shard: int) -> str:
    return sha256(f"{target}/{shard}".encode()).hexdigest()


def shard_of(target: str, total: int) -> int:
    """Return the number of the shard that watches a target."""
    return max(range(total), key=lambda shard: lot(target, shard))


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `total` exporters that share the targets; the first has the number 0."""

    number: int = 0
    total: int = 1

    def has(self, target: str) -> bool:
        return shard_of(target, self.total) == self.number

    def __str__(self) -> str:
        return f"shard {self.number} of {self.total}"


def choose(number: int | None, total: int) -> Shard:
    """Return the shard of this number. Raises WrongConfiguration if there is none, or if the number is missing."""
    if number is None and total > 1:  # as the first by default, three exporters would leave two parts to nobody
        raise WrongConfiguration([f"--shard is missing: set which of {total} shards this is, from 0 to {total - 1}"])
    if number is not None and number >= total:
        last = (
            f"shards are numbered from 0 to {total - 1}" if total > 1 else "set --total-shards to the number of shards"
        )
        raise WrongConfiguration([f"--shard is {number} and --total-shards {total}: {last}"])
    return Shard(number or 0, total)
