"""What is in the events of a participant: transactions, and the contracts that they make, use and use up.

All contracts of a block are used up together, a while later. So it takes two blocks, and no memory, to know what
happened in a transaction.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import lru_cache
from typing import NamedTuple

from exporter.simulator.facts import fingerprint
from exporter.simulator.ledger.app_templates import AppTemplate, draw_template
from exporter.simulator.ledger.indexed_events import Event, Sort

# How many blocks a contract lives.
LIFE = 30
USERS = ("ledger-api-user", "app-backend", "trader")


class Plan(Enum):
    ISSUE = 45
    TRANSFER = 80
    CHECK = 88
    SETTLE = 95
    END = 100


class Deed(StrEnum):
    CREATED = "created"
    CHECKED = "checked"
    CONSUMED = "consumed"


@dataclass(frozen=True, slots=True)
class Contract:
    contract_id: str
    template: AppTemplate
    signatory: str
    observers: tuple[str, ...]
    created_at: float
    offset: int  # at which it was created

    @property
    def stakeholders(self) -> tuple[str, ...]:
        return (self.signatory, *self.observers)


@dataclass(frozen=True, slots=True)
class Act:
    """A node of a transaction: what befell a contract. The witnesses are its stakeholders and those of its parent."""

    deed: Deed
    contract: Contract
    node: int
    last: int  # the last node below it
    witnesses: tuple[str, ...]
    is_transient: bool = False  # made and used up in the same transaction


class Submission(NamedTuple):
    """The command of one of the participant's own users that an event came of."""

    user: str
    party: str
    command_id: str
    cost: int | None


class Contents:
    def __init__(self, seed: str, parties: Sequence[str], block: Callable[[int], list[Event]]) -> None:
        self.seed = seed
        self._parties = parties
        self._events = block
        self._drawn = lru_cache(maxsize=512)(self._draw)
        self._lasting = lru_cache(maxsize=512)(self._draw_lasting)

    def transaction(self, event: Event, block: int) -> tuple[Act, ...]:
        """What happens in the transaction at an event, which is in that block."""
        return self._drawn(block)[event.offset]

    def contract(self, event: Event, place: int = 0) -> Contract:
        """A contract made at an event: each of its contracts has a place of its own."""
        digest = self._digest(event, "contract", place)
        lot = int(digest[:8], 16)
        owner, other = lot % len(self._parties), lot // 7 % len(self._parties)
        return Contract(
            contract_id=f"00{digest}ca121220{digest[::-1]}",
            template=draw_template(int(digest[8:16], 16) % 100),
            signatory=self._parties[owner],
            observers=() if owner == other else (self._parties[other],),
            created_at=event.record_time,
            offset=event.offset,
        )

    def submission(self, event: Event) -> Submission | None:
        """The command behind an event; None if it was another participant's, or nobody's."""
        if event.sort in (Sort.SILENT, Sort.TOPOLOGY):
            return None
        lot = int(self._digest(event, "submission")[:12], 16)
        if lot % 10 >= 7 and event.sort is not Sort.REJECTION:
            return None
        user, party = USERS[lot // 10 % len(USERS)], self._parties[lot // 100 % len(self._parties)]
        cost = None if lot // 1000 % 20 == 0 else 800 + lot // 20_000 % 6_000
        return Submission(user, party, f"cmd-{event.offset}-{lot % 65_536:04x}", cost)

    def number(self, event: Event, what: str, below: int) -> int:
        """A number for whatever else is to be drawn for an event."""
        return int(self._digest(event, what)[:12], 16) % below

    def authorized(self, event: Event) -> str:
        """The party that a topology transaction is about."""
        return self._parties[self.number(event, "authorized", len(self._parties))]

    def update_id(self, event: Event) -> str:
        return f"1220{self._digest(event, 'update')}"

    def _digest(self, event: Event, *what: object) -> str:
        return fingerprint(self.seed, event.offset, *what)

    def _plan(self, event: Event) -> Plan:
        lot = self.number(event, "plan", 100)
        return next(plan for plan in Plan if lot < plan.value)

    def _made(self, event: Event, plan: Plan) -> list[Contract]:
        """The contracts that last beyond their transaction."""
        if plan in (Plan.CHECK, Plan.END):
            return []
        count = 1 if plan is Plan.SETTLE else 1 + self.number(event, "count", 3 if plan is Plan.ISSUE else 2)
        return [self.contract(event, place) for place in range(count)]

    def _draw_lasting(self, block: int) -> list[Contract]:
        events = (event for event in self._events(block) if event.sort is Sort.TRANSACTION)
        return [contract for event in events for contract in self._made(event, self._plan(event))]

    def _draw(self, block: int) -> dict[int, tuple[Act, ...]]:
        plans = [(event, self._plan(event)) for event in self._events(block) if event.sort is Sort.TRANSACTION]
        enders = [event.offset for event, plan in plans if plan in (Plan.TRANSFER, Plan.END)]
        old = self._lasting(block - LIFE)
        acts = {}
        for event, plan in plans:
            used = old[enders.index(event.offset) :: len(enders)] if event.offset in enders else []
            acts[event.offset] = self._acts(event, plan, used, block)
        return acts

    def _acts(self, event: Event, plan: Plan, used: list[Contract], block: int) -> tuple[Act, ...]:
        made = self._made(event, plan)
        if plan is Plan.SETTLE:
            offer = self.contract(event, len(made))
            created = Act(Deed.CREATED, offer, 0, 0, offer.stakeholders, is_transient=True)
            return (created, *nodes(Deed.CONSUMED, [offer], made, first=1, is_transient=True))
        if plan is Plan.CHECK:
            # Those of the middle of their life are all still there.
            used = self._lasting(block - LIFE // 2)[:1]
            if used:
                return nodes(Deed.CHECKED, used, [])
        if not used and not made:
            # There is nothing to use in the first blocks of a ledger, so there something is made instead.
            made = [self.contract(event)]
        return nodes(Deed.CONSUMED, used, made)


def nodes(
    deed: Deed, used: list[Contract], made: list[Contract], *, first: int = 0, is_transient: bool = False
) -> tuple[Act, ...]:
    """Some contracts used, one after the other, and by the last of these uses others made."""
    acts = []
    end = first + len(used) + len(made) - 1
    parents: tuple[str, ...] = ()
    for node, contract in enumerate(used, first):
        parents = contract.stakeholders
        last = end if contract is used[-1] else node
        acts.append(Act(deed, contract, node, last, parents, is_transient))
    for node, contract in enumerate(made, first + len(used)):
        witnesses = tuple(dict.fromkeys((*contract.stakeholders, *parents)))
        acts.append(Act(Deed.CREATED, contract, node, node, witnesses))
    return tuple(acts)
