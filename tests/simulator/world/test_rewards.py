"""How the rewards of a round are accounted for."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.world.rewards import ALLOWANCES, BATCHES
from tests.simulator.conftest import Client, Reply, StandingClock

TAIL = "reward-accounting-process/rounds"
INTERNAL = f"/v0/internal/{TAIL}"
OLDER = f"/v0/{TAIL}"
ROUND = 89_990


async def ask(client: Client, network: Network, path: str, dialect: str = "0.9") -> Reply:
    return await client.ask(network[f"scan-{dialect}"], f"{OLDER if dialect == '0.6' else INTERNAL}/{path}")


async def walk(client: Client, network: Network, number: int, dialect: str = "0.9") -> list[dict[str, Any]]:
    """All batches of a round, level by level."""
    found, hashes = [], [network.world.rewards.root_hash(number)]
    while hashes:
        answer = await ask(client, network, f"{number}/batches/{hashes.pop(0)}", dialect)
        assert answer.status == 200, answer.text
        found.append(answer.json)
        hashes += answer.json.get("child_hashes", [])
    return found


@pytest.mark.parametrize("dialect", Dialect)
async def test_each_dialect_has_its_operations(network: Network, client: Client, dialect: Dialect) -> None:
    root = network.world.rewards.root_hash(ROUND)
    paths = [f"{ROUND}/batches/{root}", f"{ROUND}/root-hash", f"{ROUND}/activity-totals", "earliest-available"]
    scan = network[f"scan-{dialect}"]
    internal = [(await client.ask(scan, f"{INTERNAL}/{path}")).status for path in paths]
    older = [(await client.ask(scan, f"{OLDER}/{path}")).status for path in paths]
    nothing = [404, 404, 404, 404]
    assert older == ([200, 200, 200, 200] if dialect is Dialect.V0_6 else nothing)
    assert internal == {"document": [200, 404, 404, 404], "0.5.10": nothing, "0.5": nothing, "0.6": nothing}.get(
        dialect, [200, 200, 200, 200]
    )


@pytest.mark.parametrize("dialect", ["document", "0.6", "0.9"])
async def test_a_walk_through_the_tree_finds_all_that_there_is(network: Network, client: Client, dialect: str) -> None:
    batches = await walk(client, network, ROUND, dialect)
    totals = network.world.rewards.totals(ROUND)
    allowances = [each for batch in batches for each in batch.get("minting_allowances", [])]
    assert Counter(batch["batch_type"] for batch in batches) == totals.batches
    assert totals.batches == {"BatchOfBatches": 3, "BatchOfMintingAllowances": 7}
    assert len({each["provider"] for each in allowances}) == len(allowances) == totals.providers == 40
    assert sum(Decimal(each["amount"]) for each in allowances) == totals.amount
    assert all(len(each["amount"].partition(".")[2]) == 10 for each in allowances)


async def test_a_sum_of_floats_is_not_the_sum(network: Network, client: Client) -> None:
    batches = await walk(client, network, ROUND)
    amounts = [each["amount"] for batch in batches for each in batch.get("minting_allowances", [])]
    assert Decimal(str(sum(map(float, amounts)))) != network.world.rewards.totals(ROUND).amount


async def test_a_batch_is_either_of_batches_or_of_allowances(network: Network, client: Client) -> None:
    for batch in await walk(client, network, ROUND):
        if batch["batch_type"] == "BatchOfBatches":
            assert list(batch) == ["batch_type", "child_hashes"]
            assert 1 <= len(batch["child_hashes"]) <= BATCHES
        else:
            assert list(batch) == ["batch_type", "minting_allowances"]
            assert 1 <= len(batch["minting_allowances"]) <= ALLOWANCES


async def test_each_round_has_a_tree_of_its_own_which_stays(
    network: Network, client: Client, clock: StandingClock
) -> None:
    before = await walk(client, network, ROUND)
    assert before != await walk(client, network, ROUND - 1)
    clock.advance(86_400)
    assert await walk(client, network, ROUND) == before
    other = Network([], clock=clock, seed=1).world.rewards
    assert other.root_hash(ROUND) != network.world.rewards.root_hash(ROUND)


@pytest.mark.parametrize(
    ("providers", "batches"),
    [
        (0, {"BatchOfMintingAllowances": 1}),
        (6, {"BatchOfMintingAllowances": 1}),
        (7, {"BatchOfMintingAllowances": 2, "BatchOfBatches": 1}),
        (500, {"BatchOfMintingAllowances": 84, "BatchOfBatches": 21 + 6 + 2 + 1}),
    ],
)
async def test_a_tree_may_be_of_any_size(
    clock: StandingClock, client: Client, providers: int, batches: dict[str, int]
) -> None:
    async with Network([NodeSpec("scan-0.9", Kind.SCAN)], clock=clock, reward_providers=providers) as network:
        totals = network.world.rewards.totals(ROUND)
        assert (totals.providers, totals.batches) == (providers, batches)
        assert len(await walk(client, network, ROUND)) == sum(batches.values())


def test_there_cannot_be_fewer_than_no_providers(clock: StandingClock) -> None:
    with pytest.raises(ValueError, match="fewer than no"):
        Network([], clock=clock, reward_providers=-1)


async def test_a_round_is_determined_after_the_next_one_has_closed(
    network: Network, client: Client, clock: StandingClock
) -> None:
    newest = network.world.rewards.newest
    root = network.world.rewards.root_hash(newest + 1)
    for path in (f"{newest + 1}/root-hash", f"{newest + 1}/activity-totals", "1000000/root-hash"):
        assert (await ask(client, network, path)).json == {"status": "Undetermined"}
    assert (await ask(client, network, f"{newest + 1}/batches/{root}")).status == 404
    clock.advance(600)
    answer = (await ask(client, network, f"{newest + 1}/root-hash")).json
    assert answer == {"status": "Ok", "round_number": newest + 1, "root_hash": root}
    assert (await ask(client, network, f"{newest + 1}/batches/{root}")).status == 200


async def test_a_release_without_statuses_finds_a_round_or_does_not(network: Network, client: Client) -> None:
    rewards = network.world.rewards
    answer = await ask(client, network, f"{ROUND}/root-hash", "0.6")
    assert answer.json == {"round_number": ROUND, "root_hash": rewards.root_hash(ROUND)}
    answer = await ask(client, network, f"{ROUND}/activity-totals", "0.6")
    assert list(answer.json) == [
        "round_number",
        "total_app_activity_weight",
        "active_parties_count",
        "activity_records_count",
    ]
    for number in (rewards.newest + 1, rewards.earliest - 1):
        for path in ("root-hash", "activity-totals"):
            answer = await ask(client, network, f"{number}/{path}", "0.6")
            assert (answer.status, list(answer.json)) == (404, ["error"])


async def test_of_rounds_before_the_earliest_nothing_can_be_provided(network: Network, client: Client) -> None:
    earliest = (await ask(client, network, "earliest-available")).json
    assert earliest == {"earliest_round": 89_500}
    assert (await ask(client, network, "89500/root-hash")).json["status"] == "Ok"
    for number in (89_499, 0, -1):
        for path in ("root-hash", "activity-totals"):
            assert (await ask(client, network, f"{number}/{path}")).json == {"status": "CannotProvide"}
    root = network.world.rewards.root_hash(89_499)
    assert (await ask(client, network, f"89499/batches/{root}")).status == 404


async def test_the_totals_of_a_round_are_those_of_its_tree(network: Network, client: Client) -> None:
    answer = (await ask(client, network, f"{ROUND}/activity-totals")).json
    totals = network.world.rewards.totals(ROUND)
    assert (answer["status"], answer["round_number"]) == ("Ok", ROUND)
    assert Decimal(answer["total_app_reward_minting_allowance"]) == totals.amount
    assert answer["rewarded_app_provider_parties_count"] == totals.providers
    texts = {key for key, value in answer.items() if isinstance(value, str)}
    assert texts == {
        "status",
        "total_app_reward_minting_allowance",
        "total_app_reward_thresholded",
        "total_app_reward_unclaimed",
    }


@pytest.mark.parametrize("tail", ["{other}", "00ff", "nothing"])
@pytest.mark.parametrize("dialect", ["document", "0.6", "0.9"])
async def test_a_hash_that_is_not_in_the_tree_is_not_found(
    network: Network, client: Client, dialect: str, tail: str
) -> None:
    name = tail.format(other=network.world.rewards.root_hash(ROUND - 1))
    answer = await ask(client, network, f"{ROUND}/batches/{name}", dialect)
    assert (answer.status, list(answer.json)) == (404, ["error"])


async def test_a_hash_may_be_in_capitals(network: Network, client: Client) -> None:
    root = network.world.rewards.root_hash(ROUND).upper()
    assert (await ask(client, network, f"{ROUND}/batches/{root}")).status == 200


async def test_a_round_that_is_no_number_is_not_found(network: Network, client: Client) -> None:
    answer = await ask(client, network, "newest/root-hash")
    assert (answer.status, list(answer.json)) == (404, ["error"])


# By hand


async def test_a_batch_may_be_lost(network: Network, client: Client) -> None:
    lost = network.world.rewards.lose_batch(ROUND)
    assert (await ask(client, network, f"{ROUND}/batches/{lost}")).status == 404
    assert (await ask(client, network, f"{ROUND}/root-hash")).json["status"] == "Ok"
    assert network.world.rewards.totals(ROUND).providers == 40
    assert await walk(client, network, ROUND - 1)


async def test_batches_may_lead_in_a_circle(network: Network, client: Client) -> None:
    root = network.world.rewards.root_hash(ROUND)
    looped = network.world.rewards.loop_batches(ROUND)
    assert root in (await ask(client, network, f"{ROUND}/batches/{looped}")).json["child_hashes"]
    assert looped in (await ask(client, network, f"{ROUND}/batches/{root}")).json["child_hashes"]
    assert await walk(client, network, ROUND - 1)


def test_a_single_leaf_has_no_circle(clock: StandingClock) -> None:
    with pytest.raises(ValueError, match="but a leaf"):
        Network([], clock=clock, reward_providers=3).world.rewards.loop_batches(ROUND)
