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


LACKS = [
    {"status": 405, "body": b""},
    {"status": 404, "answers": NO_ROUTE},
    {"status": 400, "answers": {"code": "DEPRECATED_API_DISABLED", "cause": "off"}},
]


@pytest.mark.parametrize("lack", LACKS, ids=str)
async def test_a_node_that_posts_no_pages_gives_them_to_a_get_with_a_body(
    node: TestNode, lines: Lines, lack: Any
) -> None:
    node.post(PAGES, ask(), **lack)
    node.get(PAGES, ask(), answers=page(active(ASSET, COIN), token="b"))
    node.get(PAGES, ask(pageToken="b"), answers=page(active(ASSET)))
    assert await lines(ledger_contracts) == counted(asset=2, coin=1)


# By lists of 200, one after another

WANTED = {"activeAtOffset": 41, "eventFormat": ANY_PARTY}
BY_200 = f"{AT_ONCE}?limit=200"
FULL = 200


def without_pages(node: TestNode, **got: Any) -> None:
    """Tell of a node that has no pages, and where its ledger ends."""
    node.post(PAGES, ask(), status=404, answers=NO_ROUTE)
    node.get(PAGES, ask(), **(got or {"status": 404, "answers": NO_ROUTE}))
    node.get(END, answers={"offset": 41})


def listed(*templates: str, token: str | None = None) -> list[dict[str, Any]]:
    """Return elements as Canton 3.5 lists them: each says how to go on after it."""
    return [{**each, "streamContinuationToken": f"{token}{place}"} for place, each in enumerate(active(*templates))]


@pytest.mark.parametrize("lack", LACKS, ids=str)
async def test_a_node_without_any_pages_lists_few_contracts_at_once(node: TestNode, lines: Lines, lack: Any) -> None:
    without_pages(node, **lack)
    node.post(BY_200, WANTED, answers=active(ASSET, ASSET, COIN))
    assert await lines(ledger_contracts) == counted(asset=2, coin=1)


@pytest.mark.parametrize(
    "refusal", [{"status": 400, "body": b"<html>"}, {"status": 403, "body": b"Forbidden"}], ids=str
)
async def test_a_proxy_that_takes_no_body_with_a_get_does_not_end_it(
    node: TestNode, lines: Lines, refusal: dict[str, Any]
) -> None:
    without_pages(node, **refusal)
    node.post(BY_200, WANTED, answers=listed(ASSET, COIN))
    assert await lines(ledger_contracts) == counted(asset=1, coin=1)


@pytest.mark.parametrize(("status", "reason"), [(503, "refused"), (500, "refused"), (429, "limited")])
async def test_pages_that_fail_for_a_moment_are_no_lack(node: TestNode, lines: Lines, status: int, reason: str) -> None:
    node.post(PAGES, ask(), status=404, answers=NO_ROUTE)
    node.get(PAGES, ask(), status=status, body=b"")
    [line] = await lines(ledger_contracts, within=0.9)
    assert line == f"{reason}: GET {PAGES}: {status}"


async def test_an_empty_ledger_may_leave_its_end_out(node: TestNode, lines: Lines) -> None:
    without_pages(node)
    node.get(END, answers={})
    node.post(BY_200, {"activeAtOffset": 0, "eventFormat": ANY_PARTY}, answers=[])
    assert await lines(ledger_contracts) == []


async def test_goes_on_after_the_last_of_each_list_until_one_is_not_full(node: TestNode, lines: Lines) -> None:
    without_pages(node)
    node.post(BY_200, WANTED, answers=listed(*[ASSET] * FULL, token="a"))
    node.post(BY_200, {**WANTED, "streamContinuationToken": "a199"}, answers=listed(*[IOU] * FULL, token="b"))
    node.post(BY_200, {**WANTED, "streamContinuationToken": "b199"}, answers=listed(ASSET, COIN, token="c"))
    assert await lines(ledger_contracts) == counted(asset=201, iou=200, coin=1)


