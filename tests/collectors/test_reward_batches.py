"""reward_batches: the newest round's tree, summed exactly, and walked once."""

from typing import Any

import pytest

from exporter.collectors.reward_batches import reward_batches
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

ROUNDS = "/v0/internal/reward-accounting-process/rounds"
OLDER = "/v0/reward-accounting-process/rounds"
BATCH = "GET /v0/reward-accounting-process/rounds/{round}/batches/{hash}"
OPEN = "/v0/open-and-issuing-mining-rounds"
KNOWN: dict[str, list[str]] = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
APP, WALLET, NOBODY = "app::12", "wallet::12", "nobody::12"
GONE = {"error": "Reward accounting batch not found"}


def tell_newest(node: TestNode, *numbers: int) -> None:
    payloads = [{"round": {"number": str(number)}, "opensAt": "2026-11-21T05:40:00Z"} for number in numbers]
    rounds = {f"00r{index}": {"contract": {"payload": payload}} for index, payload in enumerate(payloads)}
    node.post(OPEN, KNOWN, answers={"open_mining_rounds": rounds, "issuing_mining_rounds": {}})


def tell_roots(node: TestNode, path: str = ROUNDS, **roots: str) -> None:
    """Tell what there is of each round, as `r9="aa"`: a root, or the status of a round without one."""
    for name, root in roots.items():
        number = int(name[1:])
        is_root = root == root.lower()
        said = {"status": "Ok", "round_number": number, "root_hash": root} if is_root else {"status": root}
        node.get(f"{path}/{number}/root-hash", answers=said)


def tell_tree(node: TestNode, number: int, path: str = ROUNDS, **batches: Any) -> None:
    """Tell the batches of a round by their hashes; None is one that is missing."""
    for hash_, batch in batches.items():
        said = {"answers": batch} if batch else {"status": 404, "answers": GONE}
        node.get(f"{path}/{number}/batches/{hash_}", **said)


def tell_round(node: TestNode, number: int = 9, path: str = ROUNDS, **batches: Any) -> None:
    """Tell one newest round, with `aa` for its root."""
    tell_newest(node, number)
    tell_roots(node, path, **{f"r{number}": "aa"})
    tell_tree(node, number, path, **batches)


def of(*hashes: str) -> dict[str, Any]:
    return {"batch_type": "BatchOfBatches", "child_hashes": hashes}


def leaf(*allowances: tuple[str, str]) -> dict[str, Any]:
    listed = [{"provider": provider, "amount": amount} for provider, amount in allowances]
    return {"batch_type": "BatchOfMintingAllowances", "minting_allowances": listed}


def shown(number: int, batches: int, leaves: int, providers: int, total: str) -> list[str]:
    return [
        f"canton_reward_round {number}.0",
        f'canton_reward_round_batches{{batch_type="BatchOfBatches"}} {batches}.0',
        f'canton_reward_round_batches{{batch_type="BatchOfMintingAllowances"}} {leaves}.0',
        f"canton_reward_round_providers {providers}.0",
        f"canton_reward_round_minting_allowance_coin {total}",
    ]


def asked_for(node: TestNode) -> list[str]:
    """Return the paths asked for since the last call."""
    paths = [request.path for request in node.requests]
    node.requests.clear()
    return paths


def answer_well(node: TestNode) -> None:
    tell_newest(node, 9, 11, 10)
    tell_roots(node, r11="Undetermined", r10="CannotProvide", r9="aa")
    tell_tree(node, 9, aa=of("b1", "b2"), b1=of("c1", "c2"), b2=of("c3"))
    tell_tree(
        node, 9, c1=leaf((APP, "3.25")), c2=leaf((WALLET, "0.1"), ("x::1", "0.2")), c3=leaf((APP, "0.0000000001"))
    )


