"""The active contracts: what each of them is, by its number alone."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from exporter.simulator.facts import Facts, fingerprint, moment, scatter
from exporter.simulator.world.acs_snapshots import Snapshots
from exporter.simulator.world.contract_payloads import DSO_RULES, KINDS, Lot
from exporter.simulator.world.templates import Template

# Templates recur after this many contracts, so those of a template are found without a look at the others.
PERIOD = 1000
PARTIES = 100


@dataclass(frozen=True, slots=True)
class Contract:
    contract_id: str
    template: Template
    version: int
    arguments: dict[str, Any]
    created_at: str
    is_imported: bool  # from an earlier migration
    created_in: str
    signatories: list[str]
    observers: list[str]


class Contracts:
    def __init__(self, facts: Facts, snapshots: Snapshots) -> None:
        self._facts = facts
        self._snapshots = snapshots
        self._templates = [template for template, kind in KINDS.items() for _ in range(kind.share)]
        Random(facts.seed).shuffle(self._templates)  # noqa: S311 - a pretence, not a secret

    @cached_property
    def parties(self) -> list[str]:
        """Those that own contracts."""
        seed = self._facts.seed
        return [f"party-{number}::1220{fingerprint(seed, 'owner', number)}" for number in range(PARTIES)]

    def template(self, index: int) -> Template:
        return self._templates[index % PERIOD] if index else DSO_RULES

    def of(self, templates: Collection[str], first: int, end: int) -> Iterator[int]:
        """The numbers of the contracts of some templates, from `first` to before `end`."""
        if first == 0 < end and str(DSO_RULES) in templates:
            yield 0
        places = [place for place, template in enumerate(self._templates) if str(template) in templates]
        if places:
            for start in range(first - first % PERIOD, end, PERIOD):
                yield from (index for place in places if max(first, 1) <= (index := start + place) < end)

    def stakeholders(self, index: int) -> list[str]:
        """The parties that see a contract, but for the DSO, which sees all: its owner, and sometimes another."""
        drawn = scatter(index + self._facts.seed)
        owner, other = drawn % PARTIES, drawn // PARTIES % PARTIES
        if owner == other or not KINDS[self.template(index)].is_shared:
            return [self.parties[owner]]
        return [self.parties[owner], self.parties[other]]

    def contract(self, index: int) -> Contract:
        facts, template = self._facts, self.template(index)
        owner, *others = self.stakeholders(index)
        created_at = self._snapshots.created_at(index)
        written = moment(created_at)
        digest = fingerprint(facts.seed, "contract", index)
        drawn = int(digest[:13], 16)
        lot = Lot(drawn, digest, owner, others[0] if others else owner, facts.dso_party, written)
        return Contract(
            contract_id=f"00{digest}ca121220{digest[::-1]}",
            template=template,
            version=drawn % template.versions,
            arguments=KINDS[template].payload(lot),
            created_at=written,
            is_imported=created_at < facts.migration.began,
            created_in=f"1220{digest[32:]}{digest[:32]}",
            signatories=[facts.dso_party, owner],
            observers=others,
        )
