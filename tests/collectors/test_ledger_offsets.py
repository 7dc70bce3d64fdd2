"""ledger_offsets: how far a participant has come and how far it lies behind."""

from datetime import UTC, datetime
from typing import Any

import pytest

from exporter.collectors.ledger_offsets import ledger_offsets
from tests.conftest import NOW, FakeClock, Lines
from tests.nodes import TestNode

END, PRUNED, CONNECTED = (
    "/v2/state/ledger-end",
    "/v2/state/latest-pruned-offsets",
    "/v2/state/connected-synchronizers",
)
UPDATES = "/v2/updates?limit=1&stream_idle_timeout_ms=2000"
OFFSETS = [
    "canton_ledger_end_offset 184201.0",
    "canton_ledger_pruned_offset 90000.0",
    "canton_ledger_connected_synchronizers 1.0",
    'canton_ledger_connected_synchronizer_info{alias="global",synchronizer="global::12"} 1.0',
]
LAG = [
    "canton_ledger_checkpoint_offset 184190.0",
    "canton_ledger_lag_offsets 11.0",
    'canton_ledger_lag_source_info{source="checkpoint"} 1.0',
    'canton_ledger_checkpoint_timestamp_seconds{synchronizer="global::12"} 1.79523999e+09',
    'canton_ledger_lag_seconds{synchronizer="global::12"} 10.0',
]


def at(seconds: float) -> str:
    """Return a record time that many seconds before now."""
    return datetime.fromtimestamp(NOW - seconds, UTC).isoformat().replace("+00:00", "Z")


def times(**behind: float) -> list[dict[str, str]]:
    return [{"synchronizerId": f"{name}::12", "recordTime": at(seconds)} for name, seconds in behind.items()]


def checkpoint(offset: int, synchronizer_times: Any) -> dict[str, Any]:
    return {"update": {"OffsetCheckpoint": {"value": {"offset": offset, "synchronizerTimes": synchronizer_times}}}}


def tell(node: TestNode, end: object = None, pruned: object = None, connected: object = None) -> None:
    node.get(END, answers=end or {"offset": 184201})
    node.get(PRUNED, answers=pruned or {"participantPrunedUpToInclusive": 90000})
    synchronizers = [{"synchronizerAlias": "global", "synchronizerId": "global::12", "permission": None}]
    node.get(CONNECTED, answers=connected or {"connectedSynchronizers": synchronizers})


def tell_updates(node: TestNode, *updates: object, begin: int = 174201) -> None:
    node.post(UPDATES, {"beginExclusive": begin, "updateFormat": {}}, answers=updates)


def answer_well(node: TestNode) -> None:
    tell(node)
    tell_updates(node, checkpoint(184190, times(**{"global": 10})))


