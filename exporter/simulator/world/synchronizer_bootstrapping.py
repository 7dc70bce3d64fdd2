"""The transactions with which a synchronizer is set up: bytes that say nothing, as long as those that do."""

import base64
from random import Random

from exporter.simulator.facts import Facts

SIZES = {"domain_parameters": 1_200, "sequencer_domain_state": 6_000, "mediator_domain_state": 2_500}


def bootstrapping(facts: Facts) -> dict[str, str]:
    """The same from all scans, as long as the world lasts."""
    return {
        name: base64.b64encode(Random(f"{facts.seed}/{name}").randbytes(size)).decode()  # noqa: S311 - a pretence
        for name, size in SIZES.items()
    }
