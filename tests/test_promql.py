"""How tests read expressions."""

import pytest

from tests.promql import Selector, result, selectors


def test_a_selector_has_the_labels_it_is_matched_grouped_and_joined_by() -> None:
    assert selectors('max by (a) (x{b="1"}) * on (a) group_left (c) y and on (a) rate(z[5m])') == [
        Selector("x", ["b", "a", "a", "a"]),
        Selector("y", ["a"]),
        Selector("z", ["a"]),
    ]


def test_a_label_that_was_added_is_not_the_metric_s() -> None:
    assert selectors('label_replace(x, "new", "$1", "old", "(.*)") and on (new) y') == [
        Selector("x", ["old"]),
        Selector("y", ["new"]),
    ]


def test_a_label_that_was_aggregated_away_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="aggregated away"):
        selectors("sum by (a) (x) and on (b) y")


def test_a_result_keeps_what_it_is_aggregated_by() -> None:
    assert [
        (origin.selector.name, origin.kept) for origin in result("2 * sum by (a) (x) or last_over_time(y[1d])")
    ] == [
        ("x", frozenset({"a"})),
        ("y", None),
    ]
