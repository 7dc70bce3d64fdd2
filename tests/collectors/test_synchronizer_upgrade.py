"""synchronizer_upgrade: the announced upgrade and the serial in use, either without the other."""

from typing import Any

import pytest

from exporter.collectors.synchronizer_upgrade import synchronizer_upgrade
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

LSU, SERIAL = "/v0/lsu", "/v0/active-synchronizer-serial"
UPGRADE: dict[str, Any] = {
    "topologyFreezeTime": "2026-11-21T00:00:00Z",
    "upgradeTime": "2026-11-21T01:00:00Z",
    "successorPhysicalSynchronizerId": "global-domain::12::35-6",
}
SHOWN_SERIAL = 'canton_synchronizer_serial_info{serial="5"} 1.0'
SHOWN_UPGRADE = 'canton_synchronizer_upgrade_timestamp_seconds{successor="global-domain::12::35-6"} 1.7952228e+09'
SHOWN_FREEZE = 'canton_synchronizer_freeze_timestamp_seconds{successor="global-domain::12::35-6"} 1.7952192e+09'
GOOD: dict[str, Any] = {"lsu": UPGRADE}


def tell(node: TestNode, lsu: Any, serial: Any) -> None:
    """Tell what each operation answers; None is a release that does not have it."""
    for path, answer in ((LSU, lsu), (SERIAL, serial)):
        if answer is None:
            node.get(path, status=404, answers=NO_ROUTE)
        else:
            node.get(path, answers=answer)


def answer_well(node: TestNode) -> None:
    tell(node, GOOD, {"serial": 5})


async def test_says_when_the_announced_upgrade_comes(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(synchronizer_upgrade) == [SHOWN_SERIAL, SHOWN_UPGRADE, SHOWN_FREEZE]


@pytest.mark.parametrize("answer", [{}, {"lsu": None}], ids=str)
async def test_where_none_is_announced_only_the_serial_is_shown(node: TestNode, lines: Lines, answer: Any) -> None:
    tell(node, answer, {"serial": 5})
    assert await lines(synchronizer_upgrade) == [SHOWN_SERIAL]


async def test_an_upgrade_that_is_over_is_shown_no_more(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(synchronizer_upgrade)
    tell(node, {"lsu": None}, {"serial": 6})
    assert await lines(synchronizer_upgrade) == ['canton_synchronizer_serial_info{serial="6"} 1.0']


async def test_a_serial_may_be_0(node: TestNode, lines: Lines) -> None:
    tell(node, {}, {"serial": 0})
    assert await lines(synchronizer_upgrade) == ['canton_synchronizer_serial_info{serial="0"} 1.0']


@pytest.mark.parametrize("freeze", [{}, {"topologyFreezeTime": None}], ids=str)
async def test_an_upgrade_without_a_freeze_is_shown_without_it(node: TestNode, lines: Lines, freeze: Any) -> None:
    named = {name: value for name, value in UPGRADE.items() if name != "topologyFreezeTime"}
    tell(node, {"lsu": named | freeze}, {"serial": 5})
    assert await lines(synchronizer_upgrade) == [SHOWN_SERIAL, SHOWN_UPGRADE]


async def test_a_release_that_announces_no_upgrades_tells_its_serial(node: TestNode, lines: Lines) -> None:
    tell(node, None, {"serial": 5})
    assert await lines(synchronizer_upgrade) == [SHOWN_SERIAL]


async def test_a_scan_that_does_not_know_the_serial_tells_the_upgrade(node: TestNode, lines: Lines) -> None:
    tell(node, GOOD, None)
    assert await lines(synchronizer_upgrade) == [SHOWN_UPGRADE, SHOWN_FREEZE]
    node.get(SERIAL, status=404, answers={"error": "No active synchronizer found"})
    assert await lines(synchronizer_upgrade) == [SHOWN_UPGRADE, SHOWN_FREEZE]


async def test_nothing_announced_and_no_serial_is_nothing_to_show(node: TestNode, lines: Lines) -> None:
    tell(node, {"lsu": None}, None)
    assert await lines(synchronizer_upgrade) == []


@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_release_with_neither_operation_is_unsupported(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    node.get(LSU, status=404, **answer)
    node.get(SERIAL, status=404, **answer)
    assert await lines(synchronizer_upgrade) == [f"unsupported: the node has neither GET {LSU} nor GET {SERIAL}"]


@pytest.mark.parametrize(
    ("lsu", "serial", "path"),
    [
        *(({"lsu": UPGRADE | {"upgradeTime": time}}, {"serial": 5}, LSU) for time in (None, "soon", 1_795_222_800)),
        ({"lsu": UPGRADE | {"topologyFreezeTime": "2026-11-21T00:00:00"}}, {"serial": 5}, LSU),
        ({"lsu": UPGRADE | {"successorPhysicalSynchronizerId": None}}, {"serial": 5}, LSU),
        ({"lsu": UPGRADE | {"successorPhysicalSynchronizerId": "x" * 2_101}}, {"serial": 5}, LSU),
        ({"lsu": []}, {"serial": 5}, LSU),
        *((GOOD, {"serial": serial}, SERIAL) for serial in (None, "5", 5.5, True, 2**63)),
        (GOOD, {}, SERIAL),
    ],
    ids=lambda value: str(value)[-60:],
)
async def test_an_answer_that_makes_no_sense_is_malformed(
    node: TestNode, lines: Lines, lsu: Any, serial: Any, path: str
) -> None:
    tell(node, lsu, serial)
    node.lenient = True
    [line] = await lines(synchronizer_upgrade)
    assert line.startswith(f"malformed: GET {path}: not the documented answer: ")


async def test_a_serial_that_the_scan_cannot_tell_hides_no_upgrade(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.get(SERIAL, status=500, answers={"error": "An unexpected error occurred."})
    assert await lines(synchronizer_upgrade) == [SHOWN_UPGRADE, SHOWN_FREEZE]
    assert str(lines.run.remarks[0]) == (
        f"the scan does not report the synchronizer's serial: GET {SERIAL}: 500: An unexpected error occurred."
    )
