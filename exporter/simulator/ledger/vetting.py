"""Which versions of which packages the participants of a network have vetted, and since and until when."""

from collections.abc import Iterator
from dataclasses import dataclass

from exporter.simulator.facts import DAY, ELSEWHERE, Facts, fingerprint
from exporter.simulator.ledger.app_templates import APP_PACKAGES, package_id
from exporter.simulator.world.rules_config import CYCLE, PACKAGES

# How the packages are called that the network's rules require.
PACKAGE_NAMES = {
    "amulet": "splice-amulet",
    "amuletNameService": "splice-amulet-name-service",
    "dsoGovernance": "splice-dso-governance",
    "validatorLifecycle": "splice-validator-lifecycle",
    "wallet": "splice-wallet",
    "walletPayments": "splice-wallet-payments",
}
OLDER_VERSIONS = 3
FIRST_SERIAL = 12


@dataclass(frozen=True)
class Vetted:
    package: str
    version: str
    valid_from: float | None = None
    valid_until: float | None = None

    @property
    def id(self) -> str:
        return package_id(self.package, self.version)


@dataclass(frozen=True)
class Vettings:
    """What one participant has vetted on one synchronizer."""

    participant: str
    synchronizer: str
    serial: int
    packages: list[Vetted]


def required_patches(key: str) -> list[int]:
    """The last part of each version that the rules require by themselves, sooner or later."""
    versions = [PACKAGES[key], *(version for changes in CYCLE for version in changes.get(f"packageConfig.{key}", []))]
    return sorted({int(version.rpartition(".")[2]) for version in versions})


def network_packages(began: float) -> Iterator[Vetted]:
    """All that the rules will require, some older versions, of which one has ended, and one that is yet to begin."""
    for key, package in PACKAGE_NAMES.items():
        patches = required_patches(key)
        oldest, newest = patches[0] - OLDER_VERSIONS, patches[-1]
        for patch in range(oldest, newest + 1):
            valid_from = began - DAY if patch == newest else None
            valid_until = began - 10 * DAY if patch == oldest else began + 30 * DAY if patch == oldest + 1 else None
            yield Vetted(package, f"0.1.{patch}", valid_from, valid_until)
        yield Vetted(package, f"0.1.{newest + 1}", valid_from=began + 7 * DAY)


class Vetting:
    """What a participant sees of all vetting: its own, which may be taken back by hand, and that of others."""

    def __init__(self, facts: Facts, participant: str, *, left_synchronizer: bool) -> None:
        self._facts = facts
        self._participant = participant
        self._left_synchronizer = left_synchronizer
        network = list(network_packages(facts.began))
        self._app = [Vetted(package, version) for package, version in APP_PACKAGES.items()]
        self._network = network
        self._taken: set[tuple[str, str]] = set()
        self._changes = 0

    @property
    def uploaded(self) -> list[str]:
        """The ids of the packages that this participant has, vetted or not."""
        languages = [fingerprint("package", "language", number) for number in range(8)]
        return sorted([*languages, *(vetted.id for vetted in [*self._app, *self._network])])

    def own(self) -> list[Vetted]:
        every = [*self._app, *self._network]
        return [vetted for vetted in every if (vetted.package, vetted.version) not in self._taken]

    def take(self, package: str, version: str) -> None:
        """Vet a version no longer; a KeyError if it was not vetted."""
        if not any((vetted.package, vetted.version) == (package, version) for vetted in self.own()):
            raise KeyError(f"{package} {version} is not vetted.")
        self._taken.add((package, version))
        self._changes += 1

    def give_back(self, package: str, version: str) -> None:
        """Vet a version again that was taken; a KeyError if it was not."""
        if (package, version) not in self._taken:
            raise KeyError(f"{package} {version} was not taken away.")
        self._taken.remove((package, version))
        self._changes += 1

    def everywhere(self) -> Iterator[Vettings]:
        """Of every participant on every synchronizer, in the order in which pages have them."""
        here, began = self._facts.synchronizer, self._facts.began
        for name in ELSEWHERE:
            other = self._facts.participant_id(name)
            # The others are in no hurry with what nobody requires yet.
            due = [each for each in self._network if each.valid_from is None or each.valid_from <= began]
            yield Vettings(other, here, FIRST_SERIAL, due)
        yield Vettings(self._participant, here, FIRST_SERIAL + self._changes, self.own())
        if self._left_synchronizer:
            yield Vettings(self._participant, self._facts.old_synchronizer, FIRST_SERIAL, self._network)
