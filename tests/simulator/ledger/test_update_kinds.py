"""POST /v2/updates: what is in the updates, and that it is the truth."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.ledger.update_format import Shape
from exporter.simulator.nodes.ledger import LedgerNode
from tests.simulator.conftest import EVERYBODY, Client, StandingClock, kinds, ledger, transactions
from tests.simulator.ledger.updates import TOPOLOGY, counted, events_of, everything, follow

BEGIN, END = 181_000, 183_900
SHAPES = [Shape.ACS_DELTA, Shape.LEDGER_EFFECTS]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dialect", Dialect)
async def test_who_follows_the_updates_finds_the_ledgers_own_totals(
    network: Network, client: Client, dialect: Dialect, shape: Shape
) -> None:
    node = ledger(network, dialect)
    end = node.participant.end().offset
    updates = await follow(client, node, BEGIN, end, everything(shape.removeprefix("TRANSACTION_SHAPE_")))
    truth = node.totals(BEGIN, end, shape)
    cost = truth.traffic_cost if dialect.tells_traffic_cost else 0
    assert counted(updates) == (truth.updates, truth.events, cost)
    assert set(truth.updates) == {"Transaction", "Reassignment", "TopologyTransaction"}
    assert len({template for _, template in truth.events}) == 4
    assert truth.traffic_cost > 100_000


async def test_a_party_sees_its_own_part(network: Network, client: Client) -> None:
    node = ledger(network)
    alice = node.participant.parties[0]
    for shape in SHAPES:
        name = shape.removeprefix("TRANSACTION_SHAPE_")
        asked = everything(name, {"filtersByParty": {alice: {}}}) | {
            "includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": [alice]}}
        }
        updates = await follow(client, node, BEGIN, END, asked)
        mine, all_of_it = node.totals(BEGIN, END, shape, [alice]), node.totals(BEGIN, END, shape)
        assert counted(updates) == (mine.updates, mine.events, mine.traffic_cost)
        assert 0 < mine.traffic_cost < all_of_it.traffic_cost
        assert all(mine.updates[kind] < count for kind, count in all_of_it.updates.items())


async def test_in_the_acs_delta_a_contract_is_archived_once_and_after_it_was_created(
    network: Network, client: Client
) -> None:
    node, created, archived = ledger(network), {}, []
    for kind, event in events_of(await follow(client, node, BEGIN, END, transactions(EVERYBODY))):
        if kind == "CreatedEvent":
            assert event["contractId"] not in created
            created[event["contractId"]] = event
        else:
            assert kind == "ArchivedEvent"
            archived.append(event["contractId"])
            born = created.get(event["contractId"])
            assert born is None or (born["offset"] < event["offset"] and born["templateId"] == event["templateId"])
    assert len(archived) == len(set(archived)) > 300
    assert len(set(archived) & set(created)) > 100


async def test_ledger_effects_show_more_than_the_delta(network: Network, client: Client) -> None:
    node = ledger(network)
    events = events_of(await follow(client, node, BEGIN, END, transactions(EVERYBODY, "LEDGER_EFFECTS")))
    assert {kind for kind, _ in events} == {"CreatedEvent", "ExercisedEvent"}
    exercised = [event for kind, event in events if kind == "ExercisedEvent"]
    assert {event["consuming"] for event in exercised} == {True, False}
    assert all(event["consuming"] for event in exercised if event["acsDelta"])
    assert all(event["lastDescendantNodeId"] >= event["nodeId"] for event in exercised)
    # A contract made and used up in the same transaction is no part of the delta.
    created = {event["contractId"]: event for kind, event in events if kind == "CreatedEvent"}
    passing = [one for one in exercised if created.get(one["contractId"], {}).get("offset") == one["offset"]]
    assert passing
    assert not any(one["acsDelta"] or created[one["contractId"]]["acsDelta"] for one in passing)


@pytest.mark.parametrize("dialect", Dialect)
async def test_nodes_of_a_transaction_are_numbered_in_order(network: Network, client: Client, dialect: Dialect) -> None:
    updates = await follow(client, ledger(network, dialect), BEGIN, END, transactions(EVERYBODY, "LEDGER_EFFECTS"))
    for _, transaction in updates:
        numbers = [told["nodeId"] for event in transaction["events"] for told in event.values()]
        assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_reassignment_has_one_of_two_unlike_events(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    updates = await follow(client, node, BEGIN, END, {"includeReassignments": EVERYBODY})
    assert {kind for kind, _ in updates} == {"Reassignment"}
    here, seen = network.world.synchronizer, set()
    for _, value in updates:
        [(name, told)] = value["events"][0].items()
        seen.add(name)
        inner: dict[str, Any] = told["value"] if name == "JsUnassignedEvent" else told
        assert value["synchronizerId"] == here == inner["source" if name == "JsUnassignedEvent" else "target"]
        assert inner["source"] != inner["target"]
        assert ("contractId" in inner) == (name == "JsUnassignedEvent")
        assert ("createdEvent" in inner) == (name == "JsAssignmentEvent")
    assert seen == {"JsAssignmentEvent", "JsUnassignedEvent"}


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_topology_transaction_tells_what_a_participant_may_do_for_a_party(
    network: Network, client: Client, dialect: Dialect
) -> None:
    node, seen = ledger(network, dialect), set()
    for kind, value in await follow(client, node, 175_000, END, {"includeTopologyEvents": TOPOLOGY}):
        assert kind == "TopologyTransaction"
        [(name, told)] = value["events"][0]["event"].items()
        seen.add(name.removeprefix("ParticipantAuthorization"))
        assert told["value"]["participantId"] == node.participant.id
        assert ("participantPermission" in told["value"]) == (name != "ParticipantAuthorizationRevoked")
    assert seen == {"Added", "Changed", "Revoked"} | ({"Onboarding"} if not dialect.is_canton_3_4 else set())


async def test_each_kind_is_shown_only_if_it_was_asked_for(network: Network, client: Client) -> None:
    node = ledger(network)
    assert await follow(client, node, BEGIN, END, {"includeTopologyEvents": {}}) == []
    asked = {"includeReassignments": EVERYBODY, "includeTopologyEvents": TOPOLOGY}
    updates = await follow(client, node, BEGIN, END, asked)
    assert {kind for kind, _ in updates} == {"Reassignment", "TopologyTransaction"}
    assert all(earlier["offset"] < later["offset"] for (_, earlier), (_, later) in pairwise(updates))


async def test_what_a_transaction_cost_is_told_to_who_paid(network: Network, client: Client) -> None:
    node = ledger(network)
    alice = node.participant.parties[0]
    shown = await follow(client, node, BEGIN, END, transactions({"filtersByParty": {alice: {}}}))
    paid = [value for _, value in shown if value["paidTrafficCost"] is not None]
    assert 0 < len(paid) < len(shown)
    assert all(value["commandId"] for value in paid)
    assert all(value["paidTrafficCost"] >= 800 for value in paid)


@pytest.mark.parametrize(("dialect", "cost"), [("document", "absent"), ("0.7.5", None)])
async def test_a_cost_that_nobody_here_paid_is_a_null_on_the_network_only(
    network: Network, client: Client, dialect: str, cost: str | None
) -> None:
    updates = await follow(client, ledger(network, dialect), BEGIN, END, transactions(EVERYBODY))
    others = [value for _, value in updates if not value["commandId"]]
    assert others
    assert {value.get("paidTrafficCost", "absent") for value in others} == {cost}


async def test_the_legacy_filter_shows_all_kinds(clock: StandingClock, client: Client) -> None:
    spec = NodeSpec("ledger", Kind.LEDGER, Dialect.V0_7_5, list_limit=10_000)
    async with Network([spec], clock=clock) as network:
        node = network["ledger"]
        assert isinstance(node, LedgerNode)
        alice, bob, _ = node.participant.parties
        body: dict[str, Any] = {"beginExclusive": 175_000, "endInclusive": END, "filter": EVERYBODY}
        assert Counter(kinds(await client.updates(node, body))) == node.totals(175_000, END).updates
        body["filter"] = {"filtersByParty": {alice: {}}}
        answer = await client.updates(node, body)
        assert Counter(kinds(answer)) == node.totals(175_000, END, parties=[alice]).updates
        topology = [one for one in answer.json if "TopologyTransaction" in one["update"]]
        assert topology
        assert bob not in str(topology)


async def test_the_list_limit_of_a_node_can_be_set(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("ledger", Kind.LEDGER, list_limit=5)], clock=clock) as network:
        body = {"beginExclusive": BEGIN, "endInclusive": END, "updateFormat": transactions(EVERYBODY)}
        refused = await client.updates(network["ledger"], body)
        granted = await client.updates(network["ledger"], body, limit=5)
    assert refused.status == 413
    assert refused.json["cause"] == "The number of matching elements (6) is greater than the node limit (5)."
    assert len(granted.json) == 5
