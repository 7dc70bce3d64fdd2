"""How the tests ask a ledger for its updates and count them; a module beside conftest, for those that need it."""

from collections import Counter
from typing import Any

from exporter.simulator.nodes.ledger import LedgerNode
from tests.simulator.conftest import EVERYBODY, Client

TOPOLOGY: dict[str, Any] = {"includeParticipantAuthorizationEvents": {}}


def everything(shape: str = "ACS_DELTA", filters: dict[str, Any] = EVERYBODY) -> dict[str, Any]:
    return {
        "includeTransactions": {"eventFormat": filters, "transactionShape": f"TRANSACTION_SHAPE_{shape}"},
        "includeReassignments": filters,
        "includeTopologyEvents": TOPOLOGY,
    }


def only(kind: str, of: dict[str, Any], parties: list[str] | None = None) -> dict[str, Any]:
    """Filters of one identifier filter, for some parties or for any."""
    filters = {"cumulative": [{"identifierFilter": {kind: {"value": of}}}]}
    if parties is None:
        return {"filtersForAnyParty": filters}
    return {"filtersByParty": dict.fromkeys(parties, filters)}


async def follow(client: Client, node: LedgerNode, begin: int, end: int, asked: dict[str, Any]) -> list[Any]:
    """All updates of a range, call by call: each with its kind and its value."""
    found: list[Any] = []
    while True:
        body = {"beginExclusive": begin, "endInclusive": end, "updateFormat": asked}
        answer = await client.updates(node, body, limit=200)
        assert answer.status == 200, answer.text
        for element in answer.json:
            [(kind, wrapped)] = element["update"].items()
            assert set(wrapped) == {"value"}
            found.append((kind, wrapped["value"]))
        if len(answer.json) < 200:
            return found
        begin = found[-1][1]["offset"]


def template_of(event: dict[str, Any]) -> str:
    return f"{event['packageName']}:{event['templateId'].partition(':')[2]}"


def events_of(updates: list[Any]) -> list[tuple[str, Any]]:
    """The events of contracts, each with its kind and what it says of its contract."""
    found = []
    for kind, value in updates:
        for event in value["events"] if kind != "TopologyTransaction" else []:
            [(name, told)] = event.items()
            inner = {"JsUnassignedEvent": "value", "JsAssignmentEvent": "createdEvent"}.get(name)
            found.append((name, told[inner] if inner else told))
    return found


def counted(updates: list[Any]) -> tuple[Counter[str], Counter[tuple[str, str]], int]:
    """What the ledger's totals tell, from answers."""
    costs = [value.get("paidTrafficCost") or 0 for _, value in updates]
    events = Counter((kind, template_of(event)) for kind, event in events_of(updates))
    return Counter(kind for kind, _ in updates), events, sum(costs)
