"""The contracts of imports, tried by breaking each: a contract that holds nothing is worse than none."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINT = Path(sys.executable).with_name("lint-imports")

DOWN, NODE, WEB, SIMULATOR = "Imports point down only", "Inside the node", "Inside the web", "Inside the simulator"
HTTP = "Only the transport asks nodes, and only the web serves"
BREACHES = {
    "the simulator shares the exporter's errors": (DOWN, "simulator/facts.py", "exporter.errors"),
    "a node's client knows a collector": (DOWN, "node/client.py", "exporter.collectors.acs"),
    "a module has no place": (DOWN, "helpers.py", "exporter.app"),
    "the transport knows the client that uses it": (NODE, "node/transport.py", "exporter.node.client"),
    "a module of the node has no place": (NODE, "node/helpers.py", "json"),
    "a page knows the routes that lead to it": (WEB, "web/scrape.py", "exporter.web.routes"),
    "a module of the web has no place": (WEB, "web/helpers.py", "json"),
    "the simulated world knows a node": (SIMULATOR, "simulator/world/world.py", "exporter.simulator.node"),
    "a fault knows the network": (SIMULATOR, "simulator/faults.py", "exporter.simulator.network"),
    "a module of the simulator has no place": (SIMULATOR, "simulator/helpers.py", "json"),
    "a request to the control endpoint knows its routes": (
        "Inside the simulator's control endpoint",
        "simulator/control/request.py",
        "exporter.simulator.control.application",
    ),
    "what simulated nodes share knows a scan": (
        "Inside the simulator's nodes",
        "simulator/nodes/splice.py",
        "exporter.simulator.nodes.scan",
    ),
    "a simulated participant knows how its updates are asked for": (
        "Inside the simulator's ledger",
        "simulator/ledger/participant.py",
        "exporter.simulator.ledger.updates",
    ),
    "one part of the simulated world knows the whole": (
        "Inside the simulator's world",
        "simulator/world/rules.py",
        "exporter.simulator.world.world",
    ),
    "the text knows the cache of pages": (
        "Inside the exposition",
        "exposition/text.py",
        "exporter.exposition.page_cache",
    ),
    "the runner knows the fleet": ("Inside the scheduling", "scheduling/runner.py", "exporter.scheduling.fleet"),
    "a duration knows its file": ("Inside the configuration", "config/durations.py", "exporter.config.loader"),
    "a collector goes past its face": ("Collectors import one face", "collectors/acs.py", "exporter.node.transport"),
    "what collectors share goes past it": ("Collectors import one face", "api/scan.py", "exporter.errors"),
    "a collector has a clock of its own": ("Collectors import one face", "collectors/acs.py", "exporter.clock"),
    "a collector sets up the log": ("Collectors import one face", "collectors/acs.py", "exporter.log"),
    "what collectors share reads files": ("Collectors import one face", "api/scan.py", "exporter.files"),
    "a limit knows who keeps it": (DOWN, "limits.py", "exporter.node.client"),
    "a collector knows another": (
        "A collector knows no other collector",
        "collectors/acs.py",
        "exporter.collectors.rounds",
    ),
    "the web knows the simulated network": (
        "Only the command knows the simulated network",
        "web/scrape.py",
        "exporter.simulator",
    ),
    "a collector schedules": ("Only the schedule knows APScheduler", "collectors/acs.py", "apscheduler"),
    "the fleet schedules by itself": ("Only the schedule knows APScheduler", "scheduling/fleet.py", "apscheduler"),
    "the schedule knows what it runs": ("Inside the scheduling", "scheduling/schedule.py", "exporter.scheduling.fleet"),
    "what collectors share asks over HTTP": (HTTP, "api/scan.py", "aiohttp"),
    "what puts the parts together serves": (HTTP, "app.py", "aiohttp"),
}


def lint(folder: Path) -> tuple[int, str]:
    done = subprocess.run([LINT, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "exporter", tmp_path / "exporter", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_code_keeps_its_contracts(copy: Path) -> None:
    code, said = lint(copy)
    assert code == 0, said


@pytest.mark.parametrize(("contract", "file", "imported"), BREACHES.values(), ids=BREACHES)
def test_a_breach_is_found(copy: Path, contract: str, file: str, imported: str) -> None:
    with (copy / "exporter" / file).open("a") as module:
        module.write(f"\nimport {imported}\n")
    code, said = lint(copy)
    assert code == 1, said
    assert f"{contract} BROKEN" in said


def test_every_contract_is_tried() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert {contract for contract, _, _ in BREACHES.values()} == {contract["name"] for contract in told}
