"""The super validators of the network, and the reward weights that proposals have given them."""

from dataclasses import dataclass

from exporter.simulator.facts import DAY, Facts, fingerprint

# After the beginning of the world the weight of the first changes.
CHANGING_SECONDS = 600.0


@dataclass(frozen=True)
class Weight:
    effective: float
    value: int


@dataclass(frozen=True)
class Sv:
    party: str
    weights: tuple[Weight, ...]  # as they follow each other

    @property
    def name(self) -> str:
        return self.party.partition("::")[0]

    def weight(self, now: float, before: float) -> int | None:
        """What the last proposal made it that took effect by now, and strictly before a time."""
        values = [weight.value for weight in self.weights if weight.effective <= now and weight.effective < before]
        return values[-1] if values else None


def svs(facts: Facts) -> dict[str, Sv]:
    """Three by their parties: one whose weight soon changes, one whose weight stays, one of which none was decided."""
    began = facts.began
    weights = {
        "sv-1": (Weight(began - 60 * DAY, 10_000), Weight(began + CHANGING_SECONDS, 12_345)),
        "sv-2": (Weight(began - 90 * DAY, 20_000), Weight(began - 10 * DAY, 15_000)),
        "sv-3": (),
    }
    parties = {name: f"{name}::1220{fingerprint(facts.seed, 'sv', name)}" for name in weights}
    return {party: Sv(party, weights[name]) for name, party in parties.items()}
