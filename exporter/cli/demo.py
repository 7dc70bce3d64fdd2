"""The demo: a small pretend network, and settings to watch it."""

import base64
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from exporter.cli import demo_prometheus
from exporter.collectors import discover
from exporter.config.loader import Settings, check
from exporter.errors import WrongConfiguration
from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.nodes.ledger import LedgerNode

CONTROL_PORT = 10070
PROMETHEUS_PORT = 10076
RULES = Path(__file__).absolute().parent.parent.parent / "dashboards/rules.yaml"
"""There in a copy of the project, not in a package that was installed."""
USER = "ledger-api-user"
BUDGET = {"rate": 25, "burst": 50}
"""Scans on one host share one budget; that of a single one would make their first minute slow."""


def demo_token(seconds: float = 30 * 86_400) -> str:
    """Return a token as a ledger wants it, good for so many seconds; the nodes it is for are not there."""
    now = int(time.time())
    claims = {"sub": USER, "iat": now, "exp": now + int(seconds)}
    parts = ({"alg": "HS256", "typ": "JWT"}, claims, "simulated")
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)


TOKEN = demo_token()

NODES = [
    NodeSpec("sv-1-scan", Kind.SCAN, dialect=Dialect.V0_7_5, port=10071),
    NodeSpec("sv-2-scan", Kind.SCAN, dialect=Dialect.DOCUMENT, port=10072),
    NodeSpec("my-participant", Kind.LEDGER, dialect=Dialect.V0_7_5, port=10073, token=TOKEN),
    NodeSpec("my-next-participant", Kind.LEDGER, dialect=Dialect.V0_9, port=10074, token=TOKEN),
    NodeSpec("my-validator", Kind.VALIDATOR, dialect=Dialect.V0_7_5, port=10075, token=TOKEN),
]

PACE: dict[str, Any] = {"snapshot_interval": 300, "snapshot_delay": 20, "rules_interval": 1200, "round_interval": 60}
"""In seconds; on a network these are three hours, weeks, and ten minutes."""

WELCOME = """
A simulated network of {nodes} nodes runs on this machine, and the exporter watches it.

  {page:<54} the state of all targets, for a browser
  {metrics:<54} the metrics; most appear after 15 seconds
{prometheus}
Break a node and watch its metrics, then repair it:

  curl -X PUT {control}/nodes/my-participant/fault -d '{{"kind": "down"}}'
  curl -X DELETE {control}/nodes/my-participant/fault

Change the network's rules, and read in the log what changed:

  curl -X POST {control}/rules -d '{{"changes": {{"transferConfig.holdingFee.rate": "0.00002"}}}}'

Press Ctrl-C to stop.
"""

WITH_PROMETHEUS = "  {alerts:<54} Prometheus, with the rules and alerts loaded\n"
NO_PORT = "  The port {port} is taken, so the demo's Prometheus does not run.\n"
NO_START = "  The demo's Prometheus does not start; run prometheus by hand to see why.\n"
WITHOUT_PROMETHEUS = "  If prometheus is installed, the demo runs it too, with the rules loaded.\n"


def demo_collectors(network: Network) -> dict[str, dict[str, Any]]:
    """Return what is set for the collectors of some targets beside the defaults."""
    world = network.world
    alice, bob = world.senders.values()
    often: dict[str, Any] = {"acs": {"interval": "1m"}, "acs_snapshot": {"interval": "1m"}}
    # By the letter of the document a scan tells neither its migration id nor a round's root.
    round_ = world.rewards.newest
    told = {name: {**config, "options": {"migration_id": 4}} for name, config in often.items()}
    told["reward_batches"] = {"options": {"rounds": [{"round": round_, "root_hash": world.rewards.root_hash(round_)}]}}
    return {
        "sv-1-scan": {
            **often,
            "bootstrapping": {"options": {"prefixes": [world.synchronizer_prefix]}},
            "sv_reward_weight": {"options": {"parties": [*world.svs]}},
            "reward_batches": {"options": {"providers": [world.rewards.providers[0]]}},
            "traffic": {"options": {"members": [*world.members]}},
            "update_lookup": {"options": {"hashes": [*world.hashes.transactions, world.hashes.late]}},
        },
        "sv-2-scan": told,
        "my-participant": {
            "ledger_completions": {"options": {"parties": parties_of(network, "my-participant"), "user": USER}},
            **{name: {} for name in ("ledger_contracts", "ledger_parties", "ledger_updates")},
        },
        "my-validator": {
            "ans_entries": {"options": {"parties": [*world.senders, world.shop], "name_prefixes": ["shop"]}},
            "transfer_commands": {
                "options": {"commands": [{"sender": alice.party}, {"sender": bob.party, "nonce": bob.next_nonce}]}
            },
        },
    }


def parties_of(network: Network, name: str) -> list[str]:
    ledger = network[name]
    if not isinstance(ledger, LedgerNode):
        raise TypeError(f"{name} is no ledger")
    return ledger.participant.parties


def demo_settings(network: Network) -> Settings:
    """Return the settings that watch every node of a network."""
    collectors = demo_collectors(network)
    targets = {
        spec.name: {
            "kind": str(spec.kind),
            "url": network[spec.name].url,
            "network": "demonet",
            "role": "observed" if spec.kind is Kind.SCAN else "own",
            **({"auth": {"type": "bearer", "token": spec.token}} if spec.token else {}),
            "collectors": collectors.get(spec.name, {}),
        }
        for spec in NODES
    }
    settings, errors = check({"targets": targets, "budget": BUDGET}, discover())
    if settings is None:
        raise AssertionError(errors)
    return settings


@asynccontextmanager
async def demo(page: str) -> AsyncIterator[Settings]:
    """Run the network, say what there is to see at `page`, and give the settings that watch it."""
    network = Network(NODES, control_port=CONTROL_PORT, **PACE)
    now = time.time()
    network.world.vote({"transferConfig.holdingFee.rate": "0.00002"}, due=now + 300)
    network.world.announce_upgrade(now + 3 * 86_400, now + 2 * 86_400)
    try:
        await network.start()
    except OSError as error:
        raise WrongConfiguration(
            [f"the simulated network needs the ports {CONTROL_PORT} to {NODES[-1].port}: {error.strerror}"]
        ) from error
    try:
        async with scraped(page) as prometheus:
            print(
                WELCOME.format(
                    nodes=len(NODES),
                    page=f"{page}/",
                    metrics=f"{page}/metrics",
                    control=network.control_url,
                    prometheus=prometheus,
                ),
                flush=True,
            )
            yield demo_settings(network)
    finally:
        await network.stop()


@asynccontextmanager
async def scraped(page: str) -> AsyncIterator[str]:
    """Run Prometheus, if there is one and the rules too; say where, or what would bring it."""
    if not RULES.exists():
        yield ""
        return
    if not demo_prometheus.is_here():
        yield WITHOUT_PROMETHEUS
        return
    if is_taken(PROMETHEUS_PORT):
        yield NO_PORT.format(port=PROMETHEUS_PORT)
        return
    listen = f"127.0.0.1:{PROMETHEUS_PORT}"
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with demo_prometheus.prometheus(Path(folder), page, RULES, listen=listen) as process:
            alerts = await demo_prometheus.alerts_page(process, listen)
            yield WITH_PROMETHEUS.format(alerts=alerts) if alerts else NO_START


def is_taken(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
