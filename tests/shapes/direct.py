"""What to ask a simulated node for, so that each of its operations gives an answer, where no collector does."""

import re
from typing import Any

from exporter.node.messages import Request, make_request
from exporter.simulator.facts import brief_moment
from exporter.simulator.node import Node
from exporter.simulator.nodes.ledger import LedgerNode

EVERYTHING: dict[str, Any] = {"filtersForAnyParty": {}}
UPDATES = {
    "includeTransactions": {"eventFormat": EVERYTHING, "transactionShape": "TRANSACTION_SHAPE_ACS_DELTA"},
    "includeReassignments": EVERYTHING,
    "includeTopologyEvents": {"includeParticipantAuthorizationEvents": {}},
}
ROUNDS = ("/v0/internal/reward-accounting-process/rounds", "/v0/reward-accounting-process/rounds")

COMPLETIONS = "POST /v2/commands/completions"
QUERIES = {name: {"stream_idle_timeout_ms": "0"} for name in ("POST /v2/commands/command-completions", COMPLETIONS)}
ALWAYS = {COMPLETIONS}
"""What is asked although a collector was answered: among its few completions there may be no rejection, or one."""


WEBSOCKETS = {"GET /v2/state/active-contracts": "WS /v2/state/active-contracts"}


def operations(node: Node) -> set[str]:
    """Return the method and path of each operation that a node has, without names in the path."""
    return {WEBSOCKETS.get(name, name) for name in (f"{each.method} {bare(each.path)}" for each in node.operations())}


def bare(path: str) -> str:
    """Return a path without its names, which in the simulation may say what they are made of."""
    return re.sub(r"\{(?:[^{}]|\{[^{}]*\})*\}", "{}", path)


def direct(node: Node, operation: str) -> Request:
    """Return what an operation is asked for."""
    method, _, path = operation.partition(" ")
    asked = make_request(method, paths(node).get(operation, path), body=bodies(node).get(operation))
    return Request(method, path, asked.path, QUERIES.get(operation, {}), asked.body, is_page=True)


def paths(node: Node) -> dict[str, str]:
    """Return those that have something to fill in."""
    filled = {
        f"GET {path}/{{}}/activity-totals": f"{path}/{node.world.rewards.newest}/activity-totals" for path in ROUNDS
    }
    if isinstance(node, LedgerNode):
        filled["GET /v2/packages/{}/status"] = f"/v2/packages/{node.vetting.uploaded[0]}/status"
    return filled


def bodies(node: Node) -> dict[str, Any]:
    world, end = node.world, node.participant.end().offset if isinstance(node, LedgerNode) else 0
    snapshot = world.snapshots.newest(world.migration.id, world.now())
    assert snapshot is not None
    taken = {"migration_id": world.migration.id, "record_time": brief_moment(snapshot.time), "page_size": 100}
    active = {"activeAtOffset": end, "eventFormat": EVERYTHING}
    parties = node.participant.parties if isinstance(node, LedgerNode) else []
    return {
        **{f"POST /v{version}/state/acs": taken for version in (0, 1, 2)},
        "GET /v2/package-vetting": {},
        "GET /v2/state/active-contracts-page": {"eventFormat": EVERYTHING},
        "POST /v2/commands/command-completions": {"beginExclusive": end - 10},
        COMPLETIONS: {"userId": "app-backend", "parties": parties, "beginExclusive": end - 1000},
        "POST /v2/package-vetting": {},
        "POST /v2/state/active-contracts": active,
        "WS /v2/state/active-contracts": active,
        "POST /v2/updates/get-updates-page": {"updateFormat": UPDATES},
    }
