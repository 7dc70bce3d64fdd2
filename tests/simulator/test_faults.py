"""How nodes misbehave, and how they get over it."""

import asyncio
from time import monotonic
from typing import Any

import aiohttp
import pytest

from exporter.simulator import (
    Cut,
    Delay,
    Down,
    Garbage,
    Html,
    Network,
    Status,
)
from tests.simulator.conftest import Client

END = "/v2/state/ledger-end"


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        ("scan", "/livez", (503, "application/octet-stream", "")),
        ("scan", "/v0/feature-support", (500, "application/json", "An unexpected error occurred.")),
        ("scan", "/v0/feature-support", (404, "application/json", "/api/scan/v0/feature-support")),
        ("scan", "/v0/feature-support", (429, "text/plain", "Too Many Requests: ")),
        ("validator", "/readyz", (503, "application/octet-stream", "")),
        ("validator", "/version", (502, "application/json", "error")),
        ("ledger", "/livez", (503, "application/octet-stream", "")),
        ("ledger", "/readyz", (503, "text/plain", "[-] ledger failed (NOT_SERVING)\nreadyz check failed")),
        ("ledger", END, (503, "application/json", "SERVER_IS_SHUTTING_DOWN")),
        ("ledger", END, (403, "application/json", "A security-sensitive error has been received")),
        ("ledger", END, (404, "text/plain", "could not be found")),
        ("ledger", END, (429, "text/plain", "Too Many Requests: ")),
        ("ledger", END, (501, "application/json", "UNSUPPORTED_OPERATION")),
        ("ledger", END, (400, "application/json", "INVALID_ARGUMENT")),
        ("ledger", END, (204, "application/octet-stream", "")),
    ],
)
async def test_a_status_comes_with_the_body_of_its_node(
    network: Network, client: Client, kind: str, path: str, expected: tuple[int, str, str]
) -> None:
    node = network[f"{kind}-0.7.5"]
    status, media, word = expected
    await node.set_fault(Status(status))
    answer = await client.ask(node, path)
    assert (answer.status, answer.media) == (status, media)
    assert word in answer.text
    assert bool(word) == bool(answer.text)


async def test_a_fault_may_be_of_some_paths_only_and_ends_when_cleared(network: Network, client: Client) -> None:
    node = network["ledger-0.9"]
    await node.set_fault(Status(500, path="/v2/state"))
    assert node.fault == Status(500, path="/v2/state")
    assert (await client.ask(node, END)).status == 500
    assert (await client.ask(node, "/livez")).status == 200
    await node.clear_fault()
    assert node.fault is None
    assert (await client.ask(node, END)).status == 200


async def test_a_delayed_answer_is_the_right_one_but_late(network: Network, client: Client) -> None:
    node, began = network["scan-0.9"], monotonic()
    await node.set_fault(Delay(0.2))
    assert (await client.ask(node, "/v0/feature-support")).json == {"dummy": None}
    assert monotonic() - began >= 0.2


async def test_a_cut_connection_closes_in_the_middle_of_the_body(network: Network, client: Client) -> None:
    await network["ledger-0.9"].set_fault(Cut())
    with pytest.raises(aiohttp.ClientPayloadError):
        await client.ask(network["ledger-0.9"], END)


async def test_garbage_calls_itself_json_and_is_not(network: Network, client: Client) -> None:
    await network["ledger-0.9"].set_fault(Garbage())
    answer = await client.ask(network["ledger-0.9"], END)
    assert (answer.status, answer.media, answer.json) == (200, "application/json", None)


@pytest.mark.parametrize("status", [200, 404])
async def test_html_is_a_load_balancers_page(network: Network, client: Client, status: int) -> None:
    await network["scan-0.9"].set_fault(Html(status))
    answer = await client.ask(network["scan-0.9"], "/v0/feature-support")
    assert (answer.status, answer.media) == (status, "text/html")
    assert answer.text.startswith("<!DOCTYPE html>")


async def test_a_node_that_is_down_refuses_connections_and_comes_back_on_its_port(
    network: Network, client: Client
) -> None:
    node = network["scan-0.9"]
    url = node.url
    await node.set_fault(Down())
    with pytest.raises(aiohttp.ClientConnectorError):
        await client.ask(node, "/livez")
    assert not node.is_listening
    assert (await client.ask(network["scan-0.6"], "/livez")).status == 200
    await node.set_fault(Status(418))
    assert node.url == url
    assert (await client.ask(node, "/livez")).status == 418


@pytest.mark.parametrize(
    "make",
    [
        lambda: Status(199),
        lambda: Status(True),
        lambda: Status(503, path="livez"),
        lambda: Delay(float("inf")),
        lambda: Delay(-1),
        lambda: Html(0),
        lambda: Cut(path=""),
    ],
)
def test_a_fault_that_means_nothing_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="A fault of kind"):
        make()


async def test_delays_end_with_their_clients(network: Network, client: Client) -> None:
    await network["scan-0.9"].set_fault(Delay(3600))
    tasks = len(asyncio.all_tasks())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.ask(network["scan-0.9"], "/livez"), 0.05)
    await asyncio.sleep(0.05)
    assert len(asyncio.all_tasks()) <= tasks + 1
