"""A ledger that is pruned by hand, and a participant that is rebuilt."""

from typing import Any

import pytest

from exporter.simulator import Frozen, Network
from tests.simulator.conftest import EVERYBODY, Client, StandingClock, kinds, ledger, offsets, transactions
from tests.simulator.ledger.updates import counted, everything, follow


async def test_what_was_pruned_by_hand_is_refused(network: Network, client: Client) -> None:
    node = ledger(network)
    path = f"/nodes/{node.name}/prune"
    answer = await client.ask(network.control_url, path, {"offset": 183_900})
    assert answer.json == {"pruned": 183_900, "end": node.participant.end().offset}
    told = (await client.ask(node, "/v2/state/latest-pruned-offsets")).json
    assert told["participantPrunedUpToInclusive"] == 183_900
    refused = await client.updates(node, {"beginExclusive": 183_899, "updateFormat": {}})
    assert (refused.status, refused.json["code"]) == (400, "PARTICIPANT_PRUNED_DATA_ACCESSED")
    assert refused.json["context"] == {"earliest_offset": "183900"}
    assert (await client.updates(node, {"beginExclusive": 183_900, "updateFormat": {}})).status == 200
    again = await client.ask(network.control_url, path, {"offset": 100})
    assert again.json["pruned"] == 183_900


@pytest.mark.parametrize("body", [{"offset": 999_999}, {"offset": 0}, {"offset": "1"}, {}, [], {"offset": 1, "x": 2}])
async def test_a_ledger_is_not_pruned_beyond_its_end(network: Network, client: Client, body: Any) -> None:
    answer = await client.ask(network.control_url, "/nodes/ledger-0.9/prune", body)
    assert (answer.status, answer.media) == (400, "text/plain")
    assert ledger(network, "0.9").participant.pruned() == 90_000


async def test_a_rebuilt_participant_begins_anew(network: Network, client: Client, clock: StandingClock) -> None:
    node = ledger(network, "0.9")
    clock.advance(100)
    who = (await client.ask(node, "/v2/parties/participant-id")).json
    before = node.participant.end().offset
    node.prune(before - 10)
    answer = await client.ask(network.control_url, f"/nodes/{node.name}/reset", method="POST")
    assert answer.json == {"pruned": 0, "end": 0}
    assert (await client.ask(node, "/v2/state/ledger-end")).json == {"offset": 0, "synchronizerTimes": []}
    stale = await client.updates(node, {"beginExclusive": before, "updateFormat": {}})
    assert (stale.status, stale.json["code"]) == (400, "OFFSET_AFTER_LEDGER_END")
    assert (await client.updates(node, {"beginExclusive": 0, "updateFormat": {}}, idle=700)).json == []
    clock.advance(600)
    end = node.participant.end().offset
    assert 2900 < end <= 3000
    updates = await follow(client, node, 0, end, everything())
    truth = node.totals(0, end)
    assert counted(updates) == (truth.updates, truth.events, truth.traffic_cost)
    assert {kind for kind, _ in truth.events} >= {"CreatedEvent", "ArchivedEvent"}
    assert (await client.ask(node, "/v2/parties/participant-id")).json == who


async def test_a_rebuilt_participant_has_its_first_checkpoint_after_a_tick(
    network: Network, client: Client, clock: StandingClock
) -> None:
    node = ledger(network)
    node.reset()
    clock.advance(14)
    body = {"beginExclusive": 0, "updateFormat": transactions(EVERYBODY)}
    assert set(kinds(await client.updates(node, body))) == {"Transaction"}
    clock.advance(1)
    answer = await client.updates(node, body)
    assert kinds(answer)[-1] == "OffsetCheckpoint"
    assert offsets(answer)[-1] == node.participant.end().offset


async def test_rebuilt_twice_it_has_other_contracts(network: Network, clock: StandingClock) -> None:
    node, totals = ledger(network), []
    for _ in range(2):
        node.reset()
        clock.advance(600)
        totals.append(node.totals(0, 2900))
    assert totals[0] != totals[1]


async def test_a_frozen_participant_rebuilt_stays_empty(network: Network, clock: StandingClock) -> None:
    node = ledger(network)
    await node.set_fault(Frozen())
    clock.advance(60)
    node.reset()
    clock.advance(60)
    assert node.participant.end().offset == 0
    await node.clear_fault()
    assert node.participant.end().offset > 250


async def test_long_after_it_was_rebuilt_a_participant_prunes_again(network: Network, clock: StandingClock) -> None:
    node = ledger(network)
    node.reset()
    clock.advance(3600)
    assert node.participant.pruned() == 0
    clock.advance(3600)
    assert 15_000 < node.participant.pruned() < 17_000
