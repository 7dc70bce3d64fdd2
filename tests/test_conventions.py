"""What holds of the project as a whole: names, and files that are generated or belong together."""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from exporter.collectors import discover, metrics_of
from exporter.config.loader import load
from exporter.metrics import self_metrics
from exporter.metrics.metric import Metric
from tools.generate import generated
from tools.left_to_do import left_to_do

ROOT = Path(__file__).parent.parent
METRICS = [
    *(metric for metric in self_metrics.ALL if metric.family is None),
    *(metric for name in discover() for metric in metrics_of(name)),
]
PARTLY_WRITTEN = {"helm/canton-exporter/values.yaml"}
"""By hand, but for a part of it."""
MODULES = sorted([*(ROOT / "exporter").rglob("*.py"), *(ROOT / "dashboards/source").glob("[a-z]*.py")])


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_is_named_as_prometheus_wants_it(metric: Metric) -> None:
    assert metric.name.startswith("canton_")
    assert not re.search(r"_(gauge|counter|count|sum|bucket|milliseconds|minutes|hours)$", metric.name)
    assert not {"le", "quantile", "instance", "job", "target", "network", "role"} & set(metric.labels)
    assert metric.help[0].isupper() or metric.help[0].isdigit()
    assert metric.help.endswith(".")


def test_every_generated_file_is_current() -> None:
    stale = [path.name for path, text in generated().items() if not path.exists() or path.read_text() != text]
    assert not stale, "run make docs"


def test_the_example_configuration_loads() -> None:
    assert load(ROOT / "exporter.example.yaml", discover()).targets


def test_nothing_is_left_to_do_of_a_new_collector() -> None:
    left = "\n".join(left_to_do())
    assert not left, f"put the real thing in each of these places:\n{left}"


def test_every_collector_has_a_test_module() -> None:
    missing = [name for name in discover() if not (ROOT / f"tests/collectors/test_{name}.py").exists()]
    assert not missing


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_is_for_and_holds_one_thing(module: Path) -> None:
    text = module.read_text()
    assert (ast.get_docstring(ast.parse(text)) or "").splitlines()[0].endswith((".", ":", ";"))
    assert text.count("\n") <= 320, "when a module grows, it holds two things"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_function_fits_on_a_screen(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 50, node.name


def test_the_readme_names_only_targets_that_make_has() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"make ([a-z]+)", (ROOT / page).read_text()))
        assert named <= targets, page


def test_links_in_the_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "dashboards").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.relative_to(ROOT)}: {link}"


def test_what_is_generated_is_marked_as_such() -> None:
    marked = [line.split()[0] for line in (ROOT / ".gitattributes").read_text().splitlines() if "generated" in line]
    patterns = [pattern for pattern in marked if not pattern.startswith("#")]
    names = [str(path.relative_to(ROOT)) for path in generated()]
    unmarked = [name for name in names if not any(fnmatch(name, pattern) for pattern in patterns)]
    assert set(unmarked) <= PARTLY_WRITTEN
