"""The traffic of a few members of the synchronizer: what they consume, and what they buy before it runs out."""

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


def members(facts: Facts) -> dict[str, Member]:
    """Two participants and a mediator, by their ids."""
    names = ("PAR::my-participant", "PAR::my-next-participant", "MED::sv-1")
    ids = [f"{name}::1220{fingerprint(facts.seed, 'member', name)}" for name in names]
    return {identity: Member(facts, identity) for identity in ids}
