"""The thresholds of rules and panels: one list, so that a panel turns red where its alert fires."""

from dataclasses import dataclass
from enum import StrEnum

HOUR = 3_600
DAY = 24 * HOUR


class Unit(StrEnum):
    SECONDS = "seconds"
    DURATION = "duration"
    """As PromQL writes it: 45m."""
    BYTES = "bytes"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True)
class Threshold:
    name: str
    default: int | float | str
    unit: Unit
    meaning: str
    is_wall_clock: bool = False
    """Whether it is measured by real clocks, so that compressed time does not compress it."""

    @property
    def token(self) -> str:
        return f"@{self.name}@"


THRESHOLDS = {
    each.name: each
    for each in [
        Threshold(
            "runbooks",
            "https://github.com/canton-exporter/canton-exporter/blob/main/docs/runbooks",
            Unit.TEXT,
            "where the pages of the alerts are",
        ),
        Threshold("ledgerLagHigh", 60, Unit.SECONDS, "lag of a ledger: warning"),
        Threshold("ledgerLagCritical", 90, Unit.SECONDS, "lag of a ledger: critical"),
        Threshold("ledgerStandstill", 45 * 60, Unit.SECONDS, "lag of a ledger whose end moves and record times do not"),
        Threshold("ledgerQuietAfter", "45m", Unit.DURATION, "a ledger may stand still so long; 20m for busy ones"),
        Threshold("ledgerFarBehindWarning", DAY, Unit.SECONDS, "age of a ledger's newest record time: warning"),
        Threshold("ledgerFarBehindCritical", 7 * DAY, Unit.SECONDS, "age of a ledger's newest record time: critical"),
        Threshold("pruningStalledAfter", "7d", Unit.DURATION, "the pruned offset may stand still so long"),
        Threshold("scanBehindWarning", 600, Unit.SECONDS, "age of a scan's newest event: warning"),
        Threshold("scanBehindCritical", 1_800, Unit.SECONDS, "age of a scan's newest event: critical"),
        Threshold("roundOldWarning", 1_800, Unit.SECONDS, "age of the newest open round: warning"),
        Threshold("roundOldCritical", 3_600, Unit.SECONDS, "age of the newest open round: critical"),
        Threshold("acsSnapshotWarning", 5 * HOUR, Unit.SECONDS, "age of the newest snapshot: warning"),
        Threshold("acsSnapshotCritical", 8 * HOUR, Unit.SECONDS, "age of the newest snapshot: critical"),
        Threshold("acsCountOld", 4 * HOUR, Unit.SECONDS, "the counted snapshot behind the newest"),
        Threshold("acsGrowthRatio", 1.2, Unit.NUMBER, "contracts of the last day to those of the week"),
        Threshold("acsGrowthFloor", 10_000, Unit.NUMBER, "and at least so many more"),
        Threshold("packagesIgnored", "splice-dso-governance", Unit.TEXT, "packages that need not be vetted, a pattern"),
        Threshold("transferStuckWarning", 600, Unit.SECONDS, "age of a transfer under way: warning"),
        Threshold("transferStuckCritical", 3_600, Unit.SECONDS, "age of a transfer under way: critical"),
        Threshold("ansEntryWarning", 28 * DAY, Unit.SECONDS, "time left of a name: warning"),
        Threshold("ansEntryCritical", 7 * DAY, Unit.SECONDS, "time left of a name: critical"),
        Threshold("certificateWarning", 21 * DAY, Unit.SECONDS, "time left of a certificate: warning"),
        Threshold("certificateCritical", 7 * DAY, Unit.SECONDS, "time left of a certificate: critical"),
        Threshold("tokenWarning", DAY, Unit.SECONDS, "time left of a token that nobody renews: warning"),
        Threshold("tokenCritical", HOUR, Unit.SECONDS, "time left of a token that nobody renews: critical"),
        Threshold("trafficReserve", 200_000, Unit.BYTES, "traffic left: critical"),
        Threshold("trafficPace", "6h", Unit.DURATION, "over which time the pace of traffic is taken"),
        Threshold("trafficRunwayWarning", DAY, Unit.SECONDS, "how long traffic lasts: warning"),
        Threshold("trafficRunwayCritical", 2 * HOUR, Unit.SECONDS, "how long traffic lasts: critical"),
        Threshold("upgradeInfo", 7 * DAY, Unit.SECONDS, "time until an announced upgrade: info"),
        Threshold("upgradeWarning", DAY, Unit.SECONDS, "time until an announced upgrade: warning"),
        Threshold("clockSkew", 2, Unit.SECONDS, "difference of clocks", is_wall_clock=True),
    ]
}

OFF_BY_DEFAULT = ("CantonPruningStalled", "CantonWatchdog")


def default(name: str) -> float:
    """Return the default of a threshold that is a number."""
    value = THRESHOLDS[name].default
    if isinstance(value, str):
        raise TypeError(f"{name} is no number")
    return value
