"""A node that is upgraded to another release while the others run."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Down, Kind, Late, Network
from tests.simulator.conftest import EVERYBODY, Client, kinds, ledger, transactions

COMPLETIONS = "/v2/commands/completions?stream_idle_timeout_ms=0"


@pytest.mark.parametrize("kind", Kind)
async def test_a_node_comes_back_on_its_port_as_the_other_release(network: Network, client: Client, kind: Kind) -> None:
    node = network[f"{kind}-0.7.5"]
    url = node.url
    await node.set_fault(Down())
    await node.upgrade(Dialect.V0_9)
    assert (node.url, node.dialect, node.fault) == (url, Dialect.V0_9, None)
    path = "/v2/version" if kind is Kind.LEDGER else "/version"
    version = (await client.ask(node, path)).json["version"]
    assert version == ("3.6.1" if kind is Kind.LEDGER else "0.9.0")


async def test_what_a_scan_or_a_validator_had_until_then_is_gone(network: Network, client: Client) -> None:
    path = f"/v0/synchronizer-bootstrapping-transactions/{network.world.synchronizer_prefix}"
    proxied = f"/v0/scan-proxy/transfer-command-counter/{next(iter(network.world.senders))}"
    for name, old, new in (
        ("scan-0.7.5", path, "/v0/events/latest-record-time"),
        ("validator-0.7.5", proxied, "/v0/scan-proxy/amulet-rules"),
    ):
        assert (await client.ask(network[name], old)).status == 200
        await network[name].upgrade(Dialect.V0_9)
        assert (await client.ask(network[name], old)).status == 404
        assert (await client.ask(network[name], new)).status == 200


async def test_a_ledger_keeps_its_ledger_and_loses_its_checkpoint_and_what_was_deprecated(
    network: Network, client: Client
) -> None:
    node = ledger(network)
    end = node.participant.end().offset
    body = {"beginExclusive": end - 10, "parties": node.participant.parties, "userId": "trader"}
    assert (await client.ask(node, COMPLETIONS, body)).status == 200
    await node.upgrade(Dialect.V0_9)
    assert (await client.ask(node, COMPLETIONS, body)).json["code"] == "DEPRECATED_API_DISABLED"
    told = (await client.ask(node, "/v2/state/ledger-end")).json
    assert (told["offset"], len(told["synchronizerTimes"])) == (end, 1)
    updates = {"beginExclusive": end - 200, "updateFormat": transactions(EVERYBODY)}
    assert set(kinds(await client.updates(node, updates))) == {"Transaction"}


async def test_control_upgrades_a_node_which_misbehaves_as_before(network: Network, client: Client) -> None:
    node, path = network["scan-0.5"], "/nodes/scan-0.5/dialect"
    await node.set_fault(Late(60))
    shown = (await client.ask(network.control_url, path, {"dialect": "0.9"}, method="PUT")).json
    assert (shown["dialect"], shown["listening"], shown["fault"]) == ("0.9", True, {"kind": "late", "seconds": 60})
    assert (await client.ask(node, "/version")).json["version"] == "0.9.0"


@pytest.mark.parametrize("body", [b"{", [], {}, {"dialect": "0.8"}, {"dialect": []}, {"dialect": "0.9", "in": 5}])
async def test_control_knows_no_other_dialects(network: Network, client: Client, body: Any) -> None:
    answer = await client.ask(network.control_url, "/nodes/scan-0.5/dialect", body, method="PUT")
    dialects = "document, 0.5.10, 0.5, 0.6, 0.7.5, 0.9"
    sentence = f'An upgrade takes a JSON object of "dialect" (one of {dialects}) and nothing else.\n'
    assert (answer.status, answer.text) == (400, sentence)
    assert network["scan-0.5"].dialect is Dialect.V0_5
    other = await client.ask(network.control_url, "/nodes/other/dialect", {"dialect": "0.9"}, method="PUT")
    assert other.status == 404
