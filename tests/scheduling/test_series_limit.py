"""No more series than allowed, and the same ones from run to run."""

from exporter.metrics.metric import Metric, Sample
from exporter.scheduling.series_limit import cap

EXPIRY = Metric("canton_expiry_seconds", "When.", ("party", "name"))


def series(*parties: str) -> list[Sample]:
    return [EXPIRY.sample(1, party=party, name="") for party in parties]


def test_the_cap_keeps_the_series_that_were_shown_before() -> None:
    shown = cap(series("a", "b", "c"), (), 2)
    assert shown == series("a", "b")
    assert cap(series("x", "y", "b", "a"), shown, 2) == series("b", "a")
    assert cap(series("x", "y", "b"), shown, 2) == series("x", "b")


def test_under_the_cap_everything_is_shown() -> None:
    assert cap(series("a", "b"), (), 2) == series("a", "b")
