"""Metrics, their samples, and the counters that are kept of them."""

import math

import pytest

from exporter.metrics.counters import Counters
from exporter.metrics.metric import Metric, Sample

HEIGHT = Metric("canton_height", "How high.", ("round", "party"))
ASKED = Metric("canton_asked_total", "How often.", ("route",))
PLAIN = Metric("canton_plain_total", "How often.")


def test_a_metric_whose_name_ends_in_total_is_a_counter() -> None:
    assert (ASKED.type, HEIGHT.type) == ("counter", "gauge")


def test_a_scheduled_metric_says_where_it_comes_from() -> None:
    metric = Metric("canton_up", "1 if it is alive.", source="GET /livez")
    assert metric.help == ("1 if it is alive. From GET /livez.")
    assert HEIGHT.help == "How high."


@pytest.mark.parametrize("name", ["", "Canton", "1a", "_a", "a-b", "a b", "a\n", "ä", "a:b", "a.b"])
def test_a_name_that_prometheus_would_not_like_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a metric or label name of ours"):
        Metric(name, "")
    with pytest.raises(ValueError, match="is not a metric or label name of ours"):
        Metric("canton_fine", "", (name,))


def test_two_metrics_declared_alike_are_two() -> None:
    assert Metric("canton_a", "A.") != Metric("canton_a", "A.")


def test_a_sample_has_its_labels_in_the_order_they_were_declared() -> None:
    assert HEIGHT.sample(3, party="p", round="1") == Sample(HEIGHT, ("1", "p"), 3.0)


@pytest.mark.parametrize(
    "labels", [{}, {"round": "1"}, {"round": "1", "party": "p", "more": "m"}, {"round": "1", "x": ""}]
)
def test_a_sample_with_other_labels_than_declared_is_refused(labels: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"canton_height has the labels \('round', 'party'\), not "):
        HEIGHT.sample(1, **labels)


@pytest.mark.parametrize("text", [None, 1, True, b"p"])
def test_a_label_that_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(TypeError, match=r"canton_height: the label party is .* which is not a string"):
        HEIGHT.sample(1, round="1", party=text)  # type: ignore[arg-type]


def test_a_value_is_a_float_whatever_it_was() -> None:
    assert [type(PLAIN.sample(value).value) for value in (1, True, 2.5)] == [float, float, float]
    assert math.isnan(PLAIN.sample(math.nan).value)


@pytest.mark.parametrize("value", [None, "much", []])
def test_a_value_that_is_no_number_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        PLAIN.sample(value)  # type: ignore[arg-type]


def test_a_tally_counts_by_metric_and_labels() -> None:
    counters = Counters()
    counters.add(ASKED, "/a")
    counters.add(ASKED, "/b", amount=0.5)
    counters.add(ASKED, "/a", amount=2)
    assert counters.samples() == [Sample(ASKED, ("/a",), 3.0), Sample(ASKED, ("/b",), 0.5)]


def test_a_counter_without_labels_is_there_before_it_counts() -> None:
    counters = Counters([PLAIN])
    assert counters.samples() == [Sample(PLAIN, (), 0.0)]
    counters.add(PLAIN)
    assert counters.samples() == [Sample(PLAIN, (), 1.0)]


def test_a_tally_tells_that_it_changed() -> None:
    counters = Counters([PLAIN])
    assert counters.writes == 0
    counters.add(PLAIN, amount=0.0)
    counters.add(ASKED, "/a")
    assert counters.writes == 2


def test_samples_taken_earlier_do_not_change() -> None:
    counters = Counters([PLAIN])
    before = counters.samples()
    counters.add(PLAIN)
    assert before == [Sample(PLAIN, (), 0.0)]