async def test_as_many_as_fill_the_last_list_are_all_there_are(node: TestNode, lines: Lines) -> None:
    without_pages(node)
    node.post(BY_200, WANTED, answers=listed(*[ASSET] * FULL, token="a"))
    node.post(BY_200, {**WANTED, "streamContinuationToken": "a199"}, answers=[])
    assert await lines(ledger_contracts) == counted(asset=200)


async def test_a_node_that_gives_fewer_at_once_is_asked_for_fewer(node: TestNode, lines: Lines) -> None:
    without_pages(node)
    for size in (200, 100):
        node.post(f"{AT_ONCE}?limit={size}", WANTED, status=413, body=b"")
    node.post(f"{AT_ONCE}?limit=50", WANTED, answers=listed(*[ASSET] * 50, token="a"))
    node.post(f"{AT_ONCE}?limit=50", {**WANTED, "streamContinuationToken": "a49"}, answers=listed(IOU))
    assert await lines(ledger_contracts) == counted(asset=50, iou=1)


async def test_a_node_that_gives_not_even_one_is_too_large(node: TestNode, lines: Lines) -> None:
    without_pages(node)
    for size in (200, 100, 50, 25, 12, 6, 3, 1):
        node.post(f"{AT_ONCE}?limit={size}", WANTED, status=413, body=b"")
    assert await lines(ledger_contracts) == [f"too_large: POST {AT_ONCE}: 413"]


async def test_a_node_without_any_way_does_not_have_the_operation(node: TestNode, lines: Lines) -> None:
    without_pages(node)
    node.post(BY_200, WANTED, status=405, body=b"")
    [line] = await lines(ledger_contracts)
    assert line.startswith(f"unsupported: POST {PAGES}: 404")
    assert line.endswith(f"; POST {AT_ONCE}: 405")


async def test_a_list_that_begins_again_has_no_end(node: TestNode, lines: Lines) -> None:
    without_pages(node)
    for token in (None, "a199"):
        wanted = {**WANTED, **({"streamContinuationToken": token} if token else {})}
        node.post(BY_200, wanted, answers=listed(*[ASSET] * FULL, token="a"))
    said = f"POST {AT_ONCE}: the token 'a199' came again, so the contracts have no end"
    assert await lines(ledger_contracts) == [f"malformed: {said}"]


async def test_a_list_that_ends_with_a_lack_or_an_error_is_no_smaller_count(node: TestNode, lines: Lines) -> None:
    without_pages(node)
    node.post(BY_200, WANTED, answers=listed(*[ASSET] * FULL, token="a"))
    more = {**WANTED, "streamContinuationToken": "a199"}
    node.post(BY_200, more, status=405, body=b"")
    assert await lines(ledger_contracts) == [f"refused: POST {AT_ONCE}: 405, after 200 contracts"]
    node.post(BY_200, more, status=400, answers={"code": "PARTICIPANT_PRUNED_DATA_ACCESSED", "cause": "gone"})
    said = f"POST {AT_ONCE}: 400 PARTICIPANT_PRUNED_DATA_ACCESSED: gone"
    assert await lines(ledger_contracts) == [f"refused: {said}"]


# By a websocket, on Canton 3.4


def more_than_a_list(node: TestNode) -> None:
    without_pages(node)
    node.post(BY_200, WANTED, answers=active(*[ASSET] * FULL))


async def test_where_a_list_cannot_go_on_a_websocket_tells_all(node: TestNode, lines: Lines) -> None:
    more_than_a_list(node)
    node.socket(AT_ONCE, WANTED, *active(*[ASSET] * 300, *[COIN] * 7))
    assert await lines(ledger_contracts) == counted(asset=300, coin=7)


async def test_a_websocket_that_ends_with_an_error_or_none_is_no_smaller_count(node: TestNode, lines: Lines) -> None:
    more_than_a_list(node)
    error = {"code": "PARTICIPANT_PRUNED_DATA_ACCESSED", "cause": "gone", "context": {}, "grpcCodeValue": 9}
    node.socket(AT_ONCE, WANTED, *active(ASSET, ASSET), error)
    said = f"GET {AT_ONCE}: 400 PARTICIPANT_PRUNED_DATA_ACCESSED: gone"
    assert await lines(ledger_contracts) == [f"refused: {said}"]
    node.socket(AT_ONCE, WANTED, *active(ASSET, ASSET), code=1011)
    said = f"GET {AT_ONCE}: the websocket was closed before the end of the answer, with code 1011"
    assert await lines(ledger_contracts) == [f"unreachable: {said}"]


