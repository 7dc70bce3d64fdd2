"""POST /v2/updates/get-updates-page."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import EVERYBODY, Client, ledger, transactions
from tests.simulator.ledger.updates import everything

PAGE = "/v2/updates/get-updates-page"
BEGIN, END = 183_000, 183_900


@pytest.mark.parametrize("dialect", Dialect)
async def test_updates_come_in_pages_since_canton_3_5(network: Network, client: Client, dialect: Dialect) -> None:
    answer = await client.ask(ledger(network, dialect), PAGE, {"updateFormat": {}})
    assert answer.status == (404 if dialect is Dialect.DOCUMENT or dialect.is_canton_3_4 else 200)


@pytest.mark.parametrize("descending", [False, True])
async def test_the_pages_of_a_range_make_it_whole(network: Network, client: Client, descending: bool) -> None:
    node = ledger(network)
    asked: dict[str, Any] = {"beginOffsetExclusive": BEGIN, "endOffsetInclusive": END, "descendingOrder": descending}
    asked |= {"updateFormat": everything()}
    whole = (await client.ask(node, PAGE, asked | {"maxPageSize": 2000})).json
    assert whole["nextPageToken"] is None
    seen: list[Any] = []
    token, edge = None, END if descending else BEGIN
    while True:
        page = (await client.ask(node, PAGE, asked | {"maxPageSize": 20, "pageToken": token})).json
        assert edge == page["highestPageOffsetInclusive" if descending else "lowestPageOffsetExclusive"]
        edge = page["lowestPageOffsetExclusive" if descending else "highestPageOffsetInclusive"]
        seen += page["updates"]
        token = page["nextPageToken"]
        if token is None:
            break
        assert len(page["updates"]) == 20
    assert seen == whole["updates"]
    assert edge == (BEGIN if descending else END)
    assert len(seen) == node.totals(BEGIN, END).updates.total()


async def test_a_page_is_of_the_whole_ledger_unless_told(network: Network, client: Client) -> None:
    node = ledger(network)
    page = (await client.ask(node, PAGE, {"updateFormat": transactions(EVERYBODY)})).json
    assert (len(page["updates"]), page["lowestPageOffsetExclusive"]) == (100, node.participant.pruned())
    empty = (await client.ask(node, PAGE, {"updateFormat": {}})).json
    assert (empty["updates"], empty["highestPageOffsetInclusive"]) == ([], node.participant.end().offset)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"maxPageSize": 2001}, "INVALID_ARGUMENT"),
        ({"pageToken": "x"}, "INVALID_ARGUMENT"),
        ({"beginOffsetExclusive": 1}, "PARTICIPANT_PRUNED_DATA_ACCESSED"),
        ({"endOffsetInclusive": 190_000}, "OFFSET_AFTER_LEDGER_END"),
        ({"beginOffsetExclusive": 184_000 - 50, "endOffsetInclusive": 100_000}, "OFFSET_OUT_OF_RANGE"),
        ({"beginOffsetExclusive": -1}, "NEGATIVE_OFFSET"),
    ],
)
async def test_a_page_that_cannot_be_is_refused(
    network: Network, client: Client, body: dict[str, Any], code: str
) -> None:
    answer = await client.ask(ledger(network), PAGE, body | {"updateFormat": {}})
    assert (answer.status, answer.json["code"]) == (400, code)
    assert (await client.ask(ledger(network), PAGE, body)).media == "text/plain"
