"""What collectors count of a simulated ledger, held against what the simulation knows of itself."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from exporter.collectors.ledger_completions import ledger_completions
from exporter.collectors.ledger_contracts import ledger_contracts
from exporter.collectors.ledger_updates import ledger_updates
from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.ledger.update_format import Shape
from exporter.simulator.nodes.ledger import LedgerNode
from tests.conftest import Connect, FakeClock, Lines
from tests.nodes import TestNode

KINDS = {
    "Transaction": "transaction",
    "Reassignment": "reassignment",
    "TopologyTransaction": "topology_transaction",
    "CreatedEvent": "created",
    "ArchivedEvent": "archived",
    "ExercisedEvent": "exercised",
    "JsAssignmentEvent": "assigned",
    "JsUnassignedEvent": "unassigned",
}
DIALECTS = [dialect for dialect in Dialect if not dialect.is_canton_3_4]


@pytest.fixture
async def network(clock: FakeClock) -> AsyncIterator[Network]:
    specs = [NodeSpec(dialect, Kind.LEDGER, dialect, list_limit=50) for dialect in DIALECTS]
    async with Network(specs, clock=clock.now) as network:
        yield network


@pytest.fixture
def look_at(node: TestNode, connect: Connect, clock: FakeClock) -> Callable[[LedgerNode], Lines]:
    """Return what runs a collector against a simulated ledger."""

    def look_at(ledger: LedgerNode) -> Lines:
        node.url = ledger.url
        return Lines(node, connect, clock)

    return look_at


def ledger_of(network: Network, dialect: Dialect) -> LedgerNode:
    ledger = network[dialect]
    assert isinstance(ledger, LedgerNode)
    return ledger


def values(lines: list[str], name: str) -> dict[str, int]:
    chosen = [line for line in lines if line.startswith(f"canton_ledger_{name}")]
    return {line.partition("{")[2].partition("}")[0]: int(float(line.split()[-1])) for line in chosen}


@pytest.mark.parametrize("shape", [Shape.ACS_DELTA, Shape.LEDGER_EFFECTS])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_every_update_and_event_is_counted_once(
    network: Network, look_at: Callable[..., Lines], clock: FakeClock, dialect: Dialect, shape: Shape
) -> None:
    ledger = ledger_of(network, dialect)
    lines = look_at(ledger)
    began = ledger.participant.end().offset
    for seconds in (0, 1, 30, 600, 7):
        clock.advance(seconds)
        shown = await lines(ledger_updates, within=60, shape=shape.value.lower().removeprefix("transaction_shape_"))
        truth = ledger.totals(began, ledger.participant.end().offset, shape)
        found = {label: count for label, count in values(shown, "updates_total").items() if count}
        assert found == {f'kind="{KINDS[kind]}"': count for kind, count in truth.updates.items()}
        events = {f'kind="{KINDS[kind]}",template="{name}"': count for (kind, name), count in truth.events.items()}
        assert values(shown, "events_total") == events
        assert values(shown, "traffic_cost_bytes_total") == {"": truth.traffic_cost}
        topology = values(shown, "topology_events_total")
        assert topology.pop('kind="other"') == 0
        assert sum(topology.values()) == truth.updates["TopologyTransaction"]


async def test_a_ledger_that_was_pruned_or_rebuilt_is_followed_on(
    network: Network, look_at: Callable[..., Lines], clock: FakeClock
) -> None:
    ledger = ledger_of(network, Dialect.V0_7_5)
    lines = look_at(ledger)
    await lines(ledger_updates)
    clock.advance(60)
    pruned = ledger.participant.end().offset - 10
    ledger.prune(pruned)
    shown = await lines(ledger_updates)
    truth = ledger.totals(pruned, ledger.participant.end().offset).updates
    assert sum(values(shown, "updates_total").values()) == truth.total()
    assert values(shown, "updates_gaps_total") == {'reason="pruned"': 1, 'reason="reset"': 0}
    ledger.reset()
    for _ in range(2):
        clock.advance(15)
        shown = await lines(ledger_updates)
    assert values(shown, "updates_gaps_total") == {'reason="pruned"': 1, 'reason="reset"': 1}


async def test_completions_are_counted_once(network: Network, look_at: Callable[..., Lines], clock: FakeClock) -> None:
    ledger = ledger_of(network, Dialect.V0_7_5)
    lines = look_at(ledger)
    options: dict[str, Any] = {"parties": [*ledger.participant.parties], "user": "app-backend"}
    began = ledger.participant.end().offset
    for seconds in (0, 120, 600):
        clock.advance(seconds)
        shown = await lines(ledger_completions, within=60, **options)
    truth = ledger.completed(began, ledger.participant.end().offset, "app-backend")
    found = values(shown, "completions_total")
    assert {label: count for label, count in found.items() if count} == {
        f'code="{code}",user="app-backend"': count for code, count in truth.items()
    }
    rejected = values(shown, "completions_rejected_total")
    assert rejected.pop('error="other",user="app-backend"') == 0, "the simulator gives an error code with each"
    assert sum(rejected.values()) == truth.total() - truth[0]
    assert values(shown, "completions_traffic_cost_bytes_total")['user="app-backend"'] > 0


@pytest.mark.parametrize("dialect", [Dialect.DOCUMENT, Dialect.V0_7_5, Dialect.V0_9])
async def test_contracts_are_counted_whatever_the_list_limit(
    network: Network, look_at: Callable[..., Lines], dialect: Dialect
) -> None:
    ledger = ledger_of(network, dialect)
    shown = await look_at(ledger)(ledger_contracts, page_size=70)
    truth = ledger.active(ledger.participant.end().offset)
    assert sum(values(shown, "contracts").values()) == sum(count for (_, template), count in truth.items() if template)
