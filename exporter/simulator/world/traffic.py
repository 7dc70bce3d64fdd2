"""The traffic of a few members of the synchronizer: what they consume, and what they buy before it runs out."""

from collections.abc import Sequence

from exporter.simulator.facts import Facts, chance, fingerprint

TOP_UP = 2_000_000
# Bought when less than this is left.
RESERVE = 500_000
# A purchase is part of the limit only after a while.
BUYING_SECONDS = 30.0


class Member:
    def __init__(self, facts: Facts, identity: str) -> None:
        self.id = identity
        self._facts = facts
        self._consumed = int(chance(identity, "consumed") * 50_000_000)
        self._rate = 500 + chance(identity, "rate") * 1_500  # bytes per second

    def status(self) -> dict[str, dict[str, int]]:
        now = self._facts.now()
        actual = {"total_consumed": self.consumed(now), "total_limit": self.limit(now)}
        return {"actual": actual, "target": {"total_purchased": self.limit(now + BUYING_SECONDS)}}

    def consumed(self, at: float) -> int:
        return self._consumed + int((at - self._facts.began) * self._rate)

    def limit(self, at: float) -> int:
        return ((self.consumed(at) + RESERVE) // TOP_UP + 1) * TOP_UP


def members(facts: Facts, participants: Sequence[str]) -> dict[str, Member]:
    """Participants by what their ledgers call them, and a mediator; all by their ids."""
    ids = [f"PAR::{facts.participant_id(name)}" for name in participants]
    ids.append(f"MED::sv-1::1220{fingerprint(facts.seed, 'mediator')}")
    return {identity: Member(facts, identity) for identity in ids}
