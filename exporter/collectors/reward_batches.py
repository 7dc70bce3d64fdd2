"""What app providers may mint for a round: the tree of reward batches, walked from its root.

Asks: GET /v0/internal/reward-accounting-process/rounds/{round}/root-hash and .../batches/{hash}, in releases before
0.6.5 the same without `internal`; for the newest round POST /v0/open-and-issuing-mining-rounds.
Needs: nothing; a scan knows no tokens.
Costs: a request for each batch, once a round, at no more than half of the request budget; up to twenty to find
the newest round that has a tree.
"""

import decimal
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Annotated, Literal, NamedTuple

import msgspec
from pydantic import Field

from exporter.api.mining_rounds import newest_rounds
from exporter.collector import (
    Amount,
    Hash,
    Kind,
    Malformed,
    Memo,
    Metric,
    Node,
    PartyId,
    Refused,
    RunOutput,
    Share,
    Strict,
    Struct,
    TooLarge,
    Unsupported,
    Yields,
    collector,
    limits,
    minutes,
)

SOURCE = "GET /v0/internal/reward-accounting-process/rounds/{round}/batches/{hash}"
ROUND = Metric("canton_reward_round", "Round number of the newest round whose reward batches were read.", source=SOURCE)
BATCHES = Metric(
    "canton_reward_round_batches",
    "Number of reward batches in the round of canton_reward_round, by type.",
    ("batch_type",),
    source=SOURCE,
)
PROVIDERS = Metric(
    "canton_reward_round_providers",
    "Number of providers with a minting allowance in the round of canton_reward_round.",
    source=SOURCE,
)
TOTAL = Metric(
    "canton_reward_round_minting_allowance_coin",
    "Sum of all minting allowances in coin, in the round of canton_reward_round.",
    source=SOURCE,
)
AMOUNT = Metric(
    "canton_reward_minting_allowance_coin",
    "Minting allowance in coin of a configured provider, in the round of canton_reward_round.",
    ("provider",),
    source=SOURCE,
)

PREFIXES = ("/v0/internal/reward-accounting-process/rounds", "/v0/reward-accounting-process/rounds")
MOST_ROUNDS = 20
"""How many rounds to look back for the newest that has a tree; a network is about four behind."""
AT_ONCE, DEEPEST, MOST_BATCHES = 4, 16, 10_000
MOST_PROVIDERS = 100_000
EXACT = decimal.Context(prec=100, traps=[decimal.Inexact])

BatchHash = Annotated[str, msgspec.Meta(pattern="^[0-9A-Fa-f]{1,200}$")]


class Known(Strict):
    round: int = Field(ge=0)
    """The round's number."""
    root_hash: Hash
    """Its tree's root, in hex."""


class Options(Strict):
    providers: list[PartyId] = []
    """Whose allowances to show one by one."""
    rounds: list[Known] = []
    """Rounds to choose from, the newest that is there; by default the newest whose root the scan returns."""


class Root(Struct):
    """A round's root, with its status; releases before 0.6.5 may give no status, and 404 where there is no root yet."""

    status: str | None = None
    root_hash: BatchHash | None = None

    def __post_init__(self) -> None:
        """Refuse an answer that has neither: read as "none yet" it would hide that the API changed."""
        if self.status is None and self.root_hash is None:
            raise ValueError("neither a status nor a root_hash")

    @property
    def is_ok(self) -> bool:
        return self.status in (None, "Ok")


class Allowance(Struct):
    provider: Annotated[str, msgspec.Meta(max_length=limits.PARTY_LENGTH)]
    amount: Amount


