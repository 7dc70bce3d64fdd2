"""The entries of the name service: of a few parties, which expire unless renewed, and of the DSO, which never do."""

from dataclasses import dataclass
from typing import Any

from exporter.simulator.facts import DAY, Facts, moment
from exporter.simulator.templates import contract_id

RENEWED_SECONDS = 90 * DAY
SUFFIX = ".unverified.cns"


@dataclass
class Name:
    party: str
    expires_at: float
    renewals: int = 0

    @property
    def owner(self) -> str:
        return self.party.partition("::")[0]


class Names:
    """Each owner of a name has one, and keeps it until it expires, however long the world lasts."""

    def __init__(self, facts: Facts, owners: dict[str, float], svs: list[str]) -> None:
        """Take the owners with the seconds after which their names expire, and the super validators; all by party."""
        self._facts = facts
        self._names = {party: Name(party, facts.began + seconds) for party, seconds in owners.items()}
        self._of_the_dso = {facts.dso_party: "dso.cns"} | {party: f"{party.partition('::')[0]}.sv.cns" for party in svs}

    def name(self, owner: str) -> Name:
        """That of a party, by all of it or what it has before its colons; a KeyError if it has none that expires."""
        for party, name in self._names.items():
            if owner in (party, name.owner):
                return name
        owners = ", ".join(name.owner for name in self._names.values())
        raise KeyError(f"There is no owner {owner!r} of a name that expires, only {owners}.")

    def expire(self, owner: str, seconds: float) -> None:
        """Let a name expire so many seconds from now, as if it had not been renewed in time."""
        name = self.name(owner)
        if not seconds > 0:
            raise ValueError("A name can expire only later than now.")
        self._change(name, self._facts.now() + seconds)

    def renew(self, owner: str) -> None:
        self._change(self.name(owner), self._facts.now() + RENEWED_SECONDS)

    @staticmethod
    def _change(name: Name, expires_at: float) -> None:
        name.expires_at = expires_at
        name.renewals += 1

    def entry(self, party: str) -> dict[str, Any] | None:
        """What is said of a party's name, unless it has none or had one once."""
        if party in self._of_the_dso:
            return self._entry(party, None, self._of_the_dso[party], "", None)
        name = self._names.get(party)
        if name is None or name.expires_at <= self._facts.now():
            return None
        identity = contract_id(self._facts.seed, party, "name", name.renewals)
        url = f"https://{name.owner}.example"
        return self._entry(party, identity, name.owner + SUFFIX, url, moment(name.expires_at))

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
