"""The mining rounds, as a scan and a validator tell them."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from tests.simulator.conftest import START, Client, StandingClock
from tests.simulator.scans import RELEASES

PATH = "/v0/open-and-issuing-mining-rounds"
PROXY = "/v0/scan-proxy/open-and-issuing-mining-rounds"
UNKNOWN: dict[str, Any] = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
TO_THE_TICK = 600 - START % 600


async def rounds(client: Client, network: Network, dialect: str = "0.9", **body: Any) -> dict[str, Any]:
    answer = await client.ask(network[f"scan-{dialect}"], PATH, UNKNOWN | body)
    assert answer.status == 200, answer.text
    assert isinstance(answer.json, dict)
    return answer.json


def payloads(shown: dict[str, Any]) -> list[dict[str, Any]]:
    return [each["contract"]["payload"] for each in shown.values()]


def numbers(shown: dict[str, Any]) -> list[int]:
    return [int(payload["round"]["number"]) for payload in payloads(shown)]


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_network_tells_its_rounds_and_the_document_does_not(
    network: Network, client: Client, dialect: Dialect
) -> None:
    scan = await client.ask(network[f"scan-{dialect}"], PATH, UNKNOWN)
    validator = await client.ask(network[f"validator-{dialect}"], PROXY)
    assert [scan.status, validator.status] == ([200, 200] if dialect.is_network else [404, 404])


@pytest.mark.parametrize("release", RELEASES)
async def test_three_rounds_are_open_and_three_older_ones_are_issuing(
    network: Network, client: Client, release: Dialect
) -> None:
    answer = await rounds(client, network, release)
    assert answer["time_to_live_in_microseconds"] == 600_000_000
    assert numbers(answer["open_mining_rounds"]) == [89_998, 89_999, 90_000]
    assert numbers(answer["issuing_mining_rounds"]) == [89_995, 89_996, 89_997]
    for state, template in (("open", "OpenMiningRound"), ("issuing", "IssuingMiningRound")):
        for contract_id, each in answer[f"{state}_mining_rounds"].items():
            assert each["domain_id"] == network.world.synchronizer
            assert each["contract"]["contract_id"] == contract_id
            assert each["contract"]["template_id"].endswith(f":Splice.Round:{template}")


async def test_the_newest_round_opens_with_the_next_tick_and_the_others_are_open(
    network: Network, client: Client, clock: StandingClock
) -> None:
    clock.advance(TO_THE_TICK)
    answer = (await rounds(client, network))["open_mining_rounds"]
    now = "2026-11-21T05:50:00.000000Z"
    assert [payload["opensAt"] for payload in payloads(answer)] == [
        "2026-11-21T05:40:00.000000Z",
        now,
        "2026-11-21T06:00:00.000000Z",
    ]
    assert payloads(answer)[0]["targetClosesAt"] == "2026-11-21T06:00:00.000000Z"
    assert [each["contract"]["created_at"] for each in answer.values()][-1] == now
    assert payloads(answer)[0]["tickDuration"] == {"microseconds": "600000000"}


async def test_rounds_go_on_with_each_tick(network: Network, client: Client, clock: StandingClock) -> None:
    clock.advance(TO_THE_TICK - 1)
    before = await rounds(client, network)
    clock.advance(1)
    after = await rounds(client, network)
    assert numbers(after["open_mining_rounds"]) == [each + 1 for each in numbers(before["open_mining_rounds"])]
    assert numbers(after["issuing_mining_rounds"])[-1] == numbers(before["open_mining_rounds"])[0]
    assert len(before["open_mining_rounds"].keys() & after["open_mining_rounds"].keys()) == 2


async def test_a_round_that_is_known_comes_without_its_contract(network: Network, client: Client) -> None:
    whole = await rounds(client, network)
    opened, issued = list(whole["open_mining_rounds"]), list(whole["issuing_mining_rounds"])
    part = await rounds(
        client,
        network,
        cached_open_mining_round_contract_ids=[*opened[:2], "00ff"],
        cached_issuing_round_contract_ids=issued,
    )
    assert [each["contract"] for each in part["issuing_mining_rounds"].values()] == [None, None, None]
    assert [each["contract"] is None for each in part["open_mining_rounds"].values()] == [True, True, False]
    assert {each["domain_id"] for each in part["open_mining_rounds"].values()} == {network.world.synchronizer}
    assert list(part["open_mining_rounds"]) == opened


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        {},
        {"cached_open_mining_round_contract_ids": []},
        UNKNOWN | {"cached_issuing_round_contract_ids": None},
        UNKNOWN | {"cached_issuing_round_contract_ids": [1]},
        UNKNOWN | {"cached_issuing_round_contract_ids": "00"},
    ],
)
async def test_a_request_for_rounds_names_both_lists(network: Network, client: Client, body: Any) -> None:
    answer = await client.ask(network["scan-0.9"], PATH, body, method="POST")
    assert (answer.status, list(answer.json)) == (400, ["error"])


async def test_the_price_changes_slowly(network: Network, client: Client, clock: StandingClock) -> None:
    prices = []
    for _ in range(300):
        [*_, newest] = payloads((await rounds(client, network))["open_mining_rounds"])
        prices.append(Decimal(newest["amuletPrice"]))
        clock.advance(600)
    assert Decimal("0.12") <= min(prices) < Decimal("0.13") < Decimal("0.17") < max(prices) <= Decimal("0.18")
    assert max(abs(later - price) for price, later in pairwise(prices)) < Decimal("0.001")


async def test_rounds_come_at_another_pace_if_told(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("scan-0.9", Kind.SCAN)], clock=clock, round_interval=30) as network:
        before = await rounds(client, network)
        clock.advance(300)
        after = await rounds(client, network)
    assert before["time_to_live_in_microseconds"] == 30_000_000
    assert numbers(after["open_mining_rounds"])[0] == numbers(before["open_mining_rounds"])[0] + 10


def test_a_round_takes_its_time(clock: StandingClock) -> None:
    with pytest.raises(ValueError, match="longer than 0"):
        Network([], clock=clock, round_interval=0)


async def test_a_validator_has_them_in_lists_and_wants_a_token(clock: StandingClock, client: Client) -> None:
    specs = [NodeSpec("validator", Kind.VALIDATOR, token="secret"), NodeSpec("scan-0.9", Kind.SCAN)]
    async with Network(specs, clock=clock) as network:
        assert (await client.ask(network["validator"], PROXY)).status == 401
        answer = (await client.ask(network["validator"], PROXY, token="secret")).json
        scan = await rounds(client, network)
    assert answer == {state: list(scan[state].values()) for state in ("open_mining_rounds", "issuing_mining_rounds")}
