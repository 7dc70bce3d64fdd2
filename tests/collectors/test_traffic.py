"""traffic: what members bought and used up, of the synchronizer that is configured or in the network's rules."""

from typing import Any

import pytest

from exporter.collectors.traffic import traffic
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

P1, P2 = "PAR::p1::12ab", "PAR::p2::12ab"
SYNCHRONIZER = "global-domain::12"
OPTIONS: dict[str, Any] = {"members": [P1]}
ROUTE = "/v0/domains/{domain_id}/members/{member_id}/traffic-status"
RULES = "/v0/amulet-rules"
NONE = {"error": "No traffic state found for member"}
SHOWN = [
    'canton_traffic_purchased_bytes_total{member="PAR::p1::12ab"} 8e+06',
    'canton_traffic_consumed_bytes_total{member="PAR::p1::12ab"} 1500.0',
    'canton_traffic_left_bytes{member="PAR::p1::12ab"} 5.9985e+06',
    'canton_traffic_pending_bytes{member="PAR::p1::12ab"} 2e+06',
]


def path(member: str = P1, synchronizer: str = SYNCHRONIZER) -> str:
    return ROUTE.format(domain_id=synchronizer, member_id=member).replace(":", "%3A")


def status(consumed: Any, limit: Any, purchased: Any = 8_000_000) -> dict[str, Any]:
    actual = {"total_consumed": consumed, "total_limit": limit}
    return {"traffic_status": {"actual": actual, "target": {"total_purchased": purchased}}}


def tell_rules(node: TestNode, domain_id: Any) -> None:
    contract = {"contract_id": "00ar1", "template_id": "f00d:Splice.AmuletRules:AmuletRules", "payload": {}}
    node.post(RULES, {}, answers={"amulet_rules_update": {"contract": contract, "domain_id": domain_id}})


def answer_well(node: TestNode) -> None:
    tell_rules(node, SYNCHRONIZER)
    node.get(path(), answers=status(1500, 6_000_000))


