"""The traffic of members of the synchronizer, and the validator's own user."""

from typing import Any
from urllib.parse import quote

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from tests.simulator.conftest import Client, StandingClock


def path(network: Network, member: str, synchronizer: str | None = None) -> str:
    return f"/v0/domains/{synchronizer or network.world.synchronizer}/members/{member}/traffic-status"


async def status(client: Client, network: Network, member: str) -> dict[str, Any]:
    answer = await client.ask(network["scan-0.9"], path(network, member))
    assert (answer.status, list(answer.json)) == (200, ["traffic_status"])
    found = answer.json["traffic_status"]
    assert {key: list(values) for key, values in found.items()} == {
        "actual": ["total_consumed", "total_limit"],
        "target": ["total_purchased"],
    }
    return {name: value for values in found.values() for name, value in values.items()}


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_network_tells_of_traffic_and_the_document_does_not(
    network: Network, client: Client, dialect: Dialect
) -> None:
    for member in network.world.members:
        answer = await client.ask(network[f"scan-{dialect}"], path(network, member))
        assert answer.status == (200 if dialect.is_network else 404)


async def test_members_are_the_participants_as_their_ledgers_call_them_and_a_mediator(
    network: Network, client: Client
) -> None:
    ledgers = [node for node in network.nodes.values() if node.kind == "ledger"]
    told = [(await client.ask(node, "/v2/parties/participant-id")).json["participantId"] for node in ledgers]
    *participants, mediator = network.world.members
    assert participants == [f"PAR::{participant}" for participant in told]
    assert mediator.startswith("MED::sv-1::1220")


async def test_where_no_ledger_is_watched_members_are_elsewhere(clock: StandingClock) -> None:
    network = Network([NodeSpec("scan", Kind.SCAN)], clock=clock)
    names = [member.partition("::1220")[0] for member in network.world.members]
    assert names == ["PAR::exchange", "PAR::sv-1", "MED::sv-1"]


async def test_what_is_consumed_grows_and_the_limit_goes_up_in_steps_before_it_is_reached(
    network: Network, client: Client, clock: StandingClock
) -> None:
    for member in network.world.members:
        consumed, limits, pending = [], [], 0
        for _ in range(400):
            values = await status(client, network, member)
            consumed.append(values["total_consumed"])
            limits.append(values["total_limit"])
            pending += values["total_purchased"] > values["total_limit"]
            assert 400_000 < values["total_limit"] - values["total_consumed"] <= 2_500_000
            assert values["total_purchased"] >= values["total_limit"]
            clock.advance(15)
        assert consumed == sorted(set(consumed))
        assert limits == sorted(limits)
        assert 1 < len(set(limits)) < 10
        assert 0 < pending < 20


async def test_ids_may_be_escaped(network: Network, client: Client) -> None:
    member = next(iter(network.world.members))
    escaped = path(network, quote(member), quote(network.world.synchronizer))
    assert (await client.ask(network["scan-0.9"], escaped)).status == 200


@pytest.mark.parametrize(
    ("member", "synchronizer", "code"),
    [
        ("participant::1220ab", None, 400),
        ("PAR::participant", None, 400),
        ("SEQ::participant::1220ab", None, 400),
        ("PAR::participant::1220ab", "global-domain", 400),
        ("PAR::participant::1220ab", None, 404),
        ("PAR::participant::1220ab", "other-domain::1220ab", 404),
    ],
)
async def test_what_is_no_id_is_refused_and_who_is_unknown_is_not_found(
    network: Network, client: Client, member: str, synchronizer: str | None, code: int
) -> None:
    answer = await client.ask(network["scan-0.9"], path(network, member, synchronizer))
    assert (answer.status, list(answer.json)) == (code, ["error"])


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_validator_tells_its_own_user_to_everybody(
    clock: StandingClock, client: Client, dialect: Dialect
) -> None:
    spec = NodeSpec("my-validator", Kind.VALIDATOR, dialect, token="secret")
    async with Network([spec], clock=clock) as network:
        answer = await client.ask(network["my-validator"], "/v0/validator-user")
    assert answer.status == (200 if dialect.is_network else 404)
    if dialect.is_network:
        assert answer.json["party_id"].startswith("my-validator::1220")
        assert answer.json | {"party_id": ""} == {"party_id": "", "user_name": "administrator", "featured": False}
