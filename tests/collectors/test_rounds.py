"""rounds: the newest open and issuing round and the price of the coin, told by a scan or by a validator's proxy."""

from typing import Any

import pytest

from exporter.collectors.rounds import rounds
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

PATH = "/v0/open-and-issuing-mining-rounds"
PROXIED = "/v0/scan-proxy/open-and-issuing-mining-rounds"
KNOWN: dict[str, Any] = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
SHOWN = [
    'canton_round{state="open"} 90003.0',
    'canton_round{state="issuing"} 90000.0',
    'canton_round_opens_timestamp_seconds{state="open"} 1.7952228e+09',
    'canton_round_opens_timestamp_seconds{state="issuing"} 1.7952192e+09',
    "canton_coin_price_usd 0.15",
]
Said = dict[str, Any]


def round_(number: Any, opens_at: Any = "2026-11-21T01:00:00Z", **payload: Any) -> Said:
    said = {"round": {"number": number}, "opensAt": opens_at, "tickDuration": {"microseconds": "600000000"}}
    contract = {
        "template_id": "f00d:Splice.Round:OpenMiningRound",
        "contract_id": f"00r{number}",
        "payload": said | payload,
        "created_event_blob": "Cg==",
        "created_at": "2026-11-21T00:50:00Z",
    }
    return {"contract": contract, "domain_id": "global-domain::12"}


OPEN = [
    round_("90001", "2026-11-21T00:40:00Z", amuletPrice="0.13"),
    round_("90003", amuletPrice="0.15"),
    round_("90002", "2026-11-21T00:50:00Z", amuletPrice="0.14"),
]
ISSUING = [round_("9999", "2026-11-20T00:00:00Z"), round_("90000", "2026-11-21T00:00:00Z")]


def tell(node: TestNode, opened: list[Said], issuing: list[Said]) -> None:
    said = {"open_mining_rounds": opened, "issuing_mining_rounds": issuing}
    keyed = {state: {f"00{number}": each for number, each in enumerate(of)} for state, of in said.items()}
    node.post(PATH, KNOWN, answers={"time_to_live_in_microseconds": 600000000, **keyed})


def answer_well(node: TestNode) -> None:
    tell(node, OPEN, ISSUING)


async def test_says_the_newest_round_of_each_state_and_the_price(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(rounds) == SHOWN


async def test_asks_a_validator_by_the_path_of_its_proxy_which_answers_lists(node: TestNode, lines: Lines) -> None:
    node.get(PROXIED, answers={"open_mining_rounds": OPEN, "issuing_mining_rounds": ISSUING})
    assert await lines(rounds, kind="validator") == SHOWN


async def test_the_newest_is_so_by_its_number_whether_written_as_text_or_not(node: TestNode, lines: Lines) -> None:
    tell(node, [round_("9"), round_(11), round_("10")], [])
    assert (await lines(rounds))[0] == 'canton_round{state="open"} 11.0'


@pytest.mark.parametrize("kind", ["scan", "validator"])
async def test_no_rounds_are_no_series(node: TestNode, lines: Lines, kind: str) -> None:
    tell(node, [], [])
    node.get(PROXIED, answers={"open_mining_rounds": [], "issuing_mining_rounds": []})
    node.lenient = True
    assert await lines(rounds, kind=kind) == []


async def test_without_an_issuing_round_the_open_one_is_shown(node: TestNode, lines: Lines) -> None:
    tell(node, OPEN, [])
    assert await lines(rounds) == [line for line in SHOWN if "issuing" not in line]


async def test_without_an_open_round_there_is_no_price(node: TestNode, lines: Lines) -> None:
    tell(node, [], ISSUING)
    assert await lines(rounds) == [line for line in SHOWN if "issuing" in line]


@pytest.mark.parametrize("payload", [{}, {"amuletPrice": None}], ids=str)
async def test_a_round_without_a_price_is_shown_without_it(node: TestNode, lines: Lines, payload: Any) -> None:
    tell(node, [round_("90003", **payload), OPEN[0]], ISSUING)
    assert await lines(rounds) == SHOWN[:-1]


async def test_a_round_without_its_contract_is_passed_over(node: TestNode, lines: Lines) -> None:
    tell(node, [{"contract": None, "domain_id": None}, *OPEN, {}], [*ISSUING, {"contract": None}])
    assert await lines(rounds) == SHOWN


@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_node_without_the_operation_is_unsupported(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    node.post(PATH, KNOWN, status=404, **answer)
    [line] = await lines(rounds)
    assert line.startswith(f"unsupported: POST {PATH}: 404: ")


async def test_a_validator_without_the_operation_is_unsupported(node: TestNode, lines: Lines) -> None:
    node.get(PROXIED, status=404, answers=NO_ROUTE)
    [line] = await lines(rounds, kind="validator")
    assert line.startswith(f"unsupported: GET {PROXIED}: 404: ")


async def test_a_validator_that_reaches_too_few_scans_is_refused(node: TestNode, lines: Lines) -> None:
    node.get(PROXIED, status=502, answers={"error": "Failed to reach consensus"})
    assert await lines(rounds, kind="validator") == [f"refused: GET {PROXIED}: 502: Failed to reach consensus"]


@pytest.mark.parametrize(
    "each",
    [
        *(round_(number) for number in (None, -1, "-1", "", "1e3", "\u0663", 1.5, "9" * 20, 2**63, True)),
        *(round_("1", opens_at) for opens_at in (None, "", "soon", "2026-11-21T01:00:00", 1_795_222_800)),
        *(round_("1", amuletPrice=price) for price in (0.15, "", "NaN", "Infinity", "1e3", "cheap", True)),
        {"contract": {"payload": None}},
        {"contract": {}},
        None,
    ],
    ids=lambda value: str(value and value["contract"].get("payload"))[:100],
)
async def test_a_round_that_makes_no_sense_is_malformed(node: TestNode, lines: Lines, each: Any) -> None:
    tell(node, [OPEN[1], each], [])
    [line] = await lines(rounds)
    assert line.startswith(f"malformed: POST {PATH}: not the documented answer: ")


@pytest.mark.parametrize("absent", ["open_mining_rounds", "issuing_mining_rounds"])
async def test_an_answer_without_its_rounds_is_malformed(node: TestNode, lines: Lines, absent: str) -> None:
    said: Said = {"open_mining_rounds": [], "issuing_mining_rounds": []}
    node.get(PROXIED, answers=said | {absent: None})
    [line] = await lines(rounds, kind="validator")
    assert line.startswith(f"malformed: GET {PROXIED}: not the documented answer: ")
