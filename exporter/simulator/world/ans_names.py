"""The entries of the name service: of a few parties, which expire unless renewed, and of the DSO, which never do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from exporter.simulator.facts import DAY, Facts, moment
from exporter.simulator.world.templates import contract_id

RENEWED_SECONDS = 90 * DAY
SUFFIX = ".unverified.cns"


@dataclass
class Name:
    party: str
    label: str
    expires_at: float
    renewals: int = 0

    @property
    def text(self) -> str:
        return self.label + SUFFIX


class Names:
    """Each name is its owner's until it expires, however long the world lasts."""

    def __init__(self, facts: Facts, names: Iterable[Name], svs: list[str]) -> None:
        self._facts = facts
        self._names = sorted(names, key=lambda name: name.text)
        self._of_the_dso = {facts.dso_party: "dso.cns"} | {party: f"{party.partition('::')[0]}.sv.cns" for party in svs}

    def name(self, wanted: str) -> Name:
        """A name by its label, or the first of a party; a KeyError if there is none that expires."""
        for name in self._names:
            if wanted in (name.party, name.label):
                return name
        labels = ", ".join(name.label for name in self._names)
        raise KeyError(f"There is no name {wanted!r} that expires, only {labels}.")

    def expire(self, wanted: str, seconds: float) -> None:
        """Let a name expire so many seconds from now, as if it had not been renewed in time."""
        name = self.name(wanted)
        if not seconds > 0:
            raise ValueError("A name can expire only later than now.")
        self._change(name, self._facts.now() + seconds)

    def renew(self, wanted: str) -> None:
        self._change(self.name(wanted), self._facts.now() + RENEWED_SECONDS)

    @staticmethod
    def _change(name: Name, expires_at: float) -> None:
        name.expires_at = expires_at
        name.renewals += 1

    def entry(self, party: str) -> dict[str, Any] | None:
        """What is said of a party's first name, unless it has none or had one once."""
        if party in self._of_the_dso:
            return self._entry(party, None, self._of_the_dso[party], "", None)
        return next((self.show(name) for name in self._valid() if name.party == party), None)

    def entries(self, prefix: str, most: int) -> list[dict[str, Any]]:
        """The names that begin so, in order and no more than so many; those that never expire are the last."""
        found = [self.show(name) for name in self._valid() if name.text.startswith(prefix)]
        of_the_dso = self._of_the_dso.items()
        found += [self._entry(party, None, name, "", None) for party, name in of_the_dso if name.startswith(prefix)]
        return found[:most]

    def show(self, name: Name) -> dict[str, Any]:
        identity = contract_id(self._facts.seed, name.party, name.label, name.renewals)
        return self._entry(name.party, identity, name.text, f"https://{name.label}.example", moment(name.expires_at))

    def _valid(self) -> Iterator[Name]:
        return (name for name in self._names if name.expires_at > self._facts.now())

    @staticmethod
    def _entry(party: str, identity: str | None, name: str, url: str, expires_at: str | None) -> dict[str, Any]:
        return {
            "contract_id": identity,
            "user": party,
            "name": name,
            "url": url,
            "description": f"Zahlungen für „{name}“" if identity else "",
            "expires_at": expires_at,
        }
