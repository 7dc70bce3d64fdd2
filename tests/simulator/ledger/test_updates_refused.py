"""POST /v2/updates: the limits, and what is refused."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Network
from exporter.simulator.ledger import stream
from tests.simulator.conftest import EVERYBODY, Client, kinds, ledger, transactions


async def test_more_than_200_elements_are_a_413(network: Network, client: Client) -> None:
    node = ledger(network)
    body = {"beginExclusive": 100_000, "updateFormat": transactions(EVERYBODY)}
    answer = await client.updates(node, body, limit=1000)
    assert answer.status == 413
    assert answer.json["code"] == "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
    assert answer.json["cause"] == "The number of matching elements (201) is greater than the node limit (200)."
    assert answer.json["retryInfo"] == "1 second"
    assert len((await client.updates(node, body, limit=200)).json) == 200
    assert (await client.updates(node, body, limit=0)).json == []


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_range_beyond_the_end_or_pruned_is_refused(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    end, codes = node.participant.end().offset, []
    for begin, until in ((end + 1, None), (end, end + 1), (89_999, None), (end, end - 1), (-1, None)):
        answer = await client.updates(node, {"beginExclusive": begin, "endInclusive": until, "updateFormat": {}})
        assert answer.status == 400
        codes.append(answer.json["code"])
    assert codes == [
        "OFFSET_AFTER_LEDGER_END",
        "OFFSET_AFTER_LEDGER_END",
        "PARTICIPANT_PRUNED_DATA_ACCESSED",
        "OFFSET_OUT_OF_RANGE",
        "NEGATIVE_OFFSET",
    ]
    assert (await client.updates(node, {"beginExclusive": 90_000, "updateFormat": {}}, limit=1)).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        {"updateFormat": {}},
        {"beginExclusive": None, "updateFormat": {}},
        {"beginExclusive": "184000", "updateFormat": {}},
        {"beginExclusive": True, "updateFormat": {}},
        {"beginExclusive": 184000, "updateFormat": []},
        {"beginExclusive": 184000, "updateFormat": {"includeTransactions": {}}},
        {"beginExclusive": 184000, "updateFormat": transactions({}, "OTHER")},
        {"beginExclusive": 184000, "updateFormat": {"includeTopologyEvents": True}},
    ],
)
async def test_what_cannot_be_decoded_is_a_400_in_plain_text(network: Network, client: Client, body: Any) -> None:
    answer = await client.updates(ledger(network), body)
    assert (answer.status, answer.media) == (400, "text/plain")
    assert answer.text.startswith("Invalid value for: body (")


@pytest.mark.parametrize("query", ["limit=x", "limit=-1", "limit=", "stream_idle_timeout_ms=1.5"])
async def test_a_bad_query_is_a_400_in_plain_text(network: Network, client: Client, query: str) -> None:
    answer = await client.ask(ledger(network), f"/v2/updates?{query}", {"beginExclusive": 0, "updateFormat": {}})
    assert (answer.status, answer.media) == (400, "text/plain")
    assert answer.text.startswith(f"Invalid value for: query parameter {query.partition('=')[0]}")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "INVALID_ARGUMENT"),
        ({"filter": EVERYBODY, "updateFormat": {}}, "INVALID_ARGUMENT"),
        ({"verbose": True, "updateFormat": {}}, "INVALID_ARGUMENT"),
        ({"descendingOrder": True, "updateFormat": {}}, "INVALID_ARGUMENT"),
        ({"updateFormat": transactions({})}, "INVALID_ARGUMENT"),
        ({"updateFormat": transactions(EVERYBODY, "UNSPECIFIED")}, "MISSING_FIELD"),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused_with_a_code(
    network: Network, client: Client, body: dict[str, Any], code: str
) -> None:
    answer = await client.updates(ledger(network), {"beginExclusive": 184_000} | body)
    assert (answer.status, answer.json["code"]) == (400, code)


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_legacy_filter_is_served_until_canton_3_6(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    body = {"beginExclusive": node.participant.end().offset - 100, "filter": EVERYBODY, "verbose": False}
    answer = await client.updates(node, body)
    if dialect is Dialect.V0_9:
        assert (answer.status, answer.json["code"]) == (400, "DEPRECATED_API_DISABLED")
    else:
        assert set(kinds(answer)) >= {"Transaction", "OffsetCheckpoint"}


@pytest.mark.parametrize(("dialect", "status"), [("document", 400), ("0.7.5", 200)])
async def test_a_verbose_of_false_excludes_a_format_in_the_document_only(
    network: Network, client: Client, dialect: str, status: int
) -> None:
    node = ledger(network, dialect)
    begin = node.participant.end().offset
    answer = await client.updates(node, {"beginExclusive": begin, "verbose": False, "updateFormat": {}})
    assert answer.status == status


async def test_the_document_derives_a_format_from_no_filter(network: Network, client: Client) -> None:
    node = ledger(network, "document")
    answer = await client.updates(node, {"beginExclusive": node.participant.end().offset - 100})
    assert kinds(answer) == ["OffsetCheckpoint"]


async def test_a_stream_that_never_falls_idle_is_cut_off_by_the_server(
    network: Network, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "REQUEST_SECONDS", 0.2)
    node = ledger(network, "0.5")
    body = {"beginExclusive": node.participant.end().offset, "updateFormat": {}}
    answer = await client.updates(node, body, idle=60_000)
    assert (answer.status, answer.media) == (503, "text/plain")
