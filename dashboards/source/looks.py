"""How values look: units, colours, and words for numbers that stand for a state."""

from dataclasses import dataclass

from dashboards.source.grafana import model
from dashboards.source.thresholds import default

GREEN, ORANGE, RED, BLUE, GREY = "green", "orange", "red", "blue", "#8e8e8e"
Steps = tuple[tuple[float | None, str], ...]


@dataclass(frozen=True)
class Look:
    """A unit, words for single values, and from which value on which colour is shown."""

    unit: str
    words: tuple[tuple[int, str, str], ...] = ()
    steps: Steps = ((None, BLUE),)
    decimals: int | None = None

    def mappings(self, *, is_stat: bool = False) -> list[model.ValueMapping]:
        """Return words for values. A stat that has no series shows its own text, which one for null would hide."""
        words = {
            str(value): model.ValueMappingResult(text=text, color=color, index=index)
            for index, (value, text, color) in enumerate(self.words)
        }
        match = model.SpecialValueMatch.NA_N if is_stat else model.SpecialValueMatch.NULL_AND_NAN
        unknown = model.ValueMappingResult(text="unknown", color=GREY, index=len(words))
        special = model.SpecialValueMap(options=model.DashboardSpecialValueMapOptions(match, unknown))
        return [*([model.ValueMap(words)] if words else []), special]

    def thresholds(self) -> list[model.Threshold]:
        return [model.Threshold(value, color) for value, color in self.steps]


def states(*words: tuple[int, str, str]) -> Look:
    """Return the look of a number that stands for a state, most often 0 or 1."""
    return Look("none", words, ((None, GREY),))


def rises(unit: str, *, warning: str | None = None, critical: str | None = None) -> Look:
    """Return the look of what is bad above the alerts' thresholds of these names."""
    named = [(default(name), color) for name, color in ((warning, ORANGE), (critical, RED)) if name]
    return Look(unit, steps=((None, GREEN), *named))


def falls(unit: str, *, critical: str, warning: str | None = None) -> Look:
    """Return the look of what is bad below the alerts' thresholds of these names."""
    if warning is None:
        return Look(unit, steps=((None, RED), (default(critical), GREEN)))
    return Look(unit, steps=((None, RED), (default(critical), ORANGE), (default(warning), GREEN)))


UP = states((1, "up", GREEN), (0, "down", RED))
READY = states((1, "ready", GREEN), (0, "not ready", ORANGE))
US_OR_NETWORK = states((0, "healthy", GREEN), (1, "it is us", RED), (2, "the network", BLUE), (3, "unknown", GREY))
ADVANCES = states((1, "goes on", GREEN), (0, "stands still", RED))
STUCK = states((0, "moves", GREEN), (1, "stands still", RED))
YES = states((1, "yes", GREEN), (0, "no", ORANGE))
FACT = states((1, "yes", BLUE), (0, "no", GREY))
BAD = Look("short", steps=((None, GREEN), (1, RED)), decimals=0)
"""For a count of what should not be: one is an alert."""
WORTH_A_LOOK = Look("short", steps=((None, GREEN), (1, ORANGE)), decimals=0)
COUNT = Look("short", decimals=0)
NUMBER = Look("none")
WHOLE = Look("none", decimals=0)
SECONDS = Look("s")
BYTES = Look("decbytes")
BYTES_A_SECOND = Look("Bps")
DATE = Look("dateTimeAsIso")
FROM_NOW = Look("dateTimeFromNow")
USD = Look("currencyUSD", decimals=4)
RATIO = Look("percentunit", decimals=1)
GROWTH = Look("percentunit", steps=((None, GREEN), (default("acsGrowthRatio"), ORANGE)), decimals=1)
LAG = rises("s", warning="ledgerLagHigh", critical="ledgerLagCritical")
SCAN = rises("s", warning="scanBehindWarning", critical="scanBehindCritical")
SNAPSHOT = rises("s", warning="acsSnapshotWarning", critical="acsSnapshotCritical")
ROUND = rises("s", warning="roundOldWarning", critical="roundOldCritical")


def each_second(what: str) -> Look:
    return Look(f"suffix: {what}/s")
