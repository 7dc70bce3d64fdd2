"""ledger_contracts: active contracts by template, by pages or all at once."""

from typing import Any

import pytest

from exporter.collectors.ledger_contracts import ledger_contracts
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

PAGES, AT_ONCE, END = "/v2/state/active-contracts-page", "/v2/state/active-contracts", "/v2/state/ledger-end"
ASSET, IOU, COIN = "demo-pkg:Main:Asset", "demo-pkg:Main:Iou", "splice-amulet:Splice.Amulet:Amulet"
ALICE, BOB = "alice::12", "bob::12"
WILDCARD = {"identifierFilter": {"WildcardFilter": {"value": {"includeCreatedEventBlob": False}}}}
ANY_PARTY = {"filtersForAnyParty": {"cumulative": [WILDCARD]}, "verbose": False}


def only(template: str) -> dict[str, Any]:
    wanted = {"templateId": f"#{template}", "includeCreatedEventBlob": False}
    return {"identifierFilter": {"TemplateFilter": {"value": wanted}}}


def created(template: str = ASSET, package: str = "9f9f") -> dict[str, Any]:
    """Return a contract's event as nodes write it: the package's id in the template, and its name beside it."""
    name, _, rest = template.partition(":")
    said = {"contractId": "00c1", "templateId": f"{package}:{rest}", "packageName": name, "createArgument": {"x": None}}
    return {"createdEvent": {**said, "createdAt": "2026-11-21T02:00:00Z", "offset": 41}}


def active(*templates: str, **more: Any) -> list[dict[str, Any]]:
    """Return elements of an answer, one active contract a template."""
    return [
        {"workflowId": "", "contractEntry": {"JsActiveContract": {**created(each, **more), "synchronizerId": "g::12"}}}
        for each in templates
    ]


def ask(event_format: Any = ANY_PARTY, size: int = 1000, **more: Any) -> dict[str, Any]:
    return {"eventFormat": event_format, "maxPageSize": size, **more}


def page(elements: Any = (), token: str | None = "") -> dict[str, Any]:
    return {"activeContracts": elements, "activeAtOffset": 41, "nextPageToken": token}


def counted(**templates: int) -> list[str]:
    names = {"asset": ASSET, "iou": IOU, "coin": COIN}
    return [f'canton_ledger_contracts{{template="{names[name]}"}} {count}.0' for name, count in templates.items()]


def answer_well(node: TestNode) -> None:
    node.post(PAGES, ask(), answers=page(active(ASSET, COIN), token="b"))
    node.post(PAGES, ask(pageToken="b"), answers=page(active(ASSET)))


