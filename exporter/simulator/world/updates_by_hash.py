"""The few updates that a scan finds by the hash of the prepared transaction: some transactions, some reassignments."""

from collections.abc import Callable
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import Facts, fingerprint, moment
from exporter.simulator.world.updates_by_hash_json import Found, assignment_json, transaction_json, unassignment_json

# One of them a scan has indexed only so long after the world began.
INDEXING_SECONDS = 180.0

# Of the transactions the second has so many events that their ids sort other than they occur.
SMALL_TREE = 2
LARGE_TREE = 12


class Hashes:
    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.indexed_late_at = facts.began + INDEXING_SECONDS
        self.transactions = [self._hash("transaction", number) for number in range(2)]
        self.reassignments = [self._hash("reassignment", number) for number in range(2)]
        self.late = self._hash("transaction", "late")
        self._writers: dict[str, Callable[[Found], dict[str, Any]]] = {
            self.transactions[0]: lambda found: transaction_json(found, SMALL_TREE),
            self.transactions[1]: lambda found: transaction_json(found, LARGE_TREE),
            self.reassignments[0]: assignment_json,
            self.reassignments[1]: unassignment_json,
            self.late: lambda found: transaction_json(found, SMALL_TREE),
        }

    def find(self, name: str, scan: str, *, is_verbose: bool, dialect: Dialect) -> dict[str, Any] | None:
        """The update of a hash, as a scan of some name shows it now, unless it knows of none."""
        facts = self._facts
        if name not in self._writers or (name == self.late and facts.now() < self.indexed_late_at):
            return None
        hours = 1 + list(self._writers).index(name)
        written = moment(facts.began - 3600 * hours)
        return self._writers[name](Found(facts, name, scan, written, is_verbose, dialect))

    def _hash(self, *of: object) -> str:
        return fingerprint(self._facts.seed, "prepared", *of)
