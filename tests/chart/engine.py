"""The real Helm engine, as the tests of the chart use it. Where it is not installed, they are skipped."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

NEEDED = "needs the Helm engine and Kubernetes' schemas: make test-chart"
helm: Any = pytest.importorskip("helm_python", reason=NEEDED)
kubernetes: Any = pytest.importorskip("kubernetes_validate", reason=NEEDED)

CHART = Path(__file__).parents[2] / "helm/canton-exporter"
RELEASE, NAMESPACE = "watch", "canton"
FULLNAME = "watch-canton-exporter"

Values = Mapping[str, Any]
Object = dict[str, Any]

SCAN = {"kind": "scan", "role": "observed", "url": "https://scan.example/api/scan"}
ONE: dict[str, Any] = {"config": {"targets": {"scan": SCAN}}}
"""Values that watch a node."""
TOKEN = {"type": "bearer", "secretKeyRef": {"name": "participant-token", "key": "token"}}
NONE = {"type": "none"}
KEY = {"secretKeyRef": {"name": "gateway", "key": "api-key"}}


def targets(**named: Any) -> dict[str, Any]:
    return {"config": {"targets": {name.replace("_", "-"): each for name, each in named.items()}}}


def ledger(**more: Any) -> dict[str, Any]:
    return {"kind": "ledger", "url": "http://participant:7575", **more}


def configuration(objects: list[Object]) -> Any:
    return yaml.safe_load(the(objects, "ConfigMap", FULLNAME)["data"]["exporter.yaml"])


def examples() -> dict[str, Values]:
    """Return the values of each example in ci/, by name."""
    files = sorted((CHART / "ci").glob("*-values.yaml"))
    return {path.name.removesuffix("-values.yaml"): yaml.safe_load(path.read_text()) or {} for path in files}


def texts(values: Values, release: str = RELEASE) -> dict[str, str]:
    """Return what each template gives, by its path in the chart. Raises HelmError with what Helm would print."""
    with helm.Chart.load(CHART) as chart:
        chart.validate_schema(dict(values))
        rendered: dict[str, str] = chart.render(dict(values), name=release, namespace=NAMESPACE)
    return {path.partition("/templates/")[2]: text for path, text in rendered.items()}


def render(values: Values, release: str = RELEASE) -> list[Object]:
    """Return all objects of a release."""
    return [each for path, text in texts(values, release).items() if path != "NOTES.txt" for each in documents(text)]


def documents(text: str) -> Iterator[Object]:
    # As Helm and the API read it: a key that is there twice would be one too many.
    yield from (each for each in yaml.load_all(text, Loader=Unrepeated) if each)


class Unrepeated(yaml.SafeLoader):
    """Refuses a mapping that has a key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key is there twice: {keys}"
        return super().construct_mapping(node, deep)


def the(objects: list[Object], kind: str, name: str | None = None) -> Object:
    """Return the one object of a kind (and name)."""
    [found] = [each for each in objects if each["kind"] == kind and name in (None, each["metadata"]["name"])]
    return found


def pod(objects: list[Object]) -> Object:
    """Return the spec of the exporter's pods."""
    [workload] = [each for each in objects if each["kind"] in ("Deployment", "StatefulSet")]
    spec: Object = workload["spec"]["template"]["spec"]
    return spec


def container(objects: list[Object]) -> Object:
    """Return the exporter's container."""
    [found] = [each for each in pod(objects)["containers"] if each["name"] == "exporter"]
    return dict(found)


def refusal(values: Values) -> str:
    """Return what Helm says of values that it must refuse."""
    with pytest.raises(helm.HelmError) as caught:
        texts(values)
    return str(caught.value)
