"""The active contracts of a ledger: as one list, and in pages."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.nodes.ledger import LedgerNode
from tests.simulator.conftest import EVERYBODY, Client, StandingClock, ledger
from tests.simulator.ledger.updates import only, template_of

LIST, PAGE = "/v2/state/active-contracts", "/v2/state/active-contracts-page"
POSTED = [dialect for dialect in Dialect if not dialect.is_canton_3_4 and dialect is not Dialect.V0_6]


@pytest.fixture
async def large(clock: StandingClock) -> AsyncIterator[LedgerNode]:
    """A ledger of many contracts, whose lists may be long."""
    spec = NodeSpec("ledger", Kind.LEDGER, Dialect.V0_7_5, active_contracts=5_000, list_limit=10_000)
    async with Network([spec], clock=clock) as network:
        node = network["ledger"]
        assert isinstance(node, LedgerNode)
        yield node


async def pages(client: Client, node: LedgerNode, asked: dict[str, Any], method: str = "POST") -> list[Any]:
    found: list[Any] = []
    token, offset = None, None
    while True:
        answer = await client.ask(node, PAGE, asked | {"pageToken": token}, method=method)
        assert answer.status == 200, answer.text
        assert offset in (None, answer.json["activeAtOffset"])
        offset = answer.json["activeAtOffset"]
        found += answer.json["activeContracts"]
        token = answer.json.get("nextPageToken")
        if token is None:
            return found


def counted(entries: list[Any]) -> Counter[tuple[str, str]]:
    """What the ledger tells as the truth, from answers."""
    found: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        [(kind, told)] = entry["contractEntry"].items()
        created = (told.get("assignedEvent") or told).get("createdEvent")
        found[kind, template_of(created) if created else ""] += 1
    return found


@pytest.mark.parametrize(
    ("dialect", "posted", "got"),
    [
        ("document", 200, 200),
        ("0.5.10", 404, 404),
        ("0.5", 404, 404),
        ("0.6", 405, 200),
        ("0.7.5", 200, 200),
        ("0.9", 200, 400),
    ],
)
async def test_pages_are_got_and_later_posted(
    network: Network, client: Client, dialect: str, posted: int, got: int
) -> None:
    node = ledger(network, dialect)
    answers = [await client.ask(node, PAGE, {"eventFormat": EVERYBODY}, method=method) for method in ("POST", "GET")]
    assert [answer.status for answer in answers] == [posted, got]
    if got == 400:
        assert answers[1].json["code"] == "DEPRECATED_API_DISABLED"
    if posted == got == 200:
        assert answers[0] == answers[1]


@pytest.mark.parametrize("dialect", POSTED)
async def test_the_pages_are_the_truth(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    found = await pages(client, node, {"eventFormat": EVERYBODY, "maxPageSize": 70})
    assert len(found) == 300
    truth = node.active(node.participant.end().offset)
    assert counted(found) == truth
    assert {kind for kind, _ in truth} == {
        "JsActiveContract",
        "JsIncompleteAssigned",
        "JsIncompleteUnassigned",
        "JsEmpty",
    }
    assert len({template for kind, template in truth if kind == "JsActiveContract"}) == 4


async def test_in_canton_3_5_1_pages_are_only_got(network: Network, client: Client) -> None:
    node = ledger(network, "0.6")
    found = await pages(client, node, {"eventFormat": EVERYBODY, "maxPageSize": 70}, "GET")
    assert counted(found) == node.active(node.participant.end().offset)


async def test_a_page_has_2000_contracts_unless_told(large: LedgerNode, client: Client) -> None:
    page = (await client.ask(large, PAGE, {"eventFormat": EVERYBODY})).json
    assert len(page["activeContracts"]) == 2000
    whole = await pages(client, large, {"eventFormat": EVERYBODY, "maxPageSize": 10_000})
    assert len(whole) == 5000
    assert whole[:2000] == page["activeContracts"]
    active = [one["contractEntry"].get("JsActiveContract") for one in whole]
    assert len({one["createdEvent"]["contractId"] for one in active if one}) == 4850


async def test_the_entries_each_have_a_shape_of_their_own(network: Network, client: Client) -> None:
    node = ledger(network)
    entries: dict[str, Any] = {}
    for one in await pages(client, node, {"eventFormat": EVERYBODY}):
        assert one["workflowId"] == ""
        entries |= one["contractEntry"]
    here = network.world.synchronizer
    active, assigned = entries["JsActiveContract"], entries["JsIncompleteAssigned"]["assignedEvent"]
    unassigned = entries["JsIncompleteUnassigned"]
    assert (active["synchronizerId"], active["reassignmentCounter"]) == (here, 0)
    assert assigned["target"] == here == unassigned["unassignedEvent"]["source"]
    assert assigned["createdEvent"]["contractId"]
    assert unassigned["unassignedEvent"]["contractId"] == unassigned["createdEvent"]["contractId"]
    assert entries["JsEmpty"] == {}


async def test_parties_and_templates_narrow_what_is_shown(large: LedgerNode, client: Client) -> None:
    alice, offset = large.participant.parties[0], large.participant.end().offset
    mine = await pages(client, large, {"eventFormat": {"filtersByParty": {alice: {}}}})
    truth = large.active(offset, [alice])
    assert counted(mine) == truth
    margin = "demo-trading:Trading.Trade:Margin"
    asked = only("TemplateFilter", {"templateId": f"#{margin}"}, [alice])
    found = counted(await pages(client, large, {"eventFormat": asked}))
    assert found["JsActiveContract", margin] == truth["JsActiveContract", margin] > 0
    assert {template for _, template in found} <= {margin, ""}


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_list_is_the_truth_at_an_offset(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    answer = await client.ask(node, LIST, {"activeAtOffset": 100_000, "eventFormat": EVERYBODY})
    assert answer.status == 200
    assert 150 < len(answer.json) < 200
    assert counted(answer.json) == node.active(100_000)
    assert all(("streamContinuationToken" in one) == (not dialect.is_canton_3_4) for one in answer.json)


async def test_more_contracts_than_the_list_limit_are_a_413(network: Network, client: Client) -> None:
    node = ledger(network)
    body = {"activeAtOffset": node.participant.end().offset, "eventFormat": EVERYBODY}
    refused = await client.ask(node, LIST, body)
    assert (refused.status, refused.json["code"]) == (413, "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED")
    assert len((await client.ask(node, f"{LIST}?limit=200", body)).json) == 200


async def test_a_list_is_continued_where_it_ended(network: Network, client: Client) -> None:
    node = ledger(network)
    offset = node.participant.end().offset
    body: dict[str, Any] = {"activeAtOffset": offset, "eventFormat": EVERYBODY}
    first = (await client.ask(node, f"{LIST}?limit=200", body)).json
    body["streamContinuationToken"] = first[-1]["streamContinuationToken"]
    rest = (await client.ask(node, LIST, body)).json
    assert counted(first) + counted(rest) == node.active(offset)


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_legacy_filter_of_the_list_is_served_until_canton_3_6(
    network: Network, client: Client, dialect: Dialect
) -> None:
    body = {"activeAtOffset": 100_000, "filter": EVERYBODY, "verbose": False}
    answer = await client.ask(ledger(network, dialect), LIST, body)
    if dialect is Dialect.V0_9:
        assert (answer.status, answer.json["code"]) == (400, "DEPRECATED_API_DISABLED")
    else:
        assert len(answer.json) > 150


async def test_a_rebuilt_participant_has_its_contracts_with_its_first_event(
    large: LedgerNode, client: Client, clock: StandingClock
) -> None:
    large.reset()
    assert await pages(client, large, {"eventFormat": EVERYBODY}) == []
    clock.advance(10)
    assert len(await pages(client, large, {"eventFormat": EVERYBODY})) == 5000


@pytest.mark.parametrize(
    ("offset", "code"),
    [(1, "PARTICIPANT_PRUNED_DATA_ACCESSED"), (190_000, "OFFSET_AFTER_LEDGER_END"), (-1, "NEGATIVE_OFFSET"), (0, None)],
)
@pytest.mark.parametrize("path", [LIST, PAGE])
async def test_contracts_are_told_only_of_offsets_that_are_there(
    network: Network, client: Client, path: str, offset: int, code: str | None
) -> None:
    answer = await client.ask(ledger(network), path, {"activeAtOffset": offset, "eventFormat": EVERYBODY})
    if code is None:
        assert answer.json in ([], {"activeContracts": [], "activeAtOffset": 0, "nextPageToken": None})
    else:
        assert (answer.status, answer.json["code"]) == (400, code)


@pytest.mark.parametrize(
    ("path", "body", "media"),
    [
        (LIST, {"eventFormat": EVERYBODY}, "text/plain"),
        (LIST, {"activeAtOffset": 100_000}, "application/json"),
        (LIST, {"activeAtOffset": 100_000, "eventFormat": EVERYBODY, "verbose": True}, "application/json"),
        (PAGE, {}, "text/plain"),
        (PAGE, {"eventFormat": {}}, "application/json"),
        (PAGE, {"eventFormat": EVERYBODY, "maxPageSize": 10_001}, "application/json"),
        (PAGE, {"eventFormat": EVERYBODY, "pageToken": "x"}, "application/json"),
    ],
)
async def test_a_bad_request_for_contracts_is_a_400(
    network: Network, client: Client, path: str, body: dict[str, Any], media: str
) -> None:
    answer = await client.ask(ledger(network), path, body)
    assert (answer.status, answer.media) == (400, media)
