"""The mining rounds: three that are open, the newest of which opens with the next tick, and three that are issuing.

Ticks fall on the multiples of the interval, in Unix time. With each a round is created and the oldest open one closes,
which from then on is issuing.
"""

import math
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import Facts, moment
from exporter.simulator.world.rules_config import TRANSFERS, curve
from exporter.simulator.world.templates import Template, contract_id, contract_json

OPEN = Template("splice-amulet", "Splice.Round:OpenMiningRound")
ISSUING = Template("splice-amulet", "Splice.Round:IssuingMiningRound")

# The newest round when the world begins.
FIRST_ROUND = 90_000
OPEN_ROUNDS = 3
ISSUING_ROUNDS = 3

PRICE = 0.15
SWING = 0.03
ROUNDS_OF_A_SWING = 300


class Rounds:
    def __init__(self, facts: Facts, interval: float) -> None:
        if not interval > 0:
            raise ValueError("A round is to take longer than 0 seconds.")
        self._facts = facts
        self.interval = interval

    @property
    def newest(self) -> int:
        """The number of the round that opens with the next tick."""
        facts = self._facts
        return FIRST_ROUND + int(facts.now() // self.interval) - int(facts.began // self.interval)

    @property
    def newest_closed(self) -> int:
        return self.newest - OPEN_ROUNDS

    def open(self, dialect: Dialect) -> list[dict[str, Any]]:
        return [self._open(number, dialect) for number in range(self.newest_closed + 1, self.newest + 1)]

    def issuing(self, dialect: Dialect) -> list[dict[str, Any]]:
        closed = self.newest_closed
        return [self._issuing(number, dialect) for number in range(closed - ISSUING_ROUNDS + 1, closed + 1)]

    def price(self, number: int) -> str:
        """What an amulet costs in a round: up and down within two days, at the pace of the network."""
        return f"{PRICE + SWING * math.sin(2 * math.pi * number / ROUNDS_OF_A_SWING):.10f}"

    def _open(self, number: int, dialect: Dialect) -> dict[str, Any]:
        created_at = self._created_at(number)
        tick = {"microseconds": str(round(self.interval * 1_000_000))}
        payload = {
            "dso": self._facts.dso_party,
            "round": {"number": str(number)},
            "amuletPrice": self.price(number),
            "opensAt": moment(created_at + self.interval),
            "targetClosesAt": moment(created_at + 3 * self.interval),
            "issuingFor": {"microseconds": str(round(number * self.interval * 1_000_000))},
            "transferConfigUsd": TRANSFERS,
            "issuanceConfig": curve("40000000000.0", "0.05", "0.15"),
            "tickDuration": tick,
            "trafficPrice": None,
            "rewardConfig": None,
        }
        return contract_json(OPEN, self._contract_id(number, "open"), payload, created_at, dialect)

    def _issuing(self, number: int, dialect: Dialect) -> dict[str, Any]:
        created_at = self._created_at(number + OPEN_ROUNDS)
        payload = {
            "dso": self._facts.dso_party,
            "round": {"number": str(number)},
            "issuancePerValidatorRewardCoupon": "0.2000000000",
            "issuancePerFeaturedAppRewardCoupon": "100.0000000000",
            "issuancePerUnfeaturedAppRewardCoupon": "0.6000000000",
            "issuancePerSvRewardCoupon": f"{0.4 + number % 7 / 100:.10f}",
            "opensAt": moment(created_at + self.interval),
            "targetClosesAt": moment(created_at + 3 * self.interval),
            "optIssuancePerValidatorFaucetCoupon": "2.8500000000",
        }
        return contract_json(ISSUING, self._contract_id(number, "issuing"), payload, created_at, dialect)

    def _created_at(self, number: int) -> float:
        return (int(self._facts.began // self.interval) + number - FIRST_ROUND) * self.interval

    def _contract_id(self, number: int, state: str) -> str:
        return contract_id(self._facts.seed, "round", number, state)
