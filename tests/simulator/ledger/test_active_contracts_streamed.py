"""The active contracts of a ledger by a websocket, as a stream that ends."""

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.http.canton_error import CantonError
from exporter.simulator.ledger.active_contracts import ActiveContractsOperations
from exporter.simulator.nodes.ledger import LedgerNode
from tests.simulator.conftest import EVERYBODY, Client, StandingClock, ledger

LIST = "/v2/state/active-contracts"
NETWORK = [dialect for dialect in Dialect if dialect.is_network]


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def stream(
    session: aiohttp.ClientSession, node: LedgerNode, asked: object, **options: Any
) -> tuple[list[Any], int | None]:
    """Return the messages, and the code with which it was closed; None where it broke off."""
    heard: list[Any] = []
    async with session.ws_connect(node.url + LIST, **options) as socket:
        await socket.send_str(asked if isinstance(asked, str) else json.dumps(asked))
        while (message := await socket.receive()).type is WSMsgType.TEXT:
            heard.append(json.loads(message.data))
    return heard, message.data if message.type is WSMsgType.CLOSE else None


def asking(node: LedgerNode) -> dict[str, Any]:
    return {"activeAtOffset": node.participant.end().offset, "eventFormat": EVERYBODY}


@pytest.mark.parametrize("dialect", NETWORK)
async def test_all_are_told_whatever_the_list_limit(
    network: Network, client: Client, session: aiohttp.ClientSession, dialect: Dialect
) -> None:
    node = ledger(network, dialect)
    heard, code = await stream(session, node, asking(node))
    assert (len(heard), code) == (300, 1000)
    assert heard == list(active_contracts(node).stream(json.dumps(asking(node)).encode()))
    assert all(("streamContinuationToken" in one) == (not dialect.is_canton_3_4) for one in heard)


async def test_the_document_has_no_websocket(network: Network, client: Client) -> None:
    assert (await client.ask(ledger(network, "document"), LIST)).status == 405


async def test_a_get_that_opens_none_is_a_400(network: Network, client: Client) -> None:
    answer = await client.ask(ledger(network, "0.5"), LIST)
    assert (answer.status, answer.text) == (400, "Expected WebSocket Upgrade request")


async def test_names_its_protocol_whatever_the_client_does(network: Network, session: aiohttp.ClientSession) -> None:
    for protocols in ((), ("daml.ws.auth",), ("jwt.token.abc", "daml.ws.auth")):
        async with session.ws_connect(ledger(network, "0.5").url + LIST, protocols=protocols) as socket:
            assert socket._response.headers["Sec-WebSocket-Protocol"] == "daml.ws.auth"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"activeAtOffset": 10**12, "eventFormat": EVERYBODY}, "OFFSET_AFTER_LEDGER_END"),
        ({"activeAtOffset": 5, "eventFormat": EVERYBODY}, "PARTICIPANT_PRUNED_DATA_ACCESSED"),
        ({"activeAtOffset": -5, "eventFormat": EVERYBODY}, "NEGATIVE_OFFSET"),
    ],
    ids=str,
)
async def test_an_error_is_the_last_message_before_it_closes_as_if_all_was_well(
    network: Network, session: aiohttp.ClientSession, asked: dict[str, Any], code: str
) -> None:
    [error], closed = await stream(session, ledger(network, "0.5"), asked)
    assert (error["code"], closed) == (code, 1000)
    assert "contractEntry" not in error


@pytest.mark.parametrize("asked", ["no json", "[]", "{}", '{"activeAtOffset": "5"}'])
async def test_what_cannot_be_decoded_ends_it_with_another_code(
    network: Network, session: aiohttp.ClientSession, asked: str
) -> None:
    assert await stream(session, ledger(network, "0.5"), asked) == ([], 1011)


async def test_who_says_nothing_and_closes_is_told_nothing(network: Network, session: aiohttp.ClientSession) -> None:
    async with session.ws_connect(ledger(network, "0.5").url + LIST) as socket:
        pass
    assert socket.close_code == 1000


def active_contracts(node: LedgerNode) -> ActiveContractsOperations:
    return ActiveContractsOperations(node.participant, node._active, node.dialect, 200)


async def test_what_is_pruned_meanwhile_ends_with_an_error(network: Network) -> None:
    node = ledger(network, "0.5")
    contracts = active_contracts(node).stream(json.dumps(asking(node) | {"activeAtOffset": 150_000}).encode())
    next(contracts)
    node.prune(160_000)
    with pytest.raises(CantonError, match="PRUNED"):
        list(contracts)


async def test_a_token_goes_on_after_its_element_and_is_of_one_offset(network: Network, client: Client) -> None:
    node = ledger(network, "0.6")
    asked = asking(node)
    whole = list(active_contracts(node).stream(json.dumps(asked).encode()))
    after = {"streamContinuationToken": whole[99]["streamContinuationToken"]}
    answer = await client.ask(node, f"{LIST}?limit=150", asked | after)
    assert answer.json == whole[100:250]
    last = {"streamContinuationToken": whole[-1]["streamContinuationToken"]}
    assert (await client.ask(node, f"{LIST}?limit=200", asked | last)).json == []
    refused = await client.ask(node, f"{LIST}?limit=200", asked | after | {"activeAtOffset": 150_000})
    assert (refused.status, refused.json["code"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"headers": {"Authorization": "Bearer sesame"}}, 101),
        ({"headers": {"Authorization": "Bearer other"}}, 401),
        ({"headers": {"Sec-WebSocket-Protocol": "jwt.token.sesame,daml.ws.auth"}}, 101),
        ({"headers": {"Sec-WebSocket-Protocol": "daml.ws.auth,jwt.token.sesame"}}, 101),
        ({"headers": {"Sec-WebSocket-Protocol": "daml.ws.auth, jwt.token.sesame"}}, 401),
        ({"headers": {"Authorization": "Bearer other", "Sec-WebSocket-Protocol": "jwt.token.sesame"}}, 401),
        ({}, 401),
    ],
    ids=str,
)
async def test_the_token_is_in_either_of_two_headers(
    clock: StandingClock, session: aiohttp.ClientSession, sent: dict[str, Any], status: int
) -> None:
    async with Network([NodeSpec("ledger", Kind.LEDGER, Dialect.V0_5, token="sesame")], clock=clock) as network:
        node = network["ledger"]
        assert isinstance(node, LedgerNode)
        if status == 101:
            assert len((await stream(session, node, asking(node), **sent))[0]) == 300
        else:
            with pytest.raises(aiohttp.WSServerHandshakeError, match=f"^{status}"):
                await stream(session, node, asking(node), **sent)