class Batch(Struct):
    batch_type: Literal["BatchOfBatches", "BatchOfMintingAllowances"]
    child_hashes: tuple[BatchHash, ...] | None = None
    minting_allowances: tuple[Allowance, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a batch that lacks its type's own field: read as an empty one it would be missing from the sum."""
        field = "child_hashes" if self.batch_type == "BatchOfBatches" else "minting_allowances"
        if getattr(self, field) is None:
            raise ValueError(f"a {self.batch_type} without {field}")


class Walked(NamedTuple):
    """A round, its tree's root, and how the paths of its scan begin."""

    round: int
    root_hash: str
    prefix: str


class Sums:
    """What there is in the batches so far."""

    def __init__(self) -> None:
        self.batches: Counter[str] = Counter({"BatchOfBatches": 0, "BatchOfMintingAllowances": 0})
        self.amounts: dict[str, Decimal] = {}

    def add(self, batch: Batch) -> None:
        self.batches[batch.batch_type] += 1
        for allowance in batch.minting_allowances or ():
            before = self.amounts.get(allowance.provider, Decimal())
            self.amounts[allowance.provider] = EXACT.add(before, Decimal(allowance.amount))
        if len(self.amounts) > MOST_PROVIDERS:
            raise TooLarge(f"{SOURCE}: more than {MOST_PROVIDERS} providers")

    @property
    def total(self) -> Decimal:
        total = Decimal()
        for amount in self.amounts.values():
            total = EXACT.add(total, amount)
        return total


WALKED = Memo[Walked]()


@collector(Kind.SCAN, interval=minutes(10), timeout=minutes(9), options=Options, share=Share.HALF)
async def reward_batches(node: Node, options: Options, previous: RunOutput) -> Yields:
    walked = previous.memo(WALKED)
    prefixes = dict.fromkeys((walked.prefix, *PREFIXES) if walked else PREFIXES)
    found = await node.first(*(partial(newest_tree, node, options, prefix, walked) for prefix in prefixes))
    if found is None:
        node.remark(f"no {'configured' if options.rounds else 'recent'} round has reward batches")
        return
    if found == walked:
        for item in previous:
            yield item
        return
    sums = await walk(node, found)
    yield WALKED.of(found)
    yield ROUND.sample(found.round)
    for batch_type, count in sums.batches.items():
        yield BATCHES.sample(count, batch_type=batch_type)
    yield PROVIDERS.sample(len(sums.amounts))
    yield TOTAL.sample(float(sums.total))
    for provider in dict.fromkeys(options.providers):
        yield AMOUNT.sample(float(sums.amounts.get(provider, 0)), provider=provider)


async def newest_tree(node: Node, options: Options, prefix: str, walked: Walked | None) -> Walked | None:
    """Return the newest round that has a tree, not looking further back than the one walked last."""
    for known in sorted(options.rounds, key=lambda known: known.round, reverse=True):
        tree = Walked(known.round, known.root_hash, prefix)
        if tree == walked or await batch(node, tree, known.root_hash):
            return tree
    if options.rounds:
        return None
    newest, _ = await newest_rounds(node)
    if newest is None:
        return walked
    last = int(newest.round.number)
    seen = walked.round if walked and walked.round <= last else -1  # one above the newest is of a network before
    for number in range(last, max(last - MOST_ROUNDS, seen), -1):
        root = await node.find(f"{prefix}/{{round}}/root-hash", Root, round=str(number))
        if root and root.root_hash and root.is_ok:
            return Walked(number, root.root_hash, prefix)
    return walked if seen >= 0 else None


async def walk(node: Node, tree: Walked) -> Sums:
    """Return the sums over all batches, level by level. Raises Malformed if it is not a tree, or TooLarge."""
    sums, seen, level = Sums(), {tree.root_hash}, [tree.root_hash]
    for _ in range(DEEPEST):
        children: list[str] = []
        for start in range(0, len(level), AT_ONCE):
            for found in await fetch(node, tree, level[start : start + AT_ONCE]):
                sums.add(found)
                children += found.child_hashes or ()
                if len(seen) + len(children) > MOST_BATCHES:
                    raise TooLarge(f"{SOURCE}: more than {MOST_BATCHES} batches")
        if not children:
            return sums
        if len({*children}) < len(children) or not seen.isdisjoint(children):
            raise Malformed(f"{SOURCE}: a batch is its own descendant or has two parents")
        seen.update(children)
        level = children
        node.progress(f"{len(seen):,} batches of round {tree.round}")
    raise TooLarge(f"{SOURCE}: a tree deeper than {DEEPEST}")


async def fetch(node: Node, tree: Walked, hashes: Sequence[str]) -> list[Batch]:
    try:
        answers = await node.for_each(hashes, partial(batch, node, tree))
    except Unsupported as lack:
        raise Refused(f"{lack}, in the middle of the tree") from lack
    for hash_, answer in answers.items():
        if answer is None:
            raise Malformed(f"{SOURCE}: the batch {hash_} is missing, and another names it")
    return [answer for answer in answers.values() if answer]


async def batch(node: Node, tree: Walked, hash_: str) -> Batch | None:
    route = f"{tree.prefix}/{{round}}/batches/{{hash}}"
    return await node.find(route, Batch, round=str(tree.round), hash=hash_)