async def test_measures_lag_by_the_newest_checkpoint(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(ledger_offsets) == OFFSETS + LAG


async def test_reads_the_times_from_the_ledger_end_where_it_has_them(node: TestNode, lines: Lines) -> None:
    tell(node, end={"offset": 184201, "synchronizerTimes": times(**{"global": 3})})
    assert await lines(ledger_offsets) == [
        *OFFSETS,
        'canton_ledger_lag_source_info{source="ledger_end"} 1.0',
        'canton_ledger_checkpoint_timestamp_seconds{synchronizer="global::12"} 1.795239997e+09',
        'canton_ledger_lag_seconds{synchronizer="global::12"} 3.0',
    ]


async def test_gives_lag_for_connected_synchronizers_only(node: TestNode, lines: Lines) -> None:
    tell(node, end={"offset": 184201, "synchronizerTimes": times(left=9e6, **{"global": 3})})
    shown = await lines(ledger_offsets)
    assert [line for line in shown if "lag_seconds" in line] == [
        'canton_ledger_lag_seconds{synchronizer="global::12"} 3.0'
    ]
    assert sum("checkpoint_timestamp" in line for line in shown) == 2


async def test_a_record_time_ahead_of_our_clock_is_no_lag(node: TestNode, lines: Lines) -> None:
    tell(node, end={"offset": 184201, "synchronizerTimes": times(**{"global": -2})})
    assert 'canton_ledger_lag_seconds{synchronizer="global::12"} 0.0' in await lines(ledger_offsets)


async def test_a_checkpoint_beyond_the_end_read_before_is_no_lag(node: TestNode, lines: Lines) -> None:
    tell(node)
    tell_updates(node, checkpoint(184210, []))
    assert "canton_ledger_lag_offsets 0.0" in await lines(ledger_offsets)


@pytest.mark.parametrize(
    ("end", "pruned", "begin"), [(184201, 180000, 180000), (184201, 0, 174201), (12, None, 0), (None, None, 0)]
)
async def test_looks_for_a_checkpoint_no_lower_than_the_node_can_read(
    node: TestNode, lines: Lines, end: int | None, pruned: int | None, begin: int
) -> None:
    tell(node, end={"offset": end}, pruned={"participantPrunedUpToInclusive": pruned})
    tell_updates(node, begin=begin)
    assert f"canton_ledger_end_offset {float(end or 0)}" in await lines(ledger_offsets)


async def test_looks_as_far_back_as_it_is_told(node: TestNode, lines: Lines) -> None:
    tell(node)
    tell_updates(node, begin=184101)
    assert await lines(ledger_offsets, lookback=100) == OFFSETS


async def test_no_checkpoint_is_unknown_and_the_offsets_are_told_all_the_same(node: TestNode, lines: Lines) -> None:
    tell(node)
    tell_updates(node)
    assert await lines(ledger_offsets) == OFFSETS


async def test_the_last_checkpoint_counts_until_the_usual_delay_has_passed(
    node: TestNode, lines: Lines, clock: FakeClock
) -> None:
    answer_well(node)
    await lines(ledger_offsets)
    tell_updates(node)
    node.get("/v2/version", answers={"version": "3.5.14"})
    clock.advance(74)
    assert [line for line in await lines(ledger_offsets) if "lag" in line] == [
        "canton_ledger_lag_offsets 11.0",
        'canton_ledger_lag_source_info{source="checkpoint"} 1.0',
        'canton_ledger_lag_seconds{synchronizer="global::12"} 84.0',
    ]
    clock.advance(1)
    assert await lines(ledger_offsets) == OFFSETS
    clock.advance(1)
    assert await lines(ledger_offsets) == OFFSETS


async def test_the_delay_is_the_nodes_own_where_it_says_so(node: TestNode, lines: Lines, clock: FakeClock) -> None:
    answer_well(node)
    await lines(ledger_offsets)
    tell_updates(node)
    delay = {"maxOffsetCheckpointEmissionDelay": {"seconds": 10, "nanos": 500_000_000, "unknownFields": {}}}
    node.get("/v2/version", answers={"version": "3.5.14", "features": {"offsetCheckpoint": delay}})
    clock.advance(10)
    assert "canton_ledger_lag_offsets 11.0" in await lines(ledger_offsets)
    clock.advance(1)
    assert await lines(ledger_offsets) == OFFSETS


async def test_a_checkpoint_seen_again_is_as_old_as_when_it_was_first_seen(
    node: TestNode, lines: Lines, clock: FakeClock
) -> None:
    answer_well(node)
    for _ in range(4):
        await lines(ledger_offsets)
        clock.advance(25)
    tell_updates(node)
    node.get("/v2/version", answers={"version": "3.5.14", "features": None})
    assert await lines(ledger_offsets) == OFFSETS


async def test_a_rebuilt_participant_is_not_measured_by_the_checkpoint_of_the_old_one(
    node: TestNode, lines: Lines
) -> None:
    answer_well(node)
    await lines(ledger_offsets)
    node.get(END, answers={"offset": 500})
    tell_updates(node, begin=90000)
    assert not any("lag" in line for line in await lines(ledger_offsets))


async def test_reads_what_the_specification_allows_a_node_to_leave_out(node: TestNode, lines: Lines) -> None:
    node.get(END, answers={})
    node.get(PRUNED, answers={})
    node.get(CONNECTED, answers={})
    tell_updates(node, {}, {"update": None}, {"update": {}}, checkpoint(7, [{"synchronizerId": "s"}]), begin=0)
    assert await lines(ledger_offsets) == [
        "canton_ledger_end_offset 0.0",
        "canton_ledger_pruned_offset 0.0",
        "canton_ledger_connected_synchronizers 0.0",
        "canton_ledger_checkpoint_offset 7.0",
        "canton_ledger_lag_offsets 0.0",
        'canton_ledger_lag_source_info{source="checkpoint"} 1.0',
    ]


async def test_a_synchronizer_named_twice_is_one(node: TestNode, lines: Lines) -> None:
    twice = [{"synchronizerAlias": "global", "synchronizerId": "global::12"}] * 2
    tell(node, connected={"connectedSynchronizers": twice})
    tell_updates(node, checkpoint(184190, times(**{"global": 40}) + times(**{"global": 10})))
    assert await lines(ledger_offsets) == OFFSETS + LAG


async def test_passes_over_updates_that_are_no_checkpoint(node: TestNode, lines: Lines) -> None:
    tell(node)
    tell_updates(
        node, {"update": {"Transaction": {"value": {"offset": 184200}}}}, checkpoint(184190, times(**{"global": 10}))
    )
    assert await lines(ledger_offsets) == OFFSETS + LAG


async def test_a_token_the_node_does_not_take_is_unauthorized(node: TestNode, lines: Lines) -> None:
    refusal = {"code": "NA", "cause": "A security-sensitive error has been received", "errorCategory": -1}
    node.get(END, status=401, answers=refusal)
    [line] = await lines(ledger_offsets)
    assert line == "unauthorized: GET /v2/state/ledger-end: 401 NA: A security-sensitive error has been received"


@pytest.mark.parametrize(
    "connected",
    [
        [{"synchronizerId": "s" * 3_000}],
        [{"synchronizerId": "s", "synchronizerAlias": "a" * 3_000}],
        [{"synchronizerId": f"s{number}"} for number in range(1_001)],
    ],
)
async def test_a_node_that_makes_up_synchronizers_does_not_fill_the_memory(
    node: TestNode, lines: Lines, connected: list[dict[str, str]]
) -> None:
    tell(node, connected={"connectedSynchronizers": connected})
    node.lenient = True
    [line] = await lines(ledger_offsets)
    assert line.startswith("malformed: GET /v2/state/connected-synchronizers: not the documented answer")
