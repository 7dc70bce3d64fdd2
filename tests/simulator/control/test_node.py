"""How the control endpoint lists nodes, and sets and clears their faults."""

from typing import Any

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
