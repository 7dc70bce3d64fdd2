"""The stage: the networks of all incidents, one exporter that watches them, one Prometheus that scrapes it."""

import asyncio
import json
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp

from dashboards.source.rules import rules
from exporter.cli import demo_prometheus
from exporter.cli.demo import demo_token
from exporter.collector import Collector
from exporter.collectors import discover
from exporter.config.durations import write_duration
from exporter.simulator import Kind, Network
from incidents.incident import Incident, Scene

LEAST_TIMEOUT = 2.0
"""Seconds: HTTP, and the half second a ledger takes for a checkpoint, are not compressed."""


class NoPrometheus(Exception):
    """There is no Prometheus on this machine."""


@dataclass(frozen=True)
class Prometheus:
    url: str
    session: aiohttp.ClientSession

    async def ask(self, path: str, **parameters: str) -> Any:
        async with self.session.get(f"{self.url}/api/v1/{path}", params=parameters) as answer:
            body = await answer.json()
        if body["status"] != "success":
            raise ValueError(f"{parameters.get('query')}: {body['error']}")
        return body["data"]

    async def query(self, expression: str) -> list[dict[str, Any]]:
        """Return what an expression says now: series with `metric` and `value`."""
        data = await self.ask("query", query=expression)
        series: list[dict[str, Any]] = data["result"]
        return series

    async def history(self, expression: str, start: float, end: float) -> list[dict[str, Any]]:
        """Return what an expression said each second: series with `metric` and `values`."""
        data = await self.ask("query_range", query=expression, start=str(start), end=str(end), step="1s")
        series: list[dict[str, Any]] = data["result"]
        return series


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def scene_of(incident: Incident, scale: float) -> Scene:
    """Build the network of an incident, in which everything comes `scale` times as often."""
    tokens = {node: demo_token(lasts) for node, lasts in incident.tokens.items()}
    network = Network(
        [replace(spec, token=tokens.get(spec.name)) for spec in incident.nodes],
        checkpoint_interval=15 / scale,
        contracts=300,
        snapshot_interval=round(3 * 3600 / scale),
        snapshot_delay=60 / scale,
        rules_interval=10 * 86_400,
        transfer_interval=60 / scale,
        round_interval=600 / scale,
        failing_transfers=False,
    )
    return Scene(incident, network, scale, tokens)


def targets(scene: Scene) -> Iterator[tuple[str, dict[str, Any]]]:
    options, tokens = scene.incident.options(scene.world), scene.tokens
    for spec in scene.incident.nodes:
        node = scene.network[spec.name]
        usual = "observed" if spec.kind is Kind.SCAN else "own"
        collectors = {
            name: schedule(collector, scene.scale) | ({"options": options[name]} if name in options else {})
            for name, collector in discover().items()
            if str(spec.kind) in {str(kind) for kind in collector.kinds}
            and (name in options or (collector.on_by_default and not has_required_option(collector)))
        }
        yield (
            f"{spec.name}-{scene.incident.name}",
            {
                "kind": str(spec.kind),
                "url": node.url,
                "network": scene.incident.name,
                "role": scene.incident.roles.get(spec.name, usual),
                "collectors": collectors,
                **({"auth": {"type": "bearer", "token": token}} if (token := tokens.get(spec.name)) else {}),
            },
        )


def has_required_option(collector: Collector[Any]) -> bool:
    return any(field.is_required() for field in collector.options.model_fields.values())


def schedule(collector: Collector[Any], scale: float) -> dict[str, Any]:
    """Return when a collector runs: as often as on a real network, for its scale."""
    timeout = max(LEAST_TIMEOUT, collector.timeout.total_seconds() / scale)
    return {"interval": write_duration(collector.interval / scale), "timeout": f"{round(timeout * 1000)}ms"}


@asynccontextmanager
async def scraping(folder: Path, page: str, lookback: str) -> AsyncIterator[Prometheus]:
    """Run Prometheus, which scrapes an exporter each second, until it is ready and then until the end."""
    if not demo_prometheus.is_here():
        raise NoPrometheus("There is no prometheus here; Debian's package of that name has it.")
    listen = f"127.0.0.1:{free_port()}"
    server = demo_prometheus.prometheus(
        folder, page, folder / "rules.yaml", listen=listen, every="1s", lookback=lookback
    )
    async with server as process, aiohttp.ClientSession() as session:
        await answers(session, f"http://{listen}/-/ready", process, folder / "prometheus.log")
        yield Prometheus(f"http://{listen}", session)


async def answers(session: aiohttp.ClientSession, url: str, process: asyncio.subprocess.Process, log: Path) -> None:
    """Wait until a process that was just started answers."""
    deadline = time.monotonic() + 30
    while True:
        try:
            async with session.get(url) as answer:
                if answer.status == 200:
                    return
        except aiohttp.ClientConnectionError:
            pass
        if process.returncode is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{url} does not answer; {log} says why")
        await asyncio.sleep(0.1)


@asynccontextmanager
async def stage(
    incidents: Sequence[Incident], scale: float, folder: Path
) -> AsyncIterator[tuple[Mapping[str, Scene], Prometheus]]:
    """Set everything up, in a folder that is left with the logs."""
    async with AsyncExitStack() as everything:
        scenes = {}
        for incident in incidents:
            scenes[incident.name] = scene = scene_of(incident, scale)
            await everything.enter_async_context(scene.network)
        settings = {
            "targets": {name: target for scene in scenes.values() for name, target in targets(scene)},
            "budget": {"rate": 1000, "burst": 1000},  # all of them are one host here
        }
        (folder / "exporter.yaml").write_text(json.dumps(settings, indent=1))
        (folder / "rules.yaml").write_text(rules(scale=scale))
        page = f"127.0.0.1:{free_port()}"
        command = (sys.executable, "-m", "exporter", f"--config.file={folder / 'exporter.yaml'}")
        exporter = demo_prometheus.running(folder / "exporter.log", *command, f"--web.listen-address={page}")
        process = await everything.enter_async_context(exporter)
        session = await everything.enter_async_context(aiohttp.ClientSession())
        await answers(session, f"http://{page}/-/healthy", process, folder / "exporter.log")
        lookback = f"{round(300_000 / scale)}ms"
        yield scenes, await everything.enter_async_context(scraping(folder, f"http://{page}", lookback))