async def test_a_token_that_may_not_read_by_websocket_is_unauthorized(node: TestNode, lines: Lines) -> None:
    more_than_a_list(node)
    node.socket(AT_ONCE, WANTED, {"code": "NA", "cause": "A security error", "context": {}, "grpcCodeValue": 7})
    assert await lines(ledger_contracts) == [f"unauthorized: GET {AT_ONCE}: 403 NA: A security error"]
    node.sockets.clear()
    node.get(AT_ONCE, status=401, body=b"")
    assert await lines(ledger_contracts) == [f"unauthorized: GET {AT_ONCE}: 401"]


async def test_a_message_without_an_entry_is_malformed_and_an_empty_entry_is_none(node: TestNode, lines: Lines) -> None:
    more_than_a_list(node)
    entries: list[Any] = [{"JsEmpty": {}}, {}, None]
    empty = [{"workflowId": "", "contractEntry": entry} for entry in entries]
    node.socket(AT_ONCE, WANTED, *active(*[ASSET] * 201), *empty)
    assert await lines(ledger_contracts) == counted(asset=201)
    node.socket(AT_ONCE, WANTED, *active(ASSET), {"workflowId": ""})
    [line] = await lines(ledger_contracts)
    assert line.startswith(f"malformed: GET {AT_ONCE}: not the documented answer")


@pytest.mark.parametrize("count", [0, 1, 199])
async def test_a_websocket_that_gives_less_than_a_list_before_is_a_broken_answer(
    node: TestNode, lines: Lines, count: int
) -> None:
    more_than_a_list(node)
    node.socket(AT_ONCE, WANTED, *active(*[ASSET] * count))
    said = f"the answer is not complete: {count} contracts, and a list had 200"
    assert await lines(ledger_contracts) == [f"unreachable: GET {AT_ONCE}: {said}"]


@pytest.mark.parametrize("status", [404, 405, 501, 400, 426, 200])
async def test_where_no_websocket_gets_through_a_raised_limit_gives_all_at_once(
    node: TestNode, lines: Lines, status: int
) -> None:
    more_than_a_list(node)
    node.get(AT_ONCE, status=status, body=b"")
    node.post(AT_ONCE, WANTED, answers=active(*[ASSET] * 300))
    assert await lines(ledger_contracts) == counted(asset=300)


async def test_more_than_a_node_gives_by_any_way_says_what_to_change(node: TestNode, lines: Lines) -> None:
    cause = "The number of matching elements (201) is greater than the node limit (200)."
    code = "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
    more_than_a_list(node)
    node.get(AT_ONCE, status=400, body=b"Expected WebSocket Upgrade request")
    node.post(AT_ONCE, WANTED, status=413, answers={"code": code, "cause": cause})
    change = (
        "let websockets to the node through, name fewer parties or templates, or raise its http-list-max-elements-limit"
    )
    [line] = await lines(ledger_contracts)
    assert line.startswith("unsupported: ")
    assert line.endswith(f"POST {AT_ONCE}: 413 {code}: {cause}; {change}")


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
    monkeypatch.setattr("exporter.limits.TEMPLATES", 2)
    node.post(PAGES, ask(), answers=page(active(ASSET, IOU, COIN)))
    said = "more than 2 templates; name the ones to count"
    assert await lines(ledger_contracts) == [f"too_large: POST {PAGES}: {said}"]
    node.told.clear()
    more_than_a_list(node)
    node.socket(AT_ONCE, WANTED, *active(ASSET, IOU, COIN))
    assert await lines(ledger_contracts) == [f"too_large: GET {AT_ONCE}: {said}"]


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
    assert not ledger_contracts.on_by_default
