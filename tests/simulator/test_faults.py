"""How nodes misbehave, and how they get over it."""

import asyncio
from time import monotonic
from typing import Any

import aiohttp
import pytest

from exporter.simulator import (
    Cut,
    Delay,
    Dialect,
    Disconnected,
    Down,
    Fault,
    Frozen,
    Garbage,
    Html,
    Kind,
    Late,
    Network,
    NodeSpec,
    Quiet,
    Skew,
    Status,
)
from tests.simulator.conftest import Client, StandingClock

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


# The control endpoint


async def test_control_lists_the_nodes(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("one", Kind.SCAN, Dialect.V0_6)], clock=clock) as network:
        await network["one"].set_fault(Delay(2))
        answer = await client.ask(network.control_url, "/")
        assert answer.json == {
            "nodes": [
                {
                    "name": "one",
                    "kind": "scan",
                    "dialect": "0.6",
                    "url": network["one"].url,
                    "listening": True,
                    "fault": {"kind": "delay", "path": "/", "seconds": 2},
                }
            ]
        }


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"kind": "status", "status": 503, "path": "/livez"}, Status(503, path="/livez")),
        ({"kind": "delay", "seconds": 0.5}, Delay(0.5)),
        ({"kind": "cut", "path": "/v2"}, Cut(path="/v2")),
        ({"kind": "garbage"}, Garbage()),
        ({"kind": "html"}, Html(404)),
        ({"kind": "html", "status": 200}, Html(200)),
        ({"kind": "frozen"}, Frozen()),
        ({"kind": "late", "seconds": 60.5}, Late(60.5)),
        ({"kind": "quiet", "every": 1800}, Quiet(1800)),
        ({"kind": "disconnected"}, Disconnected()),
        ({"kind": "skew", "seconds": -30}, Skew(-30)),
        ({"kind": "down"}, Down()),
    ],
)
async def test_control_sets_and_clears_each_fault(
    network: Network, client: Client, given: dict[str, Any], fault: Fault
) -> None:
    node, path = network["ledger-0.9"], "/nodes/ledger-0.9/fault"
    answer = await client.ask(network.control_url, path, given, method="PUT")
    assert answer.status == 200
    assert node.fault == fault
    assert given.items() <= answer.json["fault"].items()
    assert answer.json["listening"] == (fault != Down())
    answer = await client.ask(network.control_url, path, method="DELETE")
    assert (answer.json["fault"], answer.json["listening"]) == (None, True)
    assert node.is_listening


KINDS = (
    'A fault is a JSON object whose "kind" is one of '
    "status, delay, cut, garbage, html, frozen, late, quiet, disconnected, skew, down."
)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", KINDS),
        (b"\xff", KINDS),
        ({"kind": []}, KINDS),
        (
            {"kind": "delay", "seconds": "2"},
            'A fault of kind "delay" takes "seconds" (a number from 0 to 3600), '
            'optionally "path" (a prefix that begins with "/") and nothing else.',
        ),
        (
            {"kind": "status"},
            'A fault of kind "status" takes "status" (a whole number from 200 to 599), '
            'optionally "path" (a prefix that begins with "/") and nothing else.',
        ),
        ({"kind": "down", "path": "/"}, 'A fault of kind "down" takes nothing else.'),
        (
            {"kind": "late", "seconds": 18_001},
            'A fault of kind "late" takes "seconds" (a number from 0 to 18000) and nothing else.',
        ),
        (
            {"kind": "quiet", "every": 0},
            'A fault of kind "quiet" takes "every" (a number from 0.1 to 86400, the seconds between what it hears of) '
            "and nothing else.",
        ),
        ({"kind": "skew"}, 'A fault of kind "skew" takes "seconds" (a number from -86400 to 86400) and nothing else.'),
        ({"kind": "frozen"}, "Only a ledger or a scan can be frozen, and validator-0.9 is a validator."),
    ],
)
async def test_control_refuses_a_bad_fault_with_a_sentence(
    network: Network, client: Client, body: Any, sentence: str
) -> None:
    answer = await client.ask(network.control_url, "/nodes/validator-0.9/fault", body, method="PUT")
    assert (answer.status, answer.text) == (400, sentence + "\n")
    assert network["validator-0.9"].fault is None


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_control_knows_no_other_nodes(network: Network, client: Client, method: str) -> None:
    answer = await client.ask(network.control_url, "/nodes/other/fault", {"kind": "cut"}, method=method)
    assert answer.status == 404
    assert "There is no node 'other'" in answer.text


async def test_delays_end_with_their_clients(network: Network, client: Client) -> None:
    await network["scan-0.9"].set_fault(Delay(3600))
    tasks = len(asyncio.all_tasks())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.ask(network["scan-0.9"], "/livez"), 0.05)
    await asyncio.sleep(0.05)
    assert len(asyncio.all_tasks()) <= tasks + 1