async def test_sums_the_allowances_of_the_newest_round_that_is_ok(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(reward_batches) == shown(9, 3, 3, 3, "3.5500000001")


async def test_shows_the_allowances_of_listed_providers_only(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert (await lines(reward_batches, providers=[APP, NOBODY, APP]))[5:] == [
        f'canton_reward_minting_allowance_coin{{provider="{APP}"}} 3.2500000001',
        f'canton_reward_minting_allowance_coin{{provider="{NOBODY}"}} 0.0',
    ]


async def test_loses_nothing_in_many_decimals(node: TestNode, lines: Lines) -> None:
    huge = (WALLET, "4503599627370496")  # 2**52: to add 0.1 to it is to add nothing, for a float
    leaves: dict[str, Any] = {f"c{number}": leaf(*[(APP, "0.1"), (WALLET, "0.1")] * 500) for number in range(1, 5)}
    leaves["c0"] = leaf(huge)
    tell_round(node, aa=of("b1", "b2"), b1=of("c0", "c1", "c2"), b2=of("c3", "c4"), **leaves)
    assert await lines(reward_batches, providers=[APP, WALLET]) == [
        *shown(9, 3, 5, 2, "4.503599627370896e+15"),
        f'canton_reward_minting_allowance_coin{{provider="{APP}"}} 200.0',
        f'canton_reward_minting_allowance_coin{{provider="{WALLET}"}} 4.503599627370696e+15',
    ]


@pytest.mark.parametrize(("root", "batches"), [(leaf(), (0, 1)), (of(), (1, 0))], ids=str)
async def test_a_round_in_which_nobody_may_mint_is_one_too(
    node: TestNode, lines: Lines, root: Any, batches: tuple[int, int]
) -> None:
    tell_round(node, aa=root)
    assert await lines(reward_batches, providers=[APP]) == [
        *shown(9, *batches, 0, "0.0"),
        f'canton_reward_minting_allowance_coin{{provider="{APP}"}} 0.0',
    ]


async def test_looks_at_twenty_rounds_and_no_more(node: TestNode, lines: Lines) -> None:
    tell_newest(node, 100)
    tell_roots(node, **{f"r{number}": "Undetermined" for number in range(81, 101)})
    assert await lines(reward_batches) == []
    assert [str(remark) for remark in lines.run.remarks] == ["no recent round has reward batches"]
    tell_roots(node, r81="aa")
    tell_tree(node, 81, aa=leaf((APP, "1")))
    assert await lines(reward_batches) == shown(81, 0, 1, 1, "1.0")


async def test_a_network_that_begins_has_no_round_before_the_first(node: TestNode, lines: Lines) -> None:
    tell_newest(node, 2)
    tell_roots(node, r0="CannotProvide", r1="CannotProvide", r2="CannotProvide")
    assert await lines(reward_batches) == []


async def test_a_moment_without_any_open_round_makes_none_forgotten(node: TestNode, lines: Lines) -> None:
    tell_newest(node)
    assert await lines(reward_batches) == []
    tell_round(node, 9, aa=leaf((APP, "1")))
    walked = await lines(reward_batches)
    tell_newest(node)
    assert await lines(reward_batches) == walked


@pytest.mark.parametrize("said", [{"status": "Undetermined", "root_hash": "ee"}, {"status": "Ok"}], ids=str)
async def test_a_root_counts_only_where_it_is_there_and_ok(node: TestNode, lines: Lines, said: Any) -> None:
    answer_well(node)
    node.get(f"{ROUNDS}/10/root-hash", answers=said)
    assert (await lines(reward_batches))[0] == "canton_reward_round 9.0"


@pytest.mark.parametrize("path", [OLDER, ROUNDS])
async def test_a_root_without_a_status_is_one_and_a_round_that_is_not_found_has_none_yet(
    node: TestNode, lines: Lines, path: str
) -> None:
    if path == OLDER:
        node.get(f"{ROUNDS}/11/root-hash", status=404, answers=NO_ROUTE)
    tell_newest(node, 11)
    for number in (11, 10):
        node.get(f"{path}/{number}/root-hash", status=404, answers={"error": f"No root hash for round {number}"})
    node.get(f"{path}/9/root-hash", answers={"round_number": 9, "root_hash": "aa"})
    tell_tree(node, 9, path, aa=leaf((APP, "1")))
    assert await lines(reward_batches) == shown(9, 0, 1, 1, "1.0")


async def test_a_scan_where_no_round_is_found_has_no_tree_yet(node: TestNode, lines: Lines) -> None:
    tell_newest(node, 1)
    for number in (1, 0):
        node.get(f"{ROUNDS}/{number}/root-hash", status=404, answers={"error": "No root hash"})
    assert await lines(reward_batches) == []
    assert [str(remark) for remark in lines.run.remarks] == ["no recent round has reward batches"]


async def test_an_answer_with_neither_status_nor_root_is_malformed(node: TestNode, lines: Lines) -> None:
    tell_newest(node, 9)
    node.get(f"{ROUNDS}/9/root-hash", answers={"round_number": 9, "root_hash": None})
    [line] = await lines(reward_batches)
    assert line == (
        f"malformed: GET {ROUNDS}/{{round}}/root-hash: not the documented answer: neither a status nor a root_hash"
    )


async def test_a_round_is_walked_once(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    first = await lines(reward_batches, providers=[APP])
    asked_for(node)
    assert await lines(reward_batches, providers=[APP]) == first
    assert asked_for(node) == [OPEN, f"{ROUNDS}/11/root-hash", f"{ROUNDS}/10/root-hash"]
    tell_roots(node, r10="a0")
    tell_tree(node, 10, a0=leaf((WALLET, "2.5")))
    assert await lines(reward_batches, providers=[APP]) == [
        *shown(10, 0, 1, 1, "2.5"),
        f'canton_reward_minting_allowance_coin{{provider="{APP}"}} 0.0',
    ]


async def test_a_round_is_kept_while_no_newer_is_ready(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(reward_batches)
    tell_newest(node, 100)
    tell_roots(node, **{f"r{number}": "Undetermined" for number in range(81, 101)})
    assert await lines(reward_batches) == shown(9, 3, 3, 3, "3.5500000001")


async def test_a_network_that_began_anew_shows_no_round_of_before(node: TestNode, lines: Lines) -> None:
    tell_round(node, 9, aa=leaf(("p::12", "1.0")))
    await lines(reward_batches)
    tell_newest(node, 2)
    for number in range(3):
        node.get(f"{ROUNDS}/{number}/root-hash", answers={"status": "Undetermined"})
    assert await lines(reward_batches) == []


async def test_an_older_scan_is_asked_by_the_older_path_and_that_is_remembered(node: TestNode, lines: Lines) -> None:
    node.get(f"{ROUNDS}/9/root-hash", status=404, answers=NO_ROUTE)
    tell_round(node, path=OLDER, aa=leaf((APP, "1")))
    await lines(reward_batches)
    tell_newest(node, 10)
    tell_roots(node, OLDER, r10="aa")
    tell_tree(node, 10, OLDER, aa=leaf((APP, "2")))
    asked_for(node)
    assert await lines(reward_batches) == shown(10, 0, 1, 1, "2.0")
    assert asked_for(node) == [OPEN, f"{OLDER}/10/root-hash", f"{OLDER}/10/batches/aa"]


async def test_a_scan_that_was_upgraded_is_asked_by_the_newer_path(node: TestNode, lines: Lines) -> None:
    node.get(f"{ROUNDS}/9/root-hash", status=404, answers=NO_ROUTE)
    tell_round(node, path=OLDER, aa=leaf((APP, "1")))
    await lines(reward_batches)
    node.get(f"{OLDER}/10/root-hash", status=404, answers=NO_ROUTE)
    tell_round(node, 10, aa=leaf((APP, "2")))
    assert await lines(reward_batches) == shown(10, 0, 1, 1, "2.0")


@pytest.mark.parametrize(("path", "lacks"), [(ROUNDS, ()), (OLDER, (ROUNDS,))])
async def test_of_the_rounds_it_is_told_it_takes_the_newest_that_is_there(
    node: TestNode, lines: Lines, path: str, lacks: tuple[str, ...]
) -> None:
    rounds = [{"round": 8, "root_hash": "aa"}, {"round": 10, "root_hash": "CC"}, {"round": 9, "root_hash": "bb"}]
    for missing in lacks:
        node.get(f"{missing}/10/batches/CC", status=404, answers=NO_ROUTE)
    tell_tree(node, 10, path, CC=None)
    tell_tree(node, 9, path, bb=leaf((APP, "9.5")))
    assert await lines(reward_batches, rounds=rounds) == shown(9, 0, 1, 1, "9.5")
    asked_for(node)
    assert await lines(reward_batches, rounds=rounds) == shown(9, 0, 1, 1, "9.5")
    assert asked_for(node) == [f"{path}/10/batches/CC"]
    tell_tree(node, 10, path, CC=leaf((APP, "10.5")))
    assert await lines(reward_batches, rounds=rounds) == shown(10, 0, 1, 1, "10.5")


async def test_none_of_the_rounds_it_is_told_is_there_yet(node: TestNode, lines: Lines) -> None:
    tell_tree(node, 9, bb=None)
    assert await lines(reward_batches, rounds=[{"round": 9, "root_hash": "bb"}]) == []
    assert [str(remark) for remark in lines.run.remarks] == ["no configured round has reward batches"]


@pytest.mark.parametrize(
    ("batches", "fault"),
    [
        ({"aa": of("aa")}, "its own descendant or has two parents"),
        ({"aa": of("b1"), "b1": of("aa")}, "its own descendant or has two parents"),
        ({"aa": of("b1", "b1"), "b1": leaf()}, "its own descendant or has two parents"),
        ({"aa": of("b1", "b2"), "b1": of("c1"), "b2": of("c1")}, "its own descendant or has two parents"),
        ({"aa": of("b1", "c1"), "b1": of("c1"), "c1": leaf()}, "its own descendant or has two parents"),
        ({"aa": of("b1"), "b1": None}, "the batch b1 is missing, and another names it"),
        ({"aa": None}, "the batch aa is missing"),
        ({"aa": of("../../../v0/dso")}, "$.child_hashes"),
        ({"aa": {"batch_type": "BatchOfSurprises"}}, "BatchOfSurprises"),
        ({"aa": {"child_hashes": []}}, "batch_type"),
        ({"aa": {"batch_type": "BatchOfBatches"}}, "child_hashes"),
        ({"aa": {"batch_type": "BatchOfMintingAllowances", "child_hashes": []}}, "minting_allowances"),
        *[({"aa": leaf((APP, amount))}, "amount") for amount in ("NaN", "Infinity", "1e5", "", " 1", "1,5", "\u0663")],
        ({"aa": leaf((APP, 1.5))}, "amount"),  # type: ignore[arg-type]
        ({"aa": leaf((APP, None))}, "amount"),  # type: ignore[arg-type]
    ],
    ids=str,
)
async def test_a_tree_that_is_none_is_malformed(node: TestNode, lines: Lines, batches: Any, fault: str) -> None:
    node.lenient = True  # a batch with two parents is not asked for
    tell_round(node, **batches)
    [line] = await lines(reward_batches)
    assert line.startswith("malformed: ")
    assert fault in line


@pytest.mark.parametrize(
    ("limit", "most", "fault"),
    [
        ("DEEPEST", 3, "a tree deeper than 2"),
        ("MOST_BATCHES", 6, "more than 5 batches"),
        ("MOST_PROVIDERS", 3, "more than 2 providers"),
    ],
)
async def test_a_tree_larger_than_any_is_too_large(
    node: TestNode, lines: Lines, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, fault: str
) -> None:
    node.lenient = True
    answer_well(node)
    monkeypatch.setattr(f"exporter.collectors.reward_batches.{limit}", most)
    assert await lines(reward_batches) == shown(9, 3, 3, 3, "3.5500000001")
    monkeypatch.setattr(f"exporter.collectors.reward_batches.{limit}", most - 1)
    lines.forget()
    assert await lines(reward_batches) == [f"too_large: {BATCH.replace('/v0/', '/v0/internal/')}: {fault}"]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"rounds": [{"round": -1, "root_hash": "aa"}]}, "must be 0 or more"),
        ({"rounds": [{"round": 1, "root_hash": "0xaa"}]}, "is not a hash"),
        ({"rounds": [{"round": 1}]}, "is missing"),
        ({"providers": [""]}, "must not be empty"),
    ],
)
async def test_refuses_what_names_no_round(lines: Lines, node: TestNode, options: dict[str, Any], fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(reward_batches, **options)
