"""The entries of the name service."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from tests.simulator.conftest import START, Client, Reply, StandingClock

PATH = "/v0/ans-entries/by-party"
PROXY = f"/v0/scan-proxy{PATH[3:]}"
DAY = 86_400


async def ask(client: Client, network: Network, party: str, node: str = "validator-0.9") -> Reply:
    return await client.ask(network[node], f"{PROXY if node.startswith('validator') else PATH}/{party}")


async def entry(client: Client, network: Network, party: str, node: str = "validator-0.9") -> dict[str, Any]:
    answer = await ask(client, network, party, node)
    assert (answer.status, list(answer.json)) == (200, ["entry"]), answer.text
    found = answer.json["entry"]
    assert isinstance(found, dict)
    return found


def days_left(found: dict[str, Any], clock: StandingClock) -> float:
    return timedelta(seconds=datetime.fromisoformat(found["expires_at"]).timestamp() - clock()) / timedelta(days=1)


@pytest.fixture
def alice(network: Network) -> str:
    return network.world.sender("alice").party


@pytest.fixture
def bob(network: Network) -> str:
    return network.world.sender("bob").party


@pytest.mark.parametrize("dialect", Dialect)
async def test_every_validator_tells_entries_and_every_scan_of_the_network(
    network: Network, client: Client, alice: str, dialect: Dialect
) -> None:
    assert (await ask(client, network, alice, f"validator-{dialect}")).status == 200
    scan = await ask(client, network, alice, f"scan-{dialect}")
    assert scan.status == (200 if dialect.is_network else 404)
    if dialect.is_network:
        assert scan == await ask(client, network, alice, f"validator-{dialect}")


@pytest.mark.parametrize("dialect", Dialect)
async def test_an_entry_names_its_party_and_when_it_expires(
    network: Network, client: Client, clock: StandingClock, alice: str, bob: str, dialect: Dialect
) -> None:
    for party, name, days in ((alice, "alice.unverified.cns", 40), (bob, "bob.unverified.cns", 10)):
        found = await entry(client, network, party, f"validator-{dialect}")
        assert list(found) == ["contract_id", "user", "name", "url", "description", "expires_at"]
        assert (found["user"], found["name"], days_left(found, clock)) == (party, name, days)
        assert found["url"].startswith("https://")


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_entries_of_the_dso_never_expire_and_are_no_contracts(
    network: Network, client: Client, dialect: Dialect
) -> None:
    sv = next(iter(network.world.svs))
    for party, name in ((network.world.dso_party, "dso.cns"), (sv, "sv-1.sv.cns")):
        found = await entry(client, network, party, f"validator-{dialect}")
        absent: dict[str, None] = {"contract_id": None, "expires_at": None} if dialect.is_network else {}
        assert found == absent | {"user": party, "name": name, "url": "", "description": ""}


@pytest.mark.parametrize("node", ["validator-document", "validator-0.9", "scan-0.5"])
async def test_a_party_without_a_name_is_not_found(network: Network, client: Client, node: str) -> None:
    answer = await ask(client, network, "stranger::1220ab", node)
    assert (answer.status, list(answer.json)) == (404, ["error"])


async def test_an_entry_that_has_expired_is_there_no_longer(
    network: Network, client: Client, clock: StandingClock, alice: str, bob: str
) -> None:
    clock.advance(10 * DAY - 1)
    assert (await ask(client, network, bob)).status == 200
    clock.advance(1)
    assert (await ask(client, network, bob)).status == 404
    assert days_left(await entry(client, network, alice), clock) == 30


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_proxy_wants_a_token(clock: StandingClock, client: Client, dialect: Dialect) -> None:
    async with Network([NodeSpec("validator", Kind.VALIDATOR, dialect, token="secret")], clock=clock) as network:
        path = f"{PROXY}/{network.world.dso_party}"
        assert (await client.ask(network["validator"], path)).status == 401
        assert (await client.ask(network["validator"], path, token="secret")).status == 200


async def listed(client: Client, network: Network, query: str, node: str = "validator-0.9") -> Any:
    path = PROXY if node.startswith("validator") else PATH
    return await client.ask(network[node], f"{path.removesuffix('/by-party')}?{query}")


@pytest.mark.parametrize("dialect", Dialect)
async def test_names_are_listed_by_how_they_begin_on_the_network(
    network: Network, client: Client, dialect: Dialect
) -> None:
    for node in (f"scan-{dialect}", f"validator-{dialect}"):
        answer = await listed(client, network, "name_prefix=shop&page_size=1000", node)
        assert answer.status == (200 if dialect.is_network else 404)
        if dialect.is_network:
            first, second = answer.json["entries"]
            assert (first["name"], second["name"]) == ("shop-eu.unverified.cns", "shop.unverified.cns")
            assert {first["user"], second["user"]} == {network.world.shop}
            assert await entry(client, network, network.world.shop, node) == first, "by its party there is the first"


async def test_a_list_has_names_of_all_parties_and_ends_with_its_page(
    network: Network, client: Client, clock: StandingClock
) -> None:
    entries = (await listed(client, network, "page_size=1000")).json["entries"]
    names = [found["name"].partition(".")[0] for found in entries]
    assert names == ["alice", "bob", "shop-eu", "shop", "dso", "sv-1", "sv-2", "sv-3"]
    assert (await listed(client, network, "page_size=2")).json["entries"] == entries[:2]
    assert (await listed(client, network, "page_size=1000&name_prefix=nobody")).json == {"entries": []}
    clock.advance(10 * DAY)
    assert (await listed(client, network, "page_size=1000")).json["entries"] == [entries[0], *entries[2:]]


@pytest.mark.parametrize("query", ["", "page_size=0", "page_size=1001", "page_size=many"])
async def test_a_list_without_a_sensible_size_is_refused(network: Network, client: Client, query: str) -> None:
    answer = await listed(client, network, query)
    assert (answer.status, list(answer.json)) == (400, ["error"])


async def test_a_name_may_be_let_near_its_expiry_and_renewed(
    network: Network, client: Client, clock: StandingClock, alice: str
) -> None:
    before = await entry(client, network, alice)
    network.world.expire_name("alice", 3600)
    near = await entry(client, network, alice)
    assert near["expires_at"] == "2026-11-21T06:46:40.000000Z"
    clock.advance(3600)
    assert (await ask(client, network, alice)).status == 404
    network.world.renew_name("alice")
    renewed = await entry(client, network, alice)
    assert days_left(renewed, clock) == 90
    assert len({found["contract_id"] for found in (before, near, renewed)}) == 3


async def test_control_lets_a_name_near_its_expiry_and_renews_it(network: Network, client: Client, alice: str) -> None:
    path = "/names/alice/expiry"
    answer = await client.ask(network.control_url, path, {"expires_in": 86_400}, method="PUT")
    assert answer.json == await entry(client, network, alice)
    assert datetime.fromisoformat(answer.json["expires_at"]).timestamp() == START + DAY
    answer = await client.ask(network.control_url, f"/names/{alice}/expiry", method="DELETE")
    assert answer.json == await entry(client, network, alice)
    assert datetime.fromisoformat(answer.json["expires_at"]).timestamp() == START + 90 * DAY


@pytest.mark.parametrize("body", [b"{", {}, {"expires_in": 0}, {"expires_in": "5"}, {"expires_in": 5, "name": "bob"}])
async def test_control_refuses_a_bad_expiry_with_a_sentence(network: Network, client: Client, body: Any) -> None:
    answer = await client.ask(network.control_url, "/names/alice/expiry", body, method="PUT")
    sentence = 'An expiry is a JSON object of "expires_in" (seconds, up to a year) and nothing else.\n'
    assert (answer.status, answer.text) == (400, sentence)


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_control_knows_only_the_owners_of_names(network: Network, client: Client, method: str) -> None:
    answer = await client.ask(network.control_url, "/names/carol/expiry", {"expires_in": 5}, method=method)
    sentence = "There is no name 'carol' that expires, only alice, bob, shop-eu, shop.\n"
    assert (answer.status, answer.text) == (404, sentence)


def test_a_name_expires_only_later_than_now(clock: StandingClock) -> None:
    with pytest.raises(ValueError, match="only later than now"):
        Network([], clock=clock).world.expire_name("alice", 0)
