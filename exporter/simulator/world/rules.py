"""The contract with the rules of the network, as votes replace it: one every interval, and those by hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import Facts, moment
from exporter.simulator.world.rules_config import CYCLE, Changes, Config, apply, first_config
from exporter.simulator.world.templates import Template, contract_id, contract_json

RULES = Template("splice-amulet", "Splice.AmuletRules:AmuletRules")


@dataclass(frozen=True)
class Change:
    """What a vote changed, and when: at once, or later if it was decided for later."""

    voted_at: float
    due: float
    values: Changes


class Rules:
    """Votes fall on the multiples of the interval, in Unix time, but for the one in which the world begins.

    Each vote brings two changes of the cycle: one at once, and one that is due half an interval later.
    """

    def __init__(self, facts: Facts, interval: float) -> None:
        self._facts = facts
        self._interval = interval
        self._first = int(facts.began // interval)
        self._by_hand: list[Change] = []

    def vote(self, values: Changes, due: float | None = None) -> None:
        """Decide a change by hand, for now or for later; where two change the same, the later holds."""
        now = self._facts.now()
        if due is not None and due <= now:
            raise ValueError("A change can be due only later than now.")
        if not values:
            raise ValueError("A vote is to change something.")
        apply(first_config(self._facts.synchronizer), values)
        self._by_hand.append(Change(now, now if due is None else due, dict(values)))

    @property
    def contract_id(self) -> str:
        return contract_id(self._facts.seed, "rules", self._voted_at, len(self._by_hand))

    def contract(self, dialect: Dialect) -> dict[str, Any]:
        voted_at = self._voted_at
        later = sorted({change.due for change in self._changes() if change.due > voted_at})
        schedule = {
            "initialValue": self._config(voted_at),
            "futureValues": [{"_1": moment(due), "_2": self._config(due)} for due in later],
        }
        payload = {
            "configSchedule": schedule,
            "isDevNet": False,
            "dso": self._facts.dso_party,
            "contractStateSchemaVersion": None,
        }
        return contract_json(RULES, self.contract_id, payload, voted_at, dialect)

    @property
    def _voted_at(self) -> float:
        """When the contract of now was made."""
        regular = self._facts.now() // self._interval * self._interval
        return max([regular, *(change.voted_at for change in self._by_hand)])

    def _config(self, at: float) -> Config:
        """The configuration as it is to be at a time, by what has been decided so far."""
        config = first_config(self._facts.synchronizer)
        for change in self._changes():
            if change.due <= at:
                apply(config, change.values)
        return config

    def _changes(self) -> list[Change]:
        """What has been decided so far, by the time when it is due."""
        return sorted([*self._regular(), *self._by_hand], key=lambda change: change.due)

    def _regular(self) -> Iterator[Change]:
        """The changes of the regular votes. A full turn of the cycle hides all that was before it."""
        newest = (int(self._facts.now() // self._interval) - self._first) * 2 + 1
        for number in range(max(1, newest - len(CYCLE) - 1), newest + 1):
            turn, place = divmod(number - 1, len(CYCLE))
            yield Change(
                voted_at=(self._first + number // 2) * self._interval,
                due=(self._first + number / 2) * self._interval,
                values={path: values[turn % len(values)] for path, values in CYCLE[place].items()},
            )
