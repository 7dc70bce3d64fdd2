"""sv_reward_weight: the weight of each super validator by the last accepted vote, as of now or of a time."""

from typing import Any

import pytest

from exporter.collectors.sv_reward_weight import sv_reward_weight
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

SV1, SV2 = "sv-1::12", "sv-2::12"
OPTIONS: dict[str, Any] = {"parties": [SV1]}
PATH = "/v0/admin/sv/previous-sv-reward-weight"


def tell(node: TestNode, weight: Any, party: str = SV1, **body: str) -> None:
    node.post(PATH, {"svParty": party, **body}, answers={"rewardWeight": weight})


def answer_well(node: TestNode) -> None:
    tell(node, "12345")


@pytest.mark.parametrize(
    ("weight", "value"), [("12345", "12345.0"), (12345, "12345.0"), ("0", "0.0"), (0, "0.0")], ids=repr
)
async def test_says_the_weight_as_text_or_as_a_number(node: TestNode, lines: Lines, weight: Any, value: str) -> None:
    tell(node, weight)
    assert await lines(sv_reward_weight, **OPTIONS) == [f'canton_sv_reward_weight{{sv="sv-1::12"}} {value}']


@pytest.mark.parametrize("answer", [{}, {"rewardWeight": None}], ids=str)
async def test_one_that_nobody_voted_on_has_no_series(node: TestNode, lines: Lines, answer: Any) -> None:
    node.post(PATH, {"svParty": SV1}, answers=answer)
    tell(node, "7", SV2)
    assert await lines(sv_reward_weight, parties=[SV1, SV2]) == ['canton_sv_reward_weight{sv="sv-2::12"} 7.0']


async def test_nobody_with_a_weight_is_nothing_to_show(node: TestNode, lines: Lines) -> None:
    tell(node, None)
    assert await lines(sv_reward_weight, **OPTIONS) == []


async def test_parties_are_shown_in_the_order_they_are_listed_and_asked_of_once(node: TestNode, lines: Lines) -> None:
    tell(node, "1")
    tell(node, "2", SV2)
    assert await lines(sv_reward_weight, parties=[SV2, SV1, SV2]) == [
        'canton_sv_reward_weight{sv="sv-2::12"} 2.0',
        'canton_sv_reward_weight{sv="sv-1::12"} 1.0',
    ]
    assert len(node.requests) == 2


@pytest.mark.parametrize(
    ("configured", "asked"),
    [
        ("2026-12-01T00:00:00Z", "2026-12-01T00:00:00+00:00"),
        ("2026-12-01T00:00:00+02:00", "2026-12-01T00:00:00+02:00"),
    ],
)
async def test_asks_for_changes_before_the_time_configured(
    node: TestNode, lines: Lines, configured: str, asked: str
) -> None:
    tell(node, "9", effectiveBefore=asked)
    shown = await lines(sv_reward_weight, **OPTIONS, effective_before=configured)
    assert shown == ['canton_sv_reward_weight{sv="sv-1::12"} 9.0']


async def test_a_party_the_scan_does_not_take_is_refused(node: TestNode, lines: Lines) -> None:
    node.post(PATH, {"svParty": "nobody"}, status=400, answers={"error": "Invalid party"})
    assert await lines(sv_reward_weight, parties=["nobody"]) == [f"refused: POST {PATH}: 400: Invalid party"]


@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_release_without_the_operation_is_unsupported(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    node.post(PATH, {"svParty": SV1}, status=404, **answer)
    [line] = await lines(sv_reward_weight, **OPTIONS)
    assert line.startswith(f"unsupported: POST {PATH}: 404: ")


@pytest.mark.parametrize(
    "weight", ["", "many", "-1", -1, "1.5", 1.5, "1e3", "\u0663", "NaN", "9" * 20, 2**63, True, [], {}], ids=repr
)
async def test_a_weight_that_is_no_number_is_malformed(node: TestNode, lines: Lines, weight: Any) -> None:
    tell(node, weight)
    [line] = await lines(sv_reward_weight, **OPTIONS)
    assert line.startswith(f"malformed: POST {PATH}: not the documented answer: ")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({}, "parties"),
        ({"parties": []}, "needs at least one entry"),
        ({"parties": [""]}, "must not be empty"),
        ({"parties": [SV1], "effective_before": "soon"}, "effective_before"),
        ({"parties": [SV1], "effective_before": "2026-12-01T00:00:00"}, "must be a time with its zone"),
    ],
)
async def test_refuses_what_names_no_party_or_no_time(
    node: TestNode, lines: Lines, options: dict[str, Any], fault: str
) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(sv_reward_weight, **options)
