"""Nodes whose clocks are wrong."""

from datetime import datetime
from email.utils import parsedate_to_datetime

import pytest

from exporter.simulator import Kind, Network, Skew
from tests.simulator.conftest import Client, Reply


def seconds_off(answer: Reply) -> float:
    date = parsedate_to_datetime(answer.date)
    return (date - datetime.now(date.tzinfo)).total_seconds()


@pytest.mark.parametrize("seconds", [-90, 3600.5])
@pytest.mark.parametrize("kind", Kind)
async def test_a_wrong_clock_shows_in_the_date_of_each_answer_and_nowhere_else(
    network: Network, client: Client, kind: Kind, seconds: float
) -> None:
    node, end = network[f"{kind}-0.9"], "/v2/state/ledger-end"
    before = await client.ask(node, end)
    assert abs(seconds_off(before)) < 5
    await node.set_fault(Skew(seconds))
    for path, status in (("/readyz", 200), (end, before.status), ("/nowhere", 404)):
        answer = await client.ask(node, path)
        assert answer.status == status
        assert abs(seconds_off(answer) - seconds) < 5
    assert (await client.ask(node, end)).json == before.json
    await node.clear_fault()
    assert abs(seconds_off(await client.ask(node, "/readyz"))) < 5
