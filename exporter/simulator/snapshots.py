"""When snapshots of the active contracts are taken, and how many contracts each of them holds.

No contract is ever archived: they are numbered as they were created, and a snapshot holds all that came before it. So
the number of a contract says when it was created, and nothing needs to be stored, however many there are.
"""

from dataclasses import dataclass

from exporter.simulator.facts import Facts, Migration, scatter

# Of the contracts that there are when the world begins, a snapshot later this part has come in addition.
GROWTH = 1000


@dataclass(frozen=True)
class Snapshot:
    time: int
    migration: Migration
    count: int


class Snapshots:
    """One at every multiple of the interval, in Unix time. The newest when the world begins holds `contracts`."""

    def __init__(self, facts: Facts, contracts: int, interval: int, delay: float) -> None:
        self._facts = facts
        self._contracts = contracts
        self._interval = interval
        # At most a third, or in a network of a fast pace the newest snapshot would be stale when it appears.
        self._delay = min(delay, interval / 3)
        self._genesis = min(migration.began for migration in facts.migrations.values())
        self._first = int((facts.began - self._delay) // interval) * interval
        self._growth = -(-contracts // GROWTH)

    def newest(self, migration_id: int, until: float) -> Snapshot | None:
        """The newest at or before a time, of those that are to be seen by now."""
        migration = self._facts.migrations.get(migration_id)
        if migration is None:
            return None
        if migration.ended is not None:
            until = min(until, migration.ended)
        until = min(until, self._facts.now() - self._delay)
        time = int(until // self._interval) * self._interval
        return Snapshot(time, migration, self._count(time)) if time >= migration.began else None

    def created_at(self, index: int) -> float:
        """When the contract of a number was created: always after the one before it."""
        within = scatter(index) / 2**32 * 0.9
        if index < self._contracts:
            return self._genesis + (index + within) * (self._first - self._genesis) / self._contracts
        return self._first + (index - self._contracts + within) * self._interval / self._growth

    def _count(self, time: int) -> int:
        if time < self._first:
            return int(self._contracts * (time - self._genesis) / (self._first - self._genesis))
        return self._contracts + (time - self._first) // self._interval * self._growth
