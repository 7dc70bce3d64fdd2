"""What the chart takes the exporter takes too: values at random, rendered by the one and read by the other."""

import random
from pathlib import Path
from typing import Any

import pytest

from exporter.cli.commands import taken_labels
from exporter.collectors import discover
from exporter.config.loader import load
from exporter.errors import WrongConfiguration
from tests.chart.engine import FULLNAME, Values, helm, render, the

REFERENCE = {"secretKeyRef": {"name": "s", "key": "k"}}
OPTIONS: dict[str, Any] = {
    "ans_entries": {"parties": ["p"]},
    "ledger_completions": {"parties": ["p"]},
    "traffic": {"members": ["PAR::a::b"]},
    "transfer_commands": {"commands": [{"sender": "a"}]},
    "update_lookup": {"hashes": ["ab" * 16]},
}
CASES = 25


class Chance:
    """Values that are mostly right; in the ways they are wrong people are, too."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - the same values each time

    def values(self) -> Values:
        names = self._random.sample(["a", "b", "c"], self._random.randint(1, 2))
        config: dict[str, Any] = {"targets": {name: self._target() for name in names}}
        return {"config": config | self._maybe(0.5, defaults=self._shared)}

    def _maybe(self, chance: float, **made: Any) -> dict[str, Any]:
        return {name: make() for name, make in made.items() if self._random.random() < chance}

    def _target(self) -> dict[str, Any]:
        url = self._random.choice(["http://a:1", "https://b/api", "http://[::1]:5/x", "http://c?k=v", REFERENCE])
        said = {"kind": self._random.choice(["ledger", "participant", "scan", "validator"]), **self._shared()}
        return said | self._random.choice([{"url": url}] * 8 + [{"url_file": "/u"}, {}])

    def _shared(self) -> dict[str, Any]:
        choice = self._random.choice
        bearer = {"type": "bearer"}
        return {
            **self._maybe(
                0.3,
                auth=lambda: choice([{"type": "none"}, bearer, bearer | REFERENCE, bearer | {"token_file": "/t"}]),
                headers=lambda: {choice(["X-Name", "x-name", "Authorization"]): REFERENCE, "Accept": "a"},
                collectors=lambda: dict(self._collector() for _ in range(choice([1, 2]))),
            ),
            **self._maybe(
                0.2,
                header_files=lambda: {choice(["X-Name", "authorization"]): "/h"},
                labels=lambda: {choice(["team", "env", "party"]): "a"},
                timeout=lambda: choice(["3s", "1m30s"]),
            ),
            **self._maybe(0.5, role=lambda: choice(["own", "observed"])),
        }

    def _collector(self) -> tuple[str, dict[str, Any]]:
        name = self._random.choice([*OPTIONS, "health", "coin_rules"])
        return name, self._maybe(
            0.5,
            enabled=lambda: self._random.random() < 0.5,
            interval=lambda: "2m",
            **({"options": lambda: OPTIONS[name]} if name in OPTIONS else {}),
        )


@pytest.mark.parametrize("seed", range(4))
def test_what_it_takes_the_exporter_takes(seed: int, tmp_path: Path) -> None:
    chance, file, taken = Chance(seed), tmp_path / "exporter.yaml", 0
    for values in (chance.values() for _ in range(CASES)):
        try:
            objects = render(values)
        except helm.HelmError:
            continue
        taken += 1
        file.write_text(the(objects, "ConfigMap", FULLNAME)["data"]["exporter.yaml"])
        try:
            load(file, discover(), taken_labels())
        except WrongConfiguration as error:
            pytest.fail(f"the chart takes {values}, and the exporter says {error}")
    assert taken >= CASES // 5, "or this would prove little"
