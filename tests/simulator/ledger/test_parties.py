"""Who a ledger is, and the parties it knows."""

from itertools import pairwise

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from tests.simulator.conftest import Client, StandingClock, ledger


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_participant_tells_its_id(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    answer = await client.ask(node, "/v2/parties/participant-id")
    assert answer.json == {"participantId": node.participant.id}
    assert node.participant.id.startswith(f"{node.name}::1220")


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_ledger_tells_its_parties_local_and_not(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    answer = (await client.ask(node, "/v2/parties")).json
    details = answer["partyDetails"]
    assert (len(details), answer["nextPageToken"]) == (30, "")
    assert all(earlier["party"] < later["party"] for earlier, later in pairwise(details))
    local = [one for one in details if one["isLocal"]]
    assert {*node.participant.parties} < {one["party"] for one in local}
    assert len(local) == 21
    assert local[0]["localMetadata"] == {"resourceVersion": "0", "annotations": {}}
    assert details[0]["party"] == network.world.dso_party
    assert ("localMetadata" in details[0]) == dialect.is_network


async def test_parties_come_in_pages_however_many(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("ledger", Kind.LEDGER, parties=10_001)], clock=clock) as network:
        node = network["ledger"]
        first = (await client.ask(node, "/v2/parties?pageSize=10000")).json
        last = (await client.ask(node, f"/v2/parties?pageToken={first['nextPageToken']}")).json
        default = (await client.ask(node, "/v2/parties")).json
    assert [len(page["partyDetails"]) for page in (first, last)] == [10_000, 1]
    assert last["nextPageToken"] == ""
    assert default == first


async def test_the_last_page_may_be_exactly_full(network: Network, client: Client) -> None:
    node = ledger(network)
    first = (await client.ask(node, "/v2/parties?pageSize=15")).json
    last = (await client.ask(node, f"/v2/parties?pageSize=15&pageToken={first['nextPageToken']}")).json
    assert [len(page["partyDetails"]) for page in (first, last)] == [15, 15]
    assert last["nextPageToken"] == ""


async def test_parties_are_found_by_what_they_begin_with(network: Network, client: Client) -> None:
    node = ledger(network)
    for prefix, found in (("alice", 1), ("party-000001", 10), ("nobody", 0)):
        answer = await client.ask(node, f"/v2/parties?filter-party={prefix}")
        assert len(answer.json["partyDetails"]) == found


@pytest.mark.parametrize("dialect", Dialect)
async def test_only_an_administrator_is_told_the_parties(
    clock: StandingClock, client: Client, dialect: Dialect
) -> None:
    spec = NodeSpec("ledger", Kind.LEDGER, dialect, token="secret", is_admin=False)
    async with Network([spec], clock=clock) as network:
        refused = await client.ask(network["ledger"], "/v2/parties", token="secret")
        missing = await client.ask(network["ledger"], "/v2/parties")
        granted = await client.ask(network["ledger"], "/v2/parties/participant-id", token="secret")
    assert (refused.status, missing.status, granted.status) == (403, 401, 200)
    assert (refused.json["code"], refused.json["grpcCodeValue"], refused.json["context"]) == ("NA", 7, {})
    assert refused.json["cause"] == "A security-sensitive error has been received"


@pytest.mark.parametrize(
    ("query", "media"),
    [("pageSize=10001", "application/json"), ("pageToken=x", "application/json"), ("pageSize=x", "text/plain")],
)
async def test_a_bad_request_for_parties_is_a_400(network: Network, client: Client, query: str, media: str) -> None:
    answer = await client.ask(ledger(network), f"/v2/parties?{query}")
    assert (answer.status, answer.media) == (400, media)
