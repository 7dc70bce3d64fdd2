"""Every collector gets on with the simulated network in every dialect: its runs are ok, or the node lacks something.

A wrong form of an answer, such as a mapping where a collector reads a list, is found here even if no API file has it.
"""

import re
from typing import NamedTuple

import pytest

from exporter.collectors import discover
from exporter.scheduling.watch import Outcome
from exporter.simulator import Dialect
from tests.shapes.conftest import Record
from tests.shapes.recording import Ran


class MayFail(NamedTuple):
    """A run that fails although the node has no fault, and the fact that is the reason."""

    dialects: str
    collector: str
    error: str
    why: str


MAY_FAIL = (
    MayFail(
        "document 0.5.10 0.5 0.6 0.7.5",
        "ledger_completions",
        "POST /v2/commands/completions: 400 MISSING_FIELD: Missing mandatory field: user_id",
        "this operation wants a user, and neither a token nor the first way to configure the collector names one",
    ),
)


def reason(dialect: Dialect, ran: Ran) -> MayFail | None:
    those = (each for each in MAY_FAIL if dialect in each.dialects.split() and each.collector == ran.collector)
    return next((each for each in those if re.fullmatch(each.error, ran.error)), None)


@pytest.mark.parametrize("dialect", Dialect)
async def test_no_run_fails_on_a_node_without_a_fault(record: Record, dialect: Dialect) -> None:
    failed = {ran for ran in (await record(dialect)).runs if ran.outcome is Outcome.FAILED}
    unexplained = [ran for ran in failed if reason(dialect, ran) is None]
    assert sorted(f"{ran.collector} on a {ran.kind}: {ran.error}" for ran in unexplained) == []
    assert {each for each in MAY_FAIL if dialect in each.dialects.split()} == {reason(dialect, ran) for ran in failed}


@pytest.mark.parametrize("dialect", Dialect)
async def test_every_collector_has_a_run_that_does_not_fail(record: Record, dialect: Dialect) -> None:
    good = {(ran.collector, ran.kind) for ran in (await record(dialect)).runs if ran.outcome is not Outcome.FAILED}
    assert good == {(name, kind) for name, collector in discover().items() for kind in collector.kinds}
