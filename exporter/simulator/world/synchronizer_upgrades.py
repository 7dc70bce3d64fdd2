"""The upgrade of the synchronizer that has been announced, if any has, and the serial of the one that is active."""

from dataclasses import dataclass

from exporter.simulator.facts import Facts, moment

FIRST_SERIAL = 5
PROTOCOL_VERSION = 35


@dataclass(frozen=True)
class Upgrade:
    time: float
    freeze_time: float
    serial: int


class Upgrades:
    """None is announced but by hand."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._serial = FIRST_SERIAL
        self._announced: Upgrade | None = None

    @property
    def serial(self) -> int:
        """That of the synchronizer in use, which with an upgrade becomes that of its successor."""
        announced = self._announced
        return announced.serial if announced is not None and self._facts.now() >= announced.time else self._serial

    @property
    def next(self) -> Upgrade | None:
        """What is announced and has not happened."""
        announced = self._announced
        return announced if announced is not None and self._facts.now() < announced.time else None

    def announce(self, upgrade_time: float, freeze_time: float | None = None, serial: int | None = None) -> None:
        """Take the place of what was announced before; by default topology is frozen halfway, for the next serial."""
        now, active = self._facts.now(), self.serial
        freeze_time = (now + upgrade_time) / 2 if freeze_time is None else freeze_time
        serial = active + 1 if serial is None else serial
        if upgrade_time <= now:
            raise ValueError("An upgrade can be announced only for later than now.")
        if freeze_time > upgrade_time:
            raise ValueError("Topology is frozen before the upgrade, not after it.")
        if serial <= active:
            raise ValueError(f"A successor has a greater serial than {active}, which is active.")
        self._serial = active
        self._announced = Upgrade(upgrade_time, freeze_time, serial)

    def withdraw(self) -> None:
        """Take back what is announced. What has happened already stays."""
        self._serial, self._announced = self.serial, None

    def json(self) -> dict[str, str] | None:
        upgrade = self.next
        if upgrade is None:
            return None
        return {
            "topologyFreezeTime": moment(upgrade.freeze_time),
            "upgradeTime": moment(upgrade.time),
            "successorPhysicalSynchronizerId": f"{self._facts.synchronizer}::{PROTOCOL_VERSION}-{upgrade.serial}",
        }
