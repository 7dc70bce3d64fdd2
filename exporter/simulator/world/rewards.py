"""The rewards of each round, hashed as a tree: of batches of batches, and at the leaves of minting allowances.

All follows from the number of the round. A round is accounted for when the next one has closed; of those long before
the world began nothing is known.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeVar

from exporter.simulator.facts import Facts, fingerprint
from exporter.simulator.world.rounds import FIRST_ROUND, Rounds

EARLIEST_ROUND = FIRST_ROUND - 500

# How many allowances or batches a batch holds: few, so that there are several levels.
ALLOWANCES = 6
BATCHES = 4

LARGEST_ALLOWANCE = 10**16  # in the tenth decimal place: a million
TINY_ALLOWANCES = 5  # one in so many is far smaller

Batch = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Totals:
    """What there is in the tree of a round, whatever was done to it by hand."""

    providers: int
    amount: Decimal
    batches: dict[str, int]  # by their type


@dataclass
class Tree:
    """The batches by their hashes, from the leaves to the root."""

    allowances: list[tuple[str, Decimal]]
    batches: dict[str, Batch] = field(default_factory=dict)

    @property
    def root(self) -> str:
        return list(self.batches)[-1]

    def add(self, batch: Batch, *of: object) -> str:
        name = fingerprint(*of, *batch.values())
        self.batches[name] = batch
        return name


class Rewards:
    def __init__(self, facts: Facts, rounds: Rounds, providers: int) -> None:
        if providers < 0:
            raise ValueError("There cannot be fewer than no providers.")
        self._facts = facts
        self._rounds = rounds
        self.providers = [f"app-{number}::1220{fingerprint(facts.seed, 'app', number)}" for number in range(providers)]
        self._tree = lru_cache(maxsize=16)(self._plant)
        self._lost: set[tuple[int, str]] = set()
        self._looped: set[tuple[int, str]] = set()

    @property
    def earliest(self) -> int:
        return EARLIEST_ROUND

    @property
    def newest(self) -> int:
        """The newest round that is accounted for."""
        return self._rounds.newest_closed - 1

    def status(self, number: int) -> str:
        if number < self.earliest:
            return "CannotProvide"
        return "Ok" if number <= self.newest else "Undetermined"

    def knows(self, number: int) -> bool:
        return self.status(number) == "Ok"

    def root_hash(self, number: int) -> str:
        return self._tree(number).root

    def batch(self, number: int, name: str) -> Batch | None:
        """A batch of a round that is accounted for, as all scans show it."""
        if not self.knows(number) or (number, name) in self._lost:
            return None
        tree = self._tree(number)
        batch = tree.batches.get(name)
        if batch is not None and (number, name) in self._looped:
            return batch | {"child_hashes": [*batch["child_hashes"], tree.root]}
        return batch

    def totals(self, number: int) -> Totals:
        tree = self._tree(number)
        amount = sum((amount for _, amount in tree.allowances), Decimal())
        types = Counter(batch["batch_type"] for batch in tree.batches.values())
        return Totals(len(tree.allowances), amount, dict(types))

    def activity(self, number: int) -> dict[str, Any]:
        totals = self.totals(number)
        return {
            "round_number": number,
            "total_app_activity_weight": 1_000 * totals.providers + number % 1_000,
            "active_parties_count": totals.providers + 3,
            "activity_records_count": 12 * totals.providers,
            "total_app_reward_minting_allowance": f"{totals.amount:.10f}",
            "total_app_reward_thresholded": "0.5000000000",
            "total_app_reward_unclaimed": "10.0000000000",
            "rewarded_app_provider_parties_count": totals.providers,
        }

    def lose_batch(self, number: int) -> str:
        """Have no scan find the first of a round's leaves from now on, and tell its hash."""
        name = next(iter(self._tree(number).batches))
        self._lost.add((number, name))
        return name

    def loop_batches(self, number: int) -> str:
        """Let the first batch above a round's leaves lead back to the root from now on, and tell its hash."""
        for name, batch in self._tree(number).batches.items():
            if "child_hashes" in batch:
                self._looped.add((number, name))
                return name
        raise ValueError(f"The tree of round {number} is but a leaf, which leads nowhere.")

    def _plant(self, number: int) -> Tree:
        tree = Tree([(provider, self._amount(number, provider)) for provider in self.providers])
        level = list(self._leaves(tree, number)) or [self._leaf(tree, number, [])]
        while len(level) > 1:
            level = [
                tree.add({"batch_type": "BatchOfBatches", "child_hashes": children}, number)
                for children in groups(level, BATCHES)
            ]
        return tree

    def _leaves(self, tree: Tree, number: int) -> Iterator[str]:
        for allowances in groups(tree.allowances, ALLOWANCES):
            yield self._leaf(tree, number, allowances)

    @staticmethod
    def _leaf(tree: Tree, number: int, allowances: list[tuple[str, Decimal]]) -> str:
        shown = [{"provider": provider, "amount": f"{amount:.10f}"} for provider, amount in allowances]
        return tree.add({"batch_type": "BatchOfMintingAllowances", "minting_allowances": shown}, number)

    def _amount(self, number: int, provider: str) -> Decimal:
        """Of as many digits as a decimal has that a float does not keep."""
        drawn = int(fingerprint(self._facts.seed, "reward", number, provider)[:16], 16)
        largest = LARGEST_ALLOWANCE // 10**9 if drawn % TINY_ALLOWANCES == 0 else LARGEST_ALLOWANCE
        return Decimal(drawn % largest).scaleb(-10)


def groups(all_of_them: Sequence[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(all_of_them), size):
        yield list(all_of_them[start : start + size])
