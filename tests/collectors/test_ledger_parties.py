"""ledger_parties: how many parties there are, page after page."""

from typing import Any

import pytest

from exporter.collectors.ledger_parties import ledger_parties
from tests.conftest import Lines
from tests.nodes import TestNode

PARTIES = "/v2/parties"


def party(number: int, is_local: bool | None = True) -> dict[str, Any]:
    metadata = {"resourceVersion": "0", "annotations": {}}
    return {"party": f"p{number}::12", "isLocal": is_local, "localMetadata": metadata, "identityProviderId": ""}


def tell(node: TestNode, *parties: Any, after: str = "", token: str | None = "") -> None:
    query = f"?pageToken={after}" if after else ""
    node.get(PARTIES + query, answers={"partyDetails": parties, "nextPageToken": token})


def counted(local: int, other: int) -> list[str]:
    return [
        f'canton_ledger_parties{{local="true"}} {local}.0',
        f'canton_ledger_parties{{local="false"}} {other}.0',
    ]


def answer_well(node: TestNode) -> None:
    tell(node, party(1), party(2, False), token="b")
    tell(node, party(3), after="b")


async def test_counts_parties_hosted_here_and_others(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(ledger_parties) == counted(2, 1)


async def test_a_participant_that_knows_nobody_says_so(node: TestNode, lines: Lines) -> None:
    tell(node)
    assert await lines(ledger_parties) == counted(0, 0)


async def test_a_party_of_which_it_is_not_said_is_hosted_elsewhere(node: TestNode, lines: Lines) -> None:
    tell(node, party(1), party(2, None), {"party": "p3::12"})
    assert await lines(ledger_parties) == counted(1, 2)


async def test_counts_many_pages(node: TestNode, lines: Lines) -> None:
    tokens = ["", "b", "c", "d/+= &"]
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        query = f"?pageToken={token.replace('+', '%2B').replace('&', '%26')}" if token else ""
        parties = [party(number, is_local=number % 4 == 0) for number in range(1000)]
        node.get(PARTIES + query, answers={"partyDetails": parties, "nextPageToken": following})
    assert await lines(ledger_parties) == counted(1000, 3000)


@pytest.mark.parametrize("end", [{"nextPageToken": ""}, {"nextPageToken": None}, {}], ids=str)
async def test_the_last_page_names_no_other(node: TestNode, lines: Lines, end: dict[str, Any]) -> None:
    tell(node, party(1), token="b")
    node.get(f"{PARTIES}?pageToken=b", answers={"partyDetails": [], **end})
    assert await lines(ledger_parties) == counted(1, 0)


async def test_pages_that_go_round_are_malformed(node: TestNode, lines: Lines) -> None:
    tell(node, party(1), token="b")
    tell(node, party(2), after="b", token="b")
    [line] = await lines(ledger_parties)
    assert line == "malformed: GET /v2/parties: the page token 'b' came again, so the pages have no end"


async def test_pages_that_are_not_there_any_more_are_no_lack(node: TestNode, lines: Lines) -> None:
    tell(node, party(1), token="b")
    node.get(f"{PARTIES}?pageToken=b", status=404, body=b"")
    assert await lines(ledger_parties) == ["refused: GET /v2/parties: 404, in the middle of the pages"]


async def test_a_user_that_is_no_admin_is_unauthorized(node: TestNode, lines: Lines) -> None:
    refusal = {"code": "NA", "cause": "A security-sensitive error has been received", "errorCategory": -1}
    node.get(f"{PARTIES}", status=403, answers=refusal)
    [line] = await lines(ledger_parties)
    assert line == "unauthorized: GET /v2/parties: 403 NA: A security-sensitive error has been received"


async def test_a_page_without_parties_is_malformed(node: TestNode, lines: Lines) -> None:
    node.get(f"{PARTIES}", answers={"nextPageToken": ""})
    [line] = await lines(ledger_parties)
    assert line.startswith("malformed: GET /v2/parties: not the documented answer: ")
    assert "partyDetails" in line


def test_runs_only_where_it_is_mentioned() -> None:
    assert not ledger_parties.on_by_default
