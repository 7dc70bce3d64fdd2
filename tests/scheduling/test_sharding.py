"""Shards: whose a target is, and how few change hands."""

from collections import Counter
from hashlib import sha256
from itertools import pairwise

import pytest

from exporter.errors import WrongConfiguration
from exporter.scheduling.sharding import Shard, choose, shard_of

NAMES = [f"participant-{index}" for index in range(1000)]


@pytest.mark.parametrize(
    ("target", "of_two", "of_three", "of_five", "of_ten"),
    [
        ("my-participant", 0, 2, 4, 4),
        ("my-validator", 0, 2, 2, 5),
        ("sv-1", 1, 1, 1, 7),
        ("sv-2-scan", 0, 0, 4, 4),
        ("a", 0, 0, 0, 0),
        ("Node_1.example:8080", 0, 2, 3, 9),
    ],
)
def test_who_has_a_target_never_changes(target: str, of_two: int, of_three: int, of_five: int, of_ten: int) -> None:
    """With another hash, or another way to compare, an upgrade would move everybody's targets; charts reckon so too."""
    assert [shard_of(target, total) for total in (2, 3, 5, 10)] == [of_two, of_three, of_five, of_ten]


def test_the_shard_whose_hash_is_written_highest_has_the_target() -> None:
    lots = {sha256(f"sv-1/{shard}".encode()).hexdigest(): shard for shard in range(7)}
    assert shard_of("sv-1", 7) == lots[max(lots)]


@pytest.mark.parametrize("total", [1, 2, 3, 5, 10, 25])
def test_every_target_has_exactly_one_shard_and_each_shard_about_as_many(total: int) -> None:
    shards = [Shard(number, total) for number in range(total)]
    assert all(sum(shard.has(name) for shard in shards) == 1 for name in NAMES)
    parts = Counter(shard_of(name, total) for name in NAMES)
    fair = len(NAMES) / total
    spread = 4 * fair**0.5  # four times what chance alone makes of it
    assert all(fair - spread < parts[number] < fair + spread for number in range(total))


def test_with_one_shard_more_few_targets_move_and_all_to_the_new_one() -> None:
    for before, after in pairwise(range(1, 12)):
        moved = [name for name in NAMES if shard_of(name, before) != shard_of(name, after)]
        assert {shard_of(name, after) for name in moved} == {after - 1}
        assert abs(len(moved) - len(NAMES) / after) < 4 * (len(NAMES) / after) ** 0.5


def test_unless_more_is_said_there_is_one_shard_that_has_everything() -> None:
    assert choose(None, 1) == choose(0, 1) == Shard()
    assert all(Shard().has(name) for name in NAMES)


def test_a_shard_is_called_by_its_number_and_how_many_there_are() -> None:
    assert str(choose(2, 3)) == "shard 2 of 3"


@pytest.mark.parametrize(
    ("number", "total", "said"),
    [
        (3, 3, "--shard is 3 and --total-shards 3: shards are numbered from 0 to 2"),
        (1, 1, "--shard is 1 and --total-shards 1: set --total-shards to the number of shards"),
        (None, 3, "--shard is missing: set which of 3 shards this is, from 0 to 2"),
    ],
)
def test_a_shard_that_there_is_not_is_refused_in_one_sentence(number: int | None, total: int, said: str) -> None:
    with pytest.raises(WrongConfiguration) as error:
        choose(number, total)
    assert error.value.errors == (said,)
