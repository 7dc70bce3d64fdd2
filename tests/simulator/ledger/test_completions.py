"""POST /v2/commands/completions."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.ledger.transactions import USERS
from exporter.simulator.nodes.ledger import LedgerNode
from tests.simulator.conftest import EVERYBODY, Client, Reply, StandingClock, ledger, transactions
from tests.simulator.ledger.updates import follow

UNTIL_3_6 = [dialect for dialect in Dialect if dialect is not Dialect.V0_9]
BEGIN = 181_000


async def ask(client: Client, node: LedgerNode, body: Any, limit: int | None = None, token: str | None = None) -> Reply:
    query = "stream_idle_timeout_ms=0" + ("" if limit is None else f"&limit={limit}")
    return await client.ask(node, f"/v2/commands/completions?{query}", body, token=token)


def asked(node: LedgerNode, user: str = USERS[0], begin: int = BEGIN) -> dict[str, Any]:
    return {"parties": node.participant.parties, "userId": user, "beginExclusive": begin}


def responses(reply: Reply) -> list[tuple[str, Any]]:
    assert reply.status == 200, reply.text
    pairs = [next(iter(element["completionResponse"].items())) for element in reply.json]
    return [(kind, wrapped["value"]) for kind, wrapped in pairs]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("dialect", UNTIL_3_6)
async def test_the_completions_of_a_user_are_the_truth(
    network: Network, client: Client, dialect: Dialect, user: str
) -> None:
    node = ledger(network, dialect)
    end = node.participant.end().offset
    found = responses(await ask(client, node, asked(node, user)))
    assert found[-1] == ("OffsetCheckpoint", found[-1][1])
    assert found[-1][1]["offset"] == end
    codes = Counter(value["status"]["code"] for kind, value in found if kind == "Completion")
    assert codes == node.completed(BEGIN, end, user)
    assert codes[0] > 0.7 * codes.total() > 20
    assert len(codes) > 1


async def test_what_a_completion_tells(network: Network, client: Client) -> None:
    node = ledger(network)
    found = [value for kind, value in responses(await ask(client, node, asked(node))) if kind == "Completion"]
    accepted = next(value for value in found if value["status"]["code"] == 0)
    rejected = next(value for value in found if value["status"]["code"] != 0)
    assert accepted["updateId"]
    assert accepted["status"] == {"code": 0, "message": "", "details": []}
    assert rejected["updateId"] is None
    assert rejected["status"]["message"]
    for value in (accepted, rejected):
        assert value["userId"] == USERS[0]
        assert value["actAs"][0] in node.participant.parties
        assert value["synchronizerTime"]["synchronizerId"] == network.world.synchronizer


async def test_an_accepted_command_is_that_of_a_transaction(network: Network, client: Client) -> None:
    node, completions = ledger(network), {}
    for user in USERS:
        for kind, value in responses(await ask(client, node, asked(node, user))):
            if kind == "Completion":
                completions[value["offset"]] = value
    end = node.participant.end().offset
    for _, transaction in await follow(client, node, BEGIN, end, transactions(EVERYBODY, "LEDGER_EFFECTS")):
        completion = completions.get(transaction["offset"], {"commandId": "", "paidTrafficCost": None})
        for name in ("commandId", "paidTrafficCost"):
            assert completion[name] == transaction[name]
        assert completion.get("updateId", transaction["updateId"]) == transaction["updateId"]


async def test_of_some_parties_there_are_the_commands_that_they_acted_in(network: Network, client: Client) -> None:
    node = ledger(network)
    alice, end = node.participant.parties[0], node.participant.end().offset
    found = responses(await ask(client, node, asked(node) | {"parties": [alice, "nobody::12"]}))
    codes = Counter(value["status"]["code"] for kind, value in found if kind == "Completion")
    assert codes == node.completed(BEGIN, end, USERS[0], [alice])
    assert {party for kind, value in found if kind == "Completion" for party in value["actAs"]} == {alice}


async def test_a_stream_brings_completions_while_it_waits(
    network: Network, client: Client, clock: StandingClock
) -> None:
    node = ledger(network)
    body = asked(node, begin=node.participant.end().offset)
    call = asyncio.create_task(client.ask(node, "/v2/commands/completions?stream_idle_timeout_ms=300", body))
    await asyncio.sleep(0.1)
    clock.advance(60)
    assert {kind for kind, _ in responses(await call)} == {"Completion", "OffsetCheckpoint"}


async def test_more_completions_than_the_list_limit_are_a_413(network: Network, client: Client) -> None:
    node = ledger(network)
    refused = await ask(client, node, asked(node, begin=100_000))
    assert (refused.status, refused.json["code"]) == (413, "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED")
    assert len(responses(await ask(client, node, asked(node, begin=100_000), limit=200))) == 200


async def test_canton_3_6_does_not_serve_them(network: Network, client: Client) -> None:
    node = ledger(network, "0.9")
    answer = await ask(client, node, asked(node))
    assert (answer.status, answer.json["code"]) == (400, "DEPRECATED_API_DISABLED")


@pytest.mark.parametrize("dialect", Dialect)
async def test_those_of_all_users_are_told_since_canton_3_5_10(
    network: Network, client: Client, dialect: Dialect
) -> None:
    node = ledger(network, dialect)
    body = {"beginExclusive": node.participant.end().offset - 10}
    answer = await client.ask(node, "/v2/commands/command-completions?stream_idle_timeout_ms=0", body)
    assert answer.status == (404 if dialect in ("0.5.10", "0.5", "0.6") else 200)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"beginExclusive": 1}, "PARTICIPANT_PRUNED_DATA_ACCESSED"),
        ({"beginExclusive": 190_000}, "OFFSET_AFTER_LEDGER_END"),
        ({"beginExclusive": -1}, "NEGATIVE_OFFSET"),
        ({"userId": None}, "MISSING_FIELD"),
        ({"parties": []}, "MISSING_FIELD"),
        ({"parties": None}, None),
        ({"parties": [1]}, None),
    ],
)
async def test_a_bad_request_for_completions_is_a_400(
    network: Network, client: Client, body: dict[str, Any], code: str | None
) -> None:
    node = ledger(network)
    answer = await ask(client, node, asked(node) | body)
    assert answer.status == 400
    assert answer.media == ("text/plain" if code is None else "application/json")
    assert code is None or answer.json["code"] == code


async def test_a_token_says_whose_completions_are_asked_for(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("ledger", Kind.LEDGER, Dialect.V0_7_5, token="secret")], clock=clock) as network:
        node = network["ledger"]
        assert isinstance(node, LedgerNode)
        body = asked(node)
        told = await ask(client, node, body, token="secret")
        del body["userId"]
        assert await ask(client, node, body, token="secret") == told
    assert "Completion" in dict(responses(told))
