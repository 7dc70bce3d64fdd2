"""Nodes whose clocks are wrong."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest

from exporter.simulator import Kind, Network, Skew
from tests.simulator.conftest import Client, Reply


def check_date(answer: Reply, asked: datetime, seconds: float = 0) -> None:
    """Fail unless an answer's date, which has no fractions, is so far off any moment since it was asked for."""
    date = parsedate_to_datetime(answer.date) - timedelta(seconds=seconds)
    assert asked - timedelta(seconds=1) <= date <= datetime.now(UTC)


@pytest.mark.parametrize("seconds", [-90, 3600.5])
@pytest.mark.parametrize("kind", Kind)
async def test_a_wrong_clock_shows_in_the_date_of_each_answer_and_nowhere_else(
    network: Network, client: Client, kind: Kind, seconds: float
) -> None:
    node, end, asked = network[f"{kind}-0.9"], "/v2/state/ledger-end", datetime.now(UTC)
    before = await client.ask(node, end)
    check_date(before, asked)
    await node.set_fault(Skew(seconds))
    for path, status in (("/readyz", 200), (end, before.status), ("/nowhere", 404)):
        asked = datetime.now(UTC)
        answer = await client.ask(node, path)
        assert answer.status == status
        check_date(answer, asked, seconds)
    assert (await client.ask(node, end)).json == before.json
    await node.clear_fault()
    asked = datetime.now(UTC)
    check_date(await client.ask(node, "/readyz"), asked)
