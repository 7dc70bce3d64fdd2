"""Every example of the chart's values renders to what Kubernetes, its policies and the real program accept."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.chart.engine import (
    CHART,
    NAMESPACE,
    ONE,
    Object,
    Values,
    container,
    examples,
    helm,
    kubernetes,
    pod,
    render,
    texts,
)

VERSIONS = ["1.25", "1.30", "1.37"]
EXAMPLES = examples()

pytestmark = pytest.mark.parametrize("values", [pytest.param(values, id=name) for name, values in EXAMPLES.items()])

# The kinds of the operator and of the Gateway API, which Kubernetes' own schemas do not know, have these keys.
ENDPOINT = {
    *("port", "path", "scheme", "interval", "scrapeTimeout", "relabelings", "metricRelabelings"),
    *("basicAuth", "tlsConfig", "honorLabels"),
}
SELECTED = {"selector", "namespaceSelector", "jobLabel", "podTargetLabels", "sampleLimit", "labelLimit"}
FOREIGN = {
    "ServiceMonitor": {"endpoints", "targetLabels", *SELECTED},
    "PodMonitor": {"podMetricsEndpoints", *SELECTED},
    "Probe": {"prober", "targets", "jobName", "interval", "scrapeTimeout", "metricRelabelings", "tlsConfig"},
    "PrometheusRule": {"groups"},
    "HTTPRoute": {"parentRefs", "hostnames", "rules"},
}
"""What the specs of foreign kinds may hold."""

MERGED = {
    ("containers", "name"),
    ("initContainers", "name"),
    ("env", "name"),
    ("volumes", "name"),
    ("volumeMounts", "mountPath"),
    ("imagePullSecrets", "name"),
    ("hostAliases", "ip"),
}
"""The lists that server-side apply merges, and the key that may be there once only."""


def test_it_passes_a_strict_lint(values: Values) -> None:
    report = helm.lint(CHART, dict(values), strict=True, namespace=NAMESPACE)
    assert report["errors"] == []
    assert [each for each in report["messages"] if each["severity"] > 1] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_knows_every_field(values: Values, version: str) -> None:
    for each in render(values):
        if each["kind"] in FOREIGN:
            assert set(each["spec"]) <= FOREIGN[each["kind"]]
            for endpoint in each["spec"].get("endpoints", each["spec"].get("podMetricsEndpoints", ())):
                assert set(endpoint) <= ENDPOINT
        elif "unhealthyPodEvictionPolicy" not in each.get("spec", {}) or version != "1.25":  # it came with 1.27
            kubernetes.validate(each, version, strict=True)


def test_server_side_apply_finds_nothing_twice(values: Values) -> None:
    objects = render(values)
    identities = [(each["apiVersion"], each["kind"], name(each)) for each in objects]
    assert len(identities) == len(set(identities))
    for path, found in lists(objects):
        for field, key in MERGED:
            if path == field:
                keys = [each.get(key) for each in found]
                assert len(keys) == len(set(keys)), f"{field}: {keys}"
        if path == "ports" and found and "containerPort" in found[0]:
            assert len({(each["containerPort"], each["protocol"]) for each in found}) == len(found)


def name(each: Object) -> tuple[str, str]:
    return each["metadata"].get("namespace", NAMESPACE), each["metadata"]["name"]


def lists(part: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield from lists(value, key)
    elif isinstance(part, list):
        yield path, part
        for each in part:
            yield from lists(each)


def test_pods_pass_the_restricted_standard(values: Values) -> None:
    if values.get("podSecurityContext", True) is None:  # there the cluster says it, by its own admission
        assert "securityContext" not in pod(render(values))
        return
    for each in render(values):
        spec = each["spec"].get("template", {}).get("spec") if "spec" in each else None
        spec = each["spec"] if each["kind"] == "Pod" else spec
        if spec is None:
            continue
        context = spec["securityContext"]
        assert context["runAsNonRoot"] is True
        assert context["runAsUser"] == 65532
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not any(spec.get(key) for key in ("hostNetwork", "hostPID", "hostIPC"))
        for one in [*spec["containers"], *spec.get("initContainers", ())]:
            assert one["securityContext"]["allowPrivilegeEscalation"] is False
            assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert not any("hostPort" in port for port in one.get("ports", ()))
        allowed = {"configMap", "secret", "projected", "emptyDir", "csi", "downwardAPI", "persistentVolumeClaim"}
        assert all(set(volume) - {"name"} <= allowed for volume in spec.get("volumes", ()))
        exporter = next((one for one in spec["containers"] if one["name"] == "exporter"), None)
        assert exporter is None or exporter["securityContext"]["readOnlyRootFilesystem"] is True


def test_every_name_fits_and_every_label_is_valid(values: Values) -> None:
    for each in render(values, release="a" * 53):
        longest = {"StatefulSet": 52} | dict.fromkeys(("ConfigMap", *FOREIGN), 253)
        assert len(each["metadata"]["name"]) <= longest.get(each["kind"], 63)
        assert not each["metadata"]["name"].endswith("-")
        assert all(len(str(value)) <= 63 for value in each["metadata"].get("labels", {}).values())


def test_what_refers_to_a_part_of_the_release_finds_it(values: Values) -> None:
    objects = render(values)
    own = {(each["kind"], each["metadata"]["name"]) for each in objects}
    [workload] = [each for each in objects if each["kind"] in ("Deployment", "StatefulSet")]
    labels = workload["spec"]["template"]["metadata"]["labels"].items()
    assert workload["spec"]["selector"]["matchLabels"].items() <= labels
    ports = {port["name"] for port in container(objects)["ports"]}
    for each in objects:
        if each["kind"] == "Service":
            assert each["spec"]["selector"].items() <= labels
            assert {port["targetPort"] for port in each["spec"]["ports"]} <= ports
        if each["kind"] == "ServiceMonitor":
            wanted = each["spec"]["selector"]["matchLabels"].items()
            services = [one for one in objects if one["kind"] == "Service"]
            [scraped] = [one for one in services if wanted <= one["metadata"]["labels"].items()]
            [endpoint] = each["spec"]["endpoints"]
            assert endpoint["port"] in {port["name"] for port in scraped["spec"]["ports"]}
        if each["kind"] == "StatefulSet":
            assert ("Service", each["spec"]["serviceName"]) in own
        if each["kind"] == "Ingress":
            for rule in each["spec"]["rules"]:
                assert ("Service", rule["http"]["paths"][0]["backend"]["service"]["name"]) in own
    spec = workload["spec"]["template"]["spec"]
    volumes = {volume["name"] for volume in spec.get("volumes", ())}
    assert {mount["name"] for mount in container(objects).get("volumeMounts", ())} <= volumes


def test_the_real_program_accepts_its_arguments_and_its_configuration(values: Values, tmp_path: Path) -> None:
    objects = render(values)
    exporter = container(objects)
    written = [each["data"]["exporter.yaml"] for each in objects if "exporter.yaml" in each.get("data", {})]
    file = tmp_path / "exporter.yaml"
    file.write_text(written[0] if written else yaml.safe_dump(ONE["config"]))
    # The web configuration and a configuration that something else makes are not there.
    elsewhere = ("demo", "--config.file")
    arguments = [f"--config.file={file}", *(each for each in exporter["args"] if not each.startswith(elsewhere))]
    own = {name: text for name, text in os.environ.items() if not name.startswith("CANTON_EXPORTER_")}
    given = {each["name"]: given_value(each) for each in exporter["env"]}
    given.pop("CANTON_EXPORTER_WEB__CONFIG__FILE", None)
    command = [sys.executable, "-m", "exporter", *arguments, "--config.check"]
    done = subprocess.run(command, env=own | given, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert "valid" in done.stdout


def given_value(variable: Object) -> str:
    """Return a variable's value, as the cluster would give it."""
    source = variable.get("valueFrom", {})
    if "fieldRef" in source:
        return "watch-canton-exporter-1"
    return str(variable["value"])


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool, from Debian's prometheus")
def test_promtool_accepts_its_rules(values: Values, tmp_path: Path) -> None:
    for each in render(values):
        if each["kind"] == "PrometheusRule":
            (tmp_path / "rules.yaml").write_text(yaml.safe_dump(each["spec"]))
            command = ["promtool", "check", "rules", str(tmp_path / "rules.yaml")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            assert done.returncode == 0, done.stdout + done.stderr


def test_no_secret_of_the_values_is_in_a_config_map(values: Values) -> None:
    for each in render(values):
        if each["kind"] == "ConfigMap":
            assert "secretKeyRef" not in str(each["data"])


def test_the_notes_say_what_to_do_next(values: Values) -> None:
    notes = texts(values)["NOTES.txt"]
    assert "port-forward" in notes
    assert "<no value>" not in notes
    assert "%!" not in notes
