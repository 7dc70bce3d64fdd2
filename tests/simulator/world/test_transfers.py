"""Transfer commands: how they live."""

from collections import Counter

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.world.transfers import Sender
from tests.simulator.conftest import Client, StandingClock
from tests.simulator.world.transfers import COUNTER, DAY, LIFE, PROXY, STATUS, at_a_creation, counted, states, status


@pytest.fixture
def alice(network: Network) -> Sender:
    return network.world.sender("alice")


@pytest.mark.parametrize("dialect", Dialect)
async def test_each_dialect_has_its_operations(
    network: Network, client: Client, alice: Sender, dialect: Dialect
) -> None:
    query, nonce = f"status?sender={alice.party}&nonce=", alice.next_nonce - 1
    scan, validator = network[f"scan-{dialect}"], network[f"validator-{dialect}"]
    on_scan = [
        (await client.ask(scan, path)).status for path in (f"{STATUS[:-6]}{query}{nonce}", f"{COUNTER}/{alice.party}")
    ]
    in_proxy = [
        (await client.ask(validator, f"{PROXY}/{path}")).status
        for path in (f"transfer-command/{query}{nonce}", f"transfer-command-counter/{alice.party}")
    ]
    assert on_scan == ([200, 200] if dialect.is_network else [404, 404])
    assert in_proxy == {"document": [200, 404], "0.9": [404, 404]}.get(dialect, [200, 200])


async def test_a_command_is_answered_with_its_contract_and_its_status(
    network: Network, client: Client, alice: Sender
) -> None:
    nonce = alice.next_nonce // 10 * 10 - 9  # no failing one, and no pair
    answer = (await status(client, network, alice.party, nonce)).json
    [(contract_id, command)] = answer["transfer_commands_by_contract_id"].items()
    contract = command["contract"]
    payload = contract.pop("payload")
    assert command["status"] == {"status": "sent"}
    assert list(contract) == ["template_id", "contract_id", "created_event_blob", "created_at"]
    assert contract["contract_id"] == contract_id
    assert contract["template_id"].endswith(":Splice.ExternalPartyAmuletRules:TransferCommand")
    assert set(payload) == {"dso", "sender", "receiver", "delegate", "amount", "expiresAt", "nonce", "description"}
    assert (payload["sender"], payload["nonce"], payload["description"]) == (alice.party, str(nonce), None)
    documented = await client.ask(
        network["validator-document"], f"{PROXY}{STATUS[3:]}?sender={alice.party}&nonce={nonce}"
    )
    [shown] = documented.json["transfer_commands_by_contract_id"].values()
    assert "description" not in shown["contract"]["payload"]
    assert shown["contract"]["template_id"].startswith("splice-amulet:")


async def test_a_counter_is_a_contract_of_its_own_for_every_nonce(
    network: Network, client: Client, clock: StandingClock, alice: Sender
) -> None:
    answer = (await client.ask(network["scan-0.9"], f"{COUNTER}/{alice.party}")).json["transfer_command_counter"]
    assert answer["domain_id"] == network.world.synchronizer
    payload = {"dso": network.world.dso_party, "sender": alice.party, "nextNonce": str(alice.next_nonce)}
    assert answer["contract"]["payload"] == payload
    clock.advance(60)
    later = (await client.ask(network["scan-0.9"], f"{COUNTER}/{alice.party}")).json["transfer_command_counter"]
    assert later["contract"]["contract_id"] != answer["contract"]["contract_id"]
    assert later["contract"]["created_at"] > answer["contract"]["created_at"]


async def test_a_command_is_created_and_then_ends_with_which_the_counter_rises(
    network: Network, client: Client, clock: StandingClock
) -> None:
    for sender in network.world.senders.values():
        nonce = at_a_creation(clock, sender) + 1
        assert await states(client, network, sender, nonce) == []
        clock.advance(60)
        assert set(await states(client, network, sender, nonce)) == {"created"}
        assert await counted(client, network, sender) == nonce
        clock.advance(LIFE)
        assert "created" not in await states(client, network, sender, nonce)
        assert await counted(client, network, sender) == nonce + 1


async def test_there_is_a_history_with_all_ways_to_end(network: Network, client: Client, alice: Sender) -> None:
    newest = alice.next_nonce - 1
    ended: Counter[str] = Counter()
    pairs = 0
    for nonce in range(newest - 149, newest + 1):
        first, *more = await states(client, network, alice, nonce)
        ended[first] += 1
        pairs += len(more)
        assert more in ([], ["failed"]), "of several commands with the same nonce only one can be sent"
    assert ended == {"sent": 135, "failed": 5, "expired": 5, "withdrawn": 5}
    assert pairs == 6


async def test_what_failed_says_why(network: Network, client: Client, alice: Sender) -> None:
    failing = alice.next_nonce // 10 * 10 - 5
    answer = (await status(client, network, alice.party, failing)).json["transfer_commands_by_contract_id"]
    told = next(iter(answer.values()))["status"]
    assert list(told) == ["status", "failure_kind", "reason"]
    assert told["status"] == "failed"


async def test_after_a_day_a_command_is_no_longer_shown(
    network: Network, client: Client, clock: StandingClock, alice: Sender
) -> None:
    nonce = at_a_creation(clock, alice)
    clock.advance(DAY - 1)
    assert await states(client, network, alice, nonce)
    clock.advance(1)
    assert (await status(client, network, alice.party, nonce)).status == 404
    assert await counted(client, network, alice) >= nonce + 1439


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("sender=stranger::1220&nonce=1", 404),
        ("sender={alice}&nonce=1000000", 404),
        ("sender={alice}&nonce=-1", 404),
        ("sender={alice}&nonce=x", 400),
        ("sender={alice}", 400),
        ("nonce=1", 400),
    ],
)
async def test_what_there_is_not_is_refused(
    network: Network, client: Client, alice: Sender, query: str, code: int
) -> None:
    answer = await client.ask(network["scan-0.9"], f"{STATUS}?{query.format(alice=alice.party)}")
    assert (answer.status, list(answer.json)) == (code, ["error"])


async def test_a_party_that_never_sent_has_no_counter(network: Network, client: Client) -> None:
    answer = await client.ask(network["scan-0.9"], f"{COUNTER}/stranger::1220")
    assert (answer.status, list(answer.json)) == (404, ["error"])


async def test_the_proxy_wants_a_token(clock: StandingClock, client: Client) -> None:
    spec = NodeSpec("validator", Kind.VALIDATOR, Dialect.V0_6, token="secret")
    async with Network([spec], clock=clock) as network:
        path = f"{PROXY}{COUNTER[3:]}/{next(iter(network.world.senders))}"
        assert (await client.ask(network["validator"], path)).status == 401
        assert (await client.ask(network["validator"], path, token="secret")).status == 200


async def test_commands_come_at_another_pace_if_told(clock: StandingClock) -> None:
    sender = Network([], clock=clock, transfer_interval=5).world.sender("bob")
    before = sender.next_nonce
    clock.advance(50)
    assert sender.next_nonce == before + 10


def test_a_network_on_which_no_transfer_fails_has_only_sent_ones(clock: StandingClock) -> None:
    sender = Network([], clock=clock, failing_transfers=False).world.sender("alice")
    seen = [sender.commands(nonce, Dialect.V0_7_5) for nonce in range(sender.next_nonce - 100, sender.next_nonce)]
    assert {len(commands) for commands in seen} == {1}
    assert {each["status"]["status"] for commands in seen for each in commands.values()} == {"sent"}
