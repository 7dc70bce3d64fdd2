"""When snapshots of the active contracts are taken, and how many contracts each of them holds.

No contract is ever archived: they are numbered as they were created, and a snapshot holds all that came before it. So
the number of a contract says when it was created, and nothing needs to be stored, however many there are.
"""

import math
from dataclasses import dataclass

from exporter.simulator.facts import Facts, Migration, scatter

# Of the contracts that there are when the world begins, a snapshot later this part has come in addition.
GROWTH = 1000


@dataclass(frozen=True)
class Snapshot:
    time: float
    migration: Migration
    count: int


class Snapshots:
    """One at every multiple of the interval, in Unix time. The newest when the world begins holds `contracts`."""

    def __init__(self, facts: Facts, contracts: int, interval: float, delay: float) -> None:
        self._facts = facts
        self._contracts = contracts
        self._interval = interval
        # At most a third, or in a network of a fast pace the newest snapshot would be stale when it appears.
        self._delay = min(delay, interval / 3)
        self._genesis = min(migration.began for migration in facts.migrations.values())
        self._first = self._last_before(facts.began - self._delay)
        self._growth = -(-contracts // GROWTH)
        self._stopped_at = math.inf

    @property
    def are_stopped(self) -> bool:
        return self._stopped_at < math.inf

    def stop(self, seconds_ago: float = 0.0) -> None:
        """Let there be none newer than this many seconds ago, and none that is not to be seen yet."""
        if seconds_ago < 0:
            raise ValueError("Snapshots can stop now or have stopped before, not later.")
        # What has stopped already does not stop later than that.
        self._stopped_at = min(self._stopped_at, self._facts.now() - max(seconds_ago, self._delay))

    def resume(self) -> None:
        """Let them be taken again, and those be there that were not."""
        self._stopped_at = math.inf

    def newest(self, migration_id: int, until: float) -> Snapshot | None:
        """The newest at or before a time, of those that are to be seen by now."""
        migration = self._facts.migrations.get(migration_id)
        if migration is None:
            return None
        if migration.ended is not None:
            until = min(until, migration.ended)
        time = self._last_before(min(until, self._facts.now() - self._delay, self._stopped_at))
        return Snapshot(time, migration, self._count(time)) if time >= migration.began else None

    def created_at(self, index: int) -> float:
        """When the contract of a number was created: always after the one before it."""
        within = scatter(index) / 2**32 * 0.9
        if index < self._contracts:
            return self._genesis + (index + within) * (self._first - self._genesis) / self._contracts
        return self._first + (index - self._contracts + within) * self._interval / self._growth

    def _last_before(self, time: float) -> float:
        """The last multiple of the interval, in whole microseconds so that it is the last before itself."""
        interval = round(self._interval * 1_000_000)
        return round(time * 1_000_000) // interval * interval / 1_000_000

    def _count(self, time: float) -> int:
        if time < self._first:
            return int(self._contracts * (time - self._genesis) / (self._first - self._genesis))
        return self._contracts + round((time - self._first) / self._interval) * self._growth
