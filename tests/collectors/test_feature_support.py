"""feature_support: which features a scan says it supports."""

import pytest

from exporter.collectors.feature_support import feature_support
from tests.conftest import Lines
from tests.nodes import TestNode

PATH = "/v0/feature-support"


def answer_well(node: TestNode) -> None:
    node.get(PATH, answers={"dummy": True})


async def test_says_each_feature(node: TestNode, lines: Lines) -> None:
    node.get(PATH, answers={"no_holding_fees_on_transfers": False, "dummy": True})
    assert await lines(feature_support) == [
        'canton_feature_supported{feature="no_holding_fees_on_transfers"} 0.0',
        'canton_feature_supported{feature="dummy"} 1.0',
    ]


async def test_is_content_with_a_scan_that_names_none(node: TestNode, lines: Lines) -> None:
    for answer in ({}, {"dummy": None}):
        node.get(PATH, answers=answer)
        assert await lines(feature_support) == []


async def test_passes_over_what_is_no_feature(node: TestNode, lines: Lines) -> None:
    node.get(PATH, answers={"version": "3", "count": 1, "nested": {"a": True}, "a\nb": True})
    assert await lines(feature_support) == ['canton_feature_supported{feature="a\\nb"} 1.0']


async def test_a_scan_that_cannot_reach_its_database_is_refused(node: TestNode, lines: Lines) -> None:
    node.get(PATH, status=500, answers={"error": "An unexpected error occurred."})
    assert await lines(feature_support) == ["refused: GET /v0/feature-support: 500: An unexpected error occurred."]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({f"feature_{number}": True for number in range(201)}, "malformed"),
        ({"f" * 3_000: True}, "malformed"),
        ({"f": "x" * 300_000}, "too_large"),
    ],
)
async def test_a_scan_that_makes_up_features_does_not_fill_the_memory(
    node: TestNode, lines: Lines, answer: dict[str, object], reason: str
) -> None:
    node.get("/v0/feature-support", answers=answer)
    [line] = await lines(feature_support)
    assert line.startswith(f"{reason}: GET /v0/feature-support: ")