async def test_counts_the_contracts_of_each_template(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(ledger_contracts) == counted(asset=2, coin=1)


@pytest.mark.parametrize("empty", [page(), page(token=None)], ids=str)
async def test_a_ledger_without_contracts_has_no_series(node: TestNode, lines: Lines, empty: Any) -> None:
    node.post(PAGES, ask(), answers=empty)
    assert await lines(ledger_contracts) == []


@pytest.mark.parametrize("answer", [page(None), {}], ids=str)
async def test_an_answer_without_contracts_is_no_empty_ledger(node: TestNode, lines: Lines, answer: Any) -> None:
    node.post(PAGES, ask(), answers=answer)
    [line] = await lines(ledger_contracts)
    assert line.startswith("malformed: POST /v2/state/active-contracts-page: not the documented answer")


async def test_a_template_is_one_whatever_its_packages_version(node: TestNode, lines: Lines) -> None:
    nameless = {"contractEntry": {"JsActiveContract": {"createdEvent": {"templateId": ASSET}}}}
    elements = [*active(ASSET, package="9f9f"), *active(ASSET, package="a0a0"), nameless]
    node.post(PAGES, ask(), answers=page(elements))
    assert await lines(ledger_contracts) == counted(asset=3)


async def test_a_contract_on_its_way_counts_too_and_an_empty_entry_does_not(node: TestNode, lines: Lines) -> None:
    way = {"source": "g::12", "target": "app::34", "reassignmentId": "00re"}
    entries = [
        {"JsIncompleteAssigned": {"assignedEvent": {**way, **created(IOU)}}},
        {"JsIncompleteUnassigned": {**created(COIN), "unassignedEvent": {**way, "templateId": "9f9f:Main:Other"}}},
        {"JsEmpty": {}},
        {"JsActiveContract": None, "JsEmpty": {}},
        {},
        None,
    ]
    elements = [*active(ASSET), *({"workflowId": "", "contractEntry": entry} for entry in entries), {}]
    node.post(PAGES, ask(), answers=page(elements))
    assert await lines(ledger_contracts) == counted(asset=1, iou=1, coin=1)


async def test_asks_for_what_some_parties_see_of_some_templates(node: TestNode, lines: Lines) -> None:
    filters = {"cumulative": [only(IOU), only(ASSET)]}
    wanted = {"filtersByParty": {ALICE: filters, BOB: filters}, "verbose": False}
    node.post(PAGES, ask(wanted, 50), answers=page(active(ASSET)))
    options: dict[str, Any] = {"parties": [ALICE, BOB, ALICE], "templates": [IOU, ASSET, IOU], "page_size": 50}
    assert await lines(ledger_contracts, **options) == counted(asset=1, iou=0)


async def test_asks_for_everything_that_some_party_sees(node: TestNode, lines: Lines) -> None:
    wanted = {"filtersByParty": {ALICE: {"cumulative": [WILDCARD]}}, "verbose": False}
    node.post(PAGES, ask(wanted), answers=page(active(ASSET)))
    assert await lines(ledger_contracts, parties=[ALICE]) == counted(asset=1)


async def test_asks_for_a_template_whoever_sees_it(node: TestNode, lines: Lines) -> None:
    node.post(PAGES, ask({"filtersForAnyParty": {"cumulative": [only(IOU)]}, "verbose": False}), answers=page())
    assert await lines(ledger_contracts, templates=[IOU]) == counted(iou=0)


async def test_a_template_that_was_seen_and_is_gone_is_zero(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(ledger_contracts)
    node.post(PAGES, ask(), answers=page(active(IOU)))
    for _ in range(2):
        assert await lines(ledger_contracts) == counted(iou=1, asset=0, coin=0)


@pytest.mark.parametrize(
    "lack",
    [
        {"status": 405, "body": b""},
        {"status": 404, "answers": NO_ROUTE},
        {"status": 400, "answers": {"code": "DEPRECATED_API_DISABLED", "cause": "off"}},
    ],
    ids=str,
)
async def test_a_node_without_pages_is_asked_for_all_at_once(node: TestNode, lines: Lines, lack: Any) -> None:
    node.post(PAGES, ask(), **lack)
    node.get(END, answers={"offset": 41})
    node.post(AT_ONCE, {"activeAtOffset": 41, "eventFormat": ANY_PARTY}, answers=active(ASSET, ASSET, COIN))
    assert await lines(ledger_contracts) == counted(asset=2, coin=1)


async def test_an_empty_ledger_may_leave_its_end_out(node: TestNode, lines: Lines) -> None:
    node.post(PAGES, ask(), status=405, body=b"")
    node.get(END, answers={})
    node.post(AT_ONCE, {"activeAtOffset": 0, "eventFormat": ANY_PARTY}, answers=[])
    assert await lines(ledger_contracts) == []


async def test_more_than_a_node_gives_at_once_says_what_to_change(node: TestNode, lines: Lines) -> None:
    cause = "The number of matching elements (201) is greater than the node limit (200)."
    code = "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
    node.post(PAGES, ask(), status=405, body=b"")
    node.get(END, answers={"offset": 41})
    body = {"activeAtOffset": 41, "eventFormat": ANY_PARTY}
    node.post(AT_ONCE, body, status=413, answers={"code": code, "cause": cause})
    change = "name fewer parties or templates, or raise the node's http-list-max-elements-limit"
    assert await lines(ledger_contracts) == [f"too_large: POST {AT_ONCE}: 413 {code}: {cause}; {change}"]


async def test_pages_that_end_with_a_405_are_not_begun_anew_at_once(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.post(PAGES, ask(pageToken="b"), status=405, body=b"")
    assert await lines(ledger_contracts) == [f"refused: POST {PAGES}: 405, in the middle of the pages"]


async def test_a_token_that_may_not_read_is_unauthorized(node: TestNode, lines: Lines) -> None:
    node.post(PAGES, ask(), status=403, answers={"code": "NA", "cause": "A security-sensitive error"})
    assert await lines(ledger_contracts) == [f"unauthorized: POST {PAGES}: 403 NA: A security-sensitive error"]


async def test_a_node_that_makes_up_templates_does_not_fill_the_memory(
    node: TestNode, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.collectors.ledger_contracts.MOST_TEMPLATES", 2)
    node.post(PAGES, ask(), answers=page(active(ASSET, IOU, COIN)))
    said = f"too_large: POST {PAGES}: more than 2 templates; name the ones to count"
    assert await lines(ledger_contracts) == [said]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"templates": ["Asset"]}, "templates"),
        ({"templates": ["#demo-pkg:Main:Asset"]}, "templates"),
        ({"templates": ["a:b:c:d"]}, "templates"),
        ({"parties": [""]}, "parties"),
        ({"page_size": 0}, "page_size"),
        ({"page_size": 10_001}, "page_size"),
    ],
)
async def test_refuses_what_no_node_would_take(
    lines: Lines, node: TestNode, options: dict[str, Any], fault: str
) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(ledger_contracts, **options)


def test_runs_only_where_it_is_mentioned() -> None:
    assert not ledger_contracts.is_on