async def test_says_what_a_member_bought_and_used_up(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    for _ in range(2):
        assert await lines(traffic, **OPTIONS) == SHOWN
    assert len(node.requests) == 3, "the rules are asked for once"


async def test_a_synchronizer_that_is_configured_is_not_asked_for(node: TestNode, lines: Lines) -> None:
    node.get(path(synchronizer="app::34"), answers=status(1500, 6_000_000))
    assert await lines(traffic, **OPTIONS, synchronizer="app::34") == SHOWN
    assert len(node.requests) == 1


async def test_a_member_that_never_bought_any_has_0(node: TestNode, lines: Lines) -> None:
    node.get(path(), answers=status(0, 0, 0))
    assert await lines(traffic, **OPTIONS, synchronizer=SYNCHRONIZER) == [
        'canton_traffic_purchased_bytes_total{member="PAR::p1::12ab"} 0.0',
        'canton_traffic_consumed_bytes_total{member="PAR::p1::12ab"} 0.0',
        'canton_traffic_left_bytes{member="PAR::p1::12ab"} 0.0',
        'canton_traffic_pending_bytes{member="PAR::p1::12ab"} 0.0',
    ]


@pytest.mark.parametrize(
    ("consumed", "limit", "purchased", "left"), [(5, 3, 2, "0.0"), (5, 2**63 - 1, 0, "9.223372036854776e+18")]
)
async def test_nothing_is_left_or_pending_below_0(
    node: TestNode, lines: Lines, consumed: int, limit: int, purchased: int, left: str
) -> None:
    node.get(path(), answers=status(consumed, limit, purchased))
    shown = await lines(traffic, **OPTIONS, synchronizer=SYNCHRONIZER)
    assert shown[2:] == [
        f'canton_traffic_left_bytes{{member="PAR::p1::12ab"}} {left}',
        'canton_traffic_pending_bytes{member="PAR::p1::12ab"} 0.0',
    ]


@pytest.mark.parametrize("target", [{}, {"target": None}], ids=["absent", "null"])
async def test_where_a_scan_does_not_tell_what_was_bought_the_limit_stands_for_it(
    node: TestNode, lines: Lines, target: dict[str, Any]
) -> None:
    node.get(
        path(), answers={"traffic_status": {"actual": {"total_consumed": 1500, "total_limit": 6_000_000}, **target}}
    )
    assert await lines(traffic, **OPTIONS, synchronizer=SYNCHRONIZER) == [
        'canton_traffic_purchased_bytes_total{member="PAR::p1::12ab"} 6e+06',
        'canton_traffic_consumed_bytes_total{member="PAR::p1::12ab"} 1500.0',
        'canton_traffic_left_bytes{member="PAR::p1::12ab"} 5.9985e+06',
    ]


async def test_members_are_asked_of_once_and_one_nobody_knows_hides_no_other(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.get(path(P2), status=404, answers=NONE)
    assert await lines(traffic, members=[P2, P1, P2, P1]) == SHOWN
    assert [str(remark) for remark in lines.run.remarks] == [f"the synchronizer does not know the member {P2}"]
    assert len(node.requests) == 3


async def test_where_a_member_is_not_known_the_rules_are_asked_for_anew(node: TestNode, lines: Lines) -> None:
    tell_rules(node, "old::12")
    node.get(path(synchronizer="old::12"), status=404, answers=NONE)
    assert await lines(traffic, **OPTIONS) == []
    answer_well(node)
    assert await lines(traffic, **OPTIONS) == SHOWN
    assert lines.run.remarks == ()


@pytest.mark.parametrize("domain_id", [None, ""])
async def test_says_what_to_set_where_the_rules_are_nowhere(node: TestNode, lines: Lines, domain_id: Any) -> None:
    tell_rules(node, domain_id)
    assert await lines(traffic, **OPTIONS) == [
        "refused: the coin rules are on their way between two synchronizers; wait, or set the option synchronizer"
    ]


@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_scan_without_either_operation_is_unsupported(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    node.post(RULES, {}, status=404, **answer)
    node.post("/v0/coin-rules", {}, status=404, **answer)
    [line] = await lines(traffic, **OPTIONS)
    assert line.startswith(f"unsupported: POST {RULES}: 404: ")
    tell_rules(node, SYNCHRONIZER)
    node.get(path(), status=404, **answer)
    [line] = await lines(traffic, **OPTIONS)
    assert line.startswith(f"unsupported: GET {ROUTE}: 404: ")


async def test_a_member_the_scan_does_not_take_is_refused(node: TestNode, lines: Lines) -> None:
    node.get(path(), status=400, answers={"error": "Could not decode member ID"})
    [line] = await lines(traffic, **OPTIONS, synchronizer=SYNCHRONIZER)
    assert line == f"refused: GET {ROUTE}: 400: Could not decode member ID"


@pytest.mark.parametrize(
    "answer",
    [
        {"traffic_status": None},
        {"traffic_status": {"actual": None}},
        {"traffic_status": {"target": {"total_purchased": 1}}},
        *(status(value, 1) for value in (None, "1", 1.5, True, -1, 2**63)),
        *(status(1, value) for value in (None, "1", 1.5, True, -1, 2**63)),
        *(status(1, 1, value) for value in (None, "1", 1.5, True, -1, 2**63)),
        {"traffic_status": {"actual": {"total_consumed": 1, "total_limit": 1}, "target": {}}},
    ],
    ids=str,
)
async def test_an_answer_that_makes_no_sense_is_malformed(node: TestNode, lines: Lines, answer: Any) -> None:
    node.get(path(), answers=answer)
    [line] = await lines(traffic, **OPTIONS, synchronizer=SYNCHRONIZER)
    assert line.startswith(f"malformed: GET {ROUTE}: not the documented answer: ")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({}, "members"),
        ({"members": []}, "needs at least one entry"),
        *(
            ({"members": [member]}, "is not a member")
            for member in ("", "p1::12ab", "PAR::p1", "PAR::p1::xy", "par::p::1")
        ),
        ({"members": [P1], "synchronizer": ""}, "must not be empty"),
    ],
)
async def test_refuses_what_names_no_member(node: TestNode, lines: Lines, options: dict[str, Any], fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(traffic, **options)


async def test_the_rules_may_have_the_documents_name(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.lenient = True
    node.post(RULES, {}, status=404, answers=NO_ROUTE)
    node.post("/v0/coin-rules", {}, answers={"coin_rules_update": {"domain_id": SYNCHRONIZER}})
    assert await lines(traffic, **OPTIONS) == SHOWN


async def test_a_synchronizer_that_was_left_is_found_out_anew(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(traffic, **OPTIONS)
    node.get(path(), status=400, answers={"error": "not an active synchronizer"})
    tell_rules(node, "newer::12")
    node.get(path(synchronizer="newer::12"), answers=status(1500, 6_000_000))
    assert await lines(traffic, **OPTIONS) == SHOWN


async def test_a_member_that_makes_no_sense_to_the_synchronizer_of_the_rules_is_refused(
    node: TestNode, lines: Lines
) -> None:
    tell_rules(node, SYNCHRONIZER)
    node.get(path(), status=400, answers={"error": "not a member"})
    assert (await lines(traffic, **OPTIONS))[0].startswith("refused: GET /v0/domains")
