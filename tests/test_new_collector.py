"""tools.new_collector: what it writes passes every check at once, but for the test of what is left to do."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = ("exporter", "tests", "tools", "dashboards", "docs", "helm", "compose", "incidents", "benchmarks")
STARTED = {
    "example_scan": ("scan", "/v0/example-scan"),
    "example_ledger": ("ledger", "/v2/example-ledger"),
    "example_validator": ("validator", "/v0/example-validator"),
}
LEFT = "tests/test_conventions.py::test_nothing_is_left_to_do_of_a_new_collector"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for part in PARTS:
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", *arguments]
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_collector_that_was_just_started_passes_every_check(copy: Path) -> None:
    for name, (kind, route) in STARTED.items():
        code, said = run(copy, "tools.new_collector", name, kind, route)
        assert code == 0, said
        assert f"exporter/collectors/{name}.py" in said
    for check in (
        ("ruff", "format", "-q", "."),
        ("tools.generate",),
        ("ruff", "check", "."),
        ("mypy",),
        (
            "pytest",
            "-q",
            "tests/shapes",
            "tests/test_conventions.py",
            "tests/test_coverage.py",
            "tests/test_dashboards.py",
            f"--deselect={LEFT}",
        ),
        ("pytest", "-q", "tests/test_every_collector.py", "-k", " or ".join(STARTED)),
        ("pytest", "-q", *(f"tests/collectors/test_{name}.py" for name in STARTED)),
    ):
        code, said = run(copy, *check)
        assert code == 0, said
    code, said = run(copy, "pytest", "-q", LEFT)
    assert code == 1, said
    written = [
        *(f"exporter/collectors/{name}.py" for name in STARTED),
        *(f"tests/collectors/test_{name}.py" for name in STARTED),
        *(f"exporter/simulator/nodes/{kind}.py" for kind, _ in STARTED.values()),
        *(f"dashboards/source/{name}.py" for name in ("scan_and_contracts", "ledger", "transfers_and_names")),
        "tests/shapes/table.py",
        "CHANGELOG.md",
    ]
    _, listed = run(copy, "tools.left_to_do")
    assert {line.partition(":")[0] for line in listed.partition("\nThen:")[0].splitlines()} == {*written}
    assert all(path in said for path in written)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("Example", "scan"), "Example is not a name of a module; write lower case letters, digits and underscores"),
        (("class", "scan"), "class is not a name of a module"),
        (("rounds", "scan"), "there is a collector rounds already"),
        (
            ("example_scan", "scan", "v0/dso"),
            "v0/dso is not a path without names to fill in; write one such as /v0/dso",
        ),
        (("example_scan", "scan", "/v0/{party}"), "/v0/{party} is not a path without names to fill in"),
        (("example_scan", "node"), "invalid choice: 'node'"),
        ((), "required: name, kind"),
    ],
)
def test_says_what_to_write_instead(arguments: tuple[str, ...], why: str) -> None:
    code, said = run(ROOT, "tools.new_collector", *arguments)
    assert code == 2
    assert why in said
    assert not (ROOT / "exporter/collectors/example_scan.py").exists()
