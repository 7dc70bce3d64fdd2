"""Updates by the hash of the prepared transaction."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from tests.simulator.conftest import Client, Reply, StandingClock

FINDING = [dialect for dialect in Dialect if not dialect.is_canton_3_4]
TRANSACTION = [
    "update_id",
    "migration_id",
    "workflow_id",
    "record_time",
    "synchronizer_id",
    "effective_at",
    "root_event_ids",
    "events_by_id",
    "external_transaction_hash",
]


async def ask(client: Client, network: Network, name: str, dialect: str = "0.9", query: str = "") -> Reply:
    return await client.ask(network[f"scan-{dialect}"], f"/v2/updates/hash/{name}{query}")


async def found(client: Client, network: Network, name: str, dialect: str = "0.9", query: str = "") -> dict[str, Any]:
    answer = await ask(client, network, name, dialect, query)
    assert answer.status == 200, answer.text
    assert isinstance(answer.json, dict)
    return answer.json


@pytest.mark.parametrize("dialect", Dialect)
async def test_hashes_are_found_from_release_0_6_on(network: Network, client: Client, dialect: Dialect) -> None:
    known = [*network.world.hashes.transactions, *network.world.hashes.reassignments]
    statuses = {(await ask(client, network, name, dialect)).status for name in known}
    assert statuses == ({404} if dialect.is_canton_3_4 else {200})


@pytest.mark.parametrize("dialect", FINDING)
async def test_a_transaction_is_a_tree_of_events(network: Network, client: Client, dialect: Dialect) -> None:
    for name, events in zip(network.world.hashes.transactions, (3, 13), strict=True):
        update = await found(client, network, name, dialect)
        assert list(update) == TRANSACTION
        assert update["external_transaction_hash"] == name
        assert (update["migration_id"], update["synchronizer_id"]) == (4, network.world.synchronizer)
        tree = update["events_by_id"]
        [root] = update["root_event_ids"]
        assert list(tree) == sorted(tree)
        assert {event["event_id"] for event in tree.values()} == tree.keys() == {root, *tree[root]["child_event_ids"]}
        assert len(tree) == events
        assert tree[root]["event_type"] == "exercised_event"
        assert ("interface_id" in tree[root]) == dialect.is_network
        assert {tree[child]["event_type"] for child in tree[root]["child_event_ids"]} == {"created_event"}


async def test_events_sort_other_than_they_occur(network: Network, client: Client) -> None:
    update = await found(client, network, network.world.hashes.transactions[1])
    children = update["events_by_id"][update["root_event_ids"][0]]["child_event_ids"]
    assert children != sorted(children)


@pytest.mark.parametrize("dialect", FINDING)
async def test_a_reassignment_is_one_of_its_halves(network: Network, client: Client, dialect: Dialect) -> None:
    assigned, unassigned = [await found(client, network, name, dialect) for name in network.world.hashes.reassignments]
    assert list(assigned) == list(unassigned) == ["update_id", "offset", "record_time", "event"]
    both = {"submitter", "source_synchronizer", "target_synchronizer", "migration_id", "unassign_id"}
    assert assigned["event"].keys() == both | {"created_event", "reassignment_counter"}
    assert unassigned["event"].keys() == both | {"contract_id", "reassignment_counter"}
    assert assigned["event"]["target_synchronizer"] == network.world.synchronizer
    assert unassigned["event"]["source_synchronizer"] == network.world.synchronizer
    assert assigned["event"]["created_event"]["event_type"] == "created_event"


async def test_the_offset_of_a_reassignment_is_each_scans_own(network: Network, client: Client) -> None:
    name = network.world.hashes.reassignments[0]
    one, other = [await found(client, network, name, dialect) for dialect in ("0.7.5", "0.9")]
    assert isinstance(one["offset"], str)
    assert one["offset"] != other["offset"]
    assert one | {"offset": ""} == other | {"offset": ""}


async def test_one_is_indexed_only_three_minutes_after_the_start(
    network: Network, client: Client, clock: StandingClock
) -> None:
    name = network.world.hashes.late
    clock.advance(179)
    assert (await ask(client, network, name)).json == {"error": f"Transaction with hash {name} not found"}
    clock.advance(1)
    assert clock() == network.world.hashes.indexed_late_at
    assert (await found(client, network, name))["external_transaction_hash"] == name


@pytest.mark.parametrize("dialect", FINDING)
async def test_values_may_be_verbose_by_a_parameter_with_two_names(
    network: Network, client: Client, dialect: Dialect
) -> None:
    name, names = network.world.hashes.transactions[0], ["contract_value_encoding", "daml_value_encoding"]
    own, other = names if dialect is Dialect.DOCUMENT else reversed(names)
    compact = await found(client, network, name, dialect)
    assert await found(client, network, name, dialect, f"?{own}=compact_json") == compact
    assert await found(client, network, name, dialect, f"?{other}=protobuf_json") == compact
    verbose = await found(client, network, name, dialect, f"?{own}=protobuf_json")
    assert verbose.keys() == compact.keys()
    created = list(verbose["events_by_id"].values())[1]["create_arguments"]
    assert created["fields"][0] == {"label": "dso", "value": {"party": network.world.dso_party}}
    assert (await ask(client, network, name, dialect, f"?{own}=yaml")).status == 400


@pytest.mark.parametrize(
    ("name", "code"), [("00ff", 404), ("ab" * 32, 404), ("abc", 400), ("nothing", 400), ("0x00", 400)]
)
@pytest.mark.parametrize("dialect", FINDING)
async def test_what_is_no_hash_is_refused_and_an_unknown_one_is_not_found(
    network: Network, client: Client, dialect: Dialect, name: str, code: int
) -> None:
    answer = await ask(client, network, name, dialect)
    assert (answer.status, list(answer.json)) == (code, ["error"])


async def test_a_hash_may_be_in_capitals(network: Network, client: Client) -> None:
    name = network.world.hashes.transactions[0]
    assert await found(client, network, name.upper()) == await found(client, network, name)


async def test_other_worlds_have_other_hashes(clock: StandingClock, client: Client, network: Network) -> None:
    async with Network([NodeSpec("scan-0.9", Kind.SCAN)], clock=clock, seed=1) as other:
        assert (await ask(client, other, network.world.hashes.transactions[0])).status == 404
