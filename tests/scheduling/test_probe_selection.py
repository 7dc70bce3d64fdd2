"""What a probe runs of a target, and what it says of what it cannot run: the same on the page and from a terminal."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from exporter.clock import Clock
from exporter.collector import minutes, seconds
from exporter.collectors import discover
from exporter.config.loader import check
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.probe_selection import NoneInTime, NotThere, ProbeSelection, check_target, select
from tests.nodes import TestNode

COLLECTORS = {name: discover()[name] for name in ("acs", "feature_support", "health", "ledger_offsets", "traffic")}
OFF = {"enabled": False}
MINUTE = minutes(1)


@pytest.fixture
async def fleet(node: TestNode) -> AsyncIterator[Fleet]:
    targets = {
        "scan": {"kind": "scan", "role": "own", "url": node.url},
        "observed": {"kind": "scan", "role": "observed", "url": node.url},
        "participant": {"kind": "participant", "url": node.url},
        "silent": {"kind": "ledger", "url": node.url, "collectors": dict.fromkeys(("health", "ledger_offsets"), OFF)},
    }
    settings, errors = check({"targets": targets}, COLLECTORS)
    assert settings is not None, errors
    fleet = Fleet(COLLECTORS, RateLimits(), Clock())
    await fleet.apply(settings)
    yield fleet
    await fleet.stop()


def chosen(fleet: Fleet, target: str, named: str | None = None, limit: timedelta = MINUTE) -> ProbeSelection:
    return select(target, fleet.targets[target], fleet.collectors, named, limit)


def names(selection: ProbeSelection) -> list[str]:
    return [status.watch.collector.name for status in selection.statuses]


def test_all_that_end_in_time_are_selected_and_the_others_named(fleet: Fleet) -> None:
    selection = chosen(fleet, "scan")
    assert (names(selection), selection.left_out) == (["feature_support", "health"], ["acs"])
    selection = chosen(fleet, "scan", limit=seconds(6))
    assert (names(selection), selection.left_out) == (["health"], ["acs", "feature_support"])


def test_the_one_that_is_named_is_selected_however_long_it_may_take(fleet: Fleet) -> None:
    selection = chosen(fleet, "scan", "acs", seconds(1))
    assert (names(selection), selection.left_out) == (["acs"], ())


@pytest.mark.parametrize(("target", "limit"), [("silent", MINUTE)])
def test_a_probe_that_would_run_nothing_is_none(fleet: Fleet, target: str, limit: timedelta) -> None:
    with pytest.raises(NoneInTime):
        chosen(fleet, target, limit=limit)


@pytest.mark.parametrize(
    ("target", "collector", "sentence"),
    [
        ("scan", "acks", "scan has no collector acks; it has acs, feature_support, health"),
        ("scan", "a" * 200, f"scan has no collector {'a' * 100}; it has acs, feature_support, health"),
        ("scan", "ledger_offsets", "ledger_offsets works only with targets of kind ledger; scan is a scan"),
        ("participant", "acs", "acs works only with targets of kind scan; participant is a ledger"),
        ("observed", "acs", "acs is disabled for target observed; set `collectors: {acs: {enabled: true}}` there"),
        (
            "scan",
            "traffic",
            "traffic is disabled for target scan; set "
            "`collectors: {traffic: {enabled: true, options: {members: ...}}}` there",
        ),
        ("silent", "acks", "silent has no collector acks; all that it could run are disabled"),
    ],
)
def test_what_a_target_does_not_run_is_not_there_for_a_reason(
    fleet: Fleet, target: str, collector: str, sentence: str
) -> None:
    with pytest.raises(NotThere) as said:
        chosen(fleet, target, collector)
    assert str(said.value) == sentence


def test_a_target_that_is_not_configured_is_not_there(fleet: Fleet) -> None:
    check_target("scan", fleet.configured)
    with pytest.raises(NotThere, match=r"^no target is called scans; there are observed, participant, scan, silent$"):
        check_target("scans", fleet.configured)
