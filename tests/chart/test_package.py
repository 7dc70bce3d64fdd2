"""The package of the chart: the same bytes for the same files, with all that it needs and nothing else."""

import shutil
import tarfile
from pathlib import Path

import pytest
import yaml

from exporter import __version__
from tests.chart.engine import CHART, helm

chart_package = pytest.importorskip("tools.chart_package", reason="needs the Helm engine: make test-chart")


def test_two_clones_make_the_same_package(tmp_path: Path) -> None:
    digests = []
    for name in ("one", "two"):
        clone = tmp_path / name / CHART.name
        shutil.copytree(CHART, clone, copy_function=shutil.copy)  # as of now
        if name == "two":
            for path in clone.rglob("*.yaml"):
                path.chmod(0o600)
        made = chart_package.package(clone, tmp_path / name, 1_700_000_000)
        digests.append(helm.digest(made))
    assert digests[0] == digests[1]


def test_it_holds_the_chart_and_not_its_examples(tmp_path: Path) -> None:
    made = chart_package.package(CHART, tmp_path, 1_700_000_000)
    with tarfile.open(made) as archive:
        names = {name.removeprefix("canton-exporter/") for name in archive.getnames()}
    assert {"Chart.yaml", "values.yaml", "values.schema.json", "README.md", "files/rules.template.yaml"} <= names
    assert {f"files/dashboards/{path.name}" for path in (CHART / "files/dashboards").iterdir()} <= names
    assert not [name for name in names if name.startswith("ci/")]


def test_a_package_renders_as_its_folder_does(tmp_path: Path) -> None:
    made = chart_package.package(CHART, tmp_path, 1_700_000_000)
    values = {"dashboards": {"enabled": True}, "prometheusRule": {"enabled": True}, "demo": True}
    with helm.Chart.load(made) as packed, helm.Chart.load(CHART) as folder:
        assert packed.render(values, name="a") == folder.render(values, name="a")


def test_the_chart_is_of_this_version_and_says_which_kubernetes_it_needs() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
    assert chart["kubeVersion"] == ">=1.25.0-0"


def test_it_is_small_enough_for_a_release_to_be_kept_in_a_secret(tmp_path: Path) -> None:
    made = chart_package.package(CHART, tmp_path, 1_700_000_000)
    # A release holds chart and manifest, compressed, in base64; a Secret takes a megabyte.
    assert made.stat().st_size < 200_000
