"""Installs every example into a real cluster and upgrades one into the next: python -m tests.chart.cluster KUBECONFIG.

It needs kubectl, and the CRDs of the Prometheus operator and of the Gateway API there. What it makes is in namespaces
of its own, which pods may only enter by the restricted Pod Security Standard. Nothing has to run in them.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from tests.chart.engine import CHART, Values, examples, helm

NAMESPACE, OTHER = "canton-exporter-test", "canton-exporter-test-monitoring"
RESTRICTED = "pod-security.kubernetes.io/enforce=restricted"
ADMISSION_SECONDS = 20.0


def main(kubeconfig: str) -> int:
    def kubectl(*arguments: str, check: bool = True) -> str:
        command = ["kubectl", f"--kubeconfig={kubeconfig}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=check).stdout  # noqa: S603

    failed: list[str] = []
    for namespace in (NAMESPACE, OTHER):
        kubectl("create", "namespace", namespace, check=False)
        kubectl("label", "--overwrite", "namespace", namespace, RESTRICTED)
    with helm.Config(kubeconfig_path=kubeconfig, namespace=NAMESPACE) as cluster:
        for name, values in here().items():
            since = datetime.now(UTC)
            for step in (cluster.install, cluster.upgrade):
                failed += tried(f"{name}: {step.__name__}", step, "watch", values)
            failed += [f"{name}: {fault}" for fault in refused(kubectl, values, since)]
            cluster.uninstall("watch")
        failed += upgrades(cluster)
        cluster.uninstall("watch", ignore_not_found=True)
    kubectl("delete", "namespace", NAMESPACE, OTHER, "--wait=false")
    print(*failed or ["Every example was installed, upgraded, and its pods admitted."], sep="\n")
    return 1 if failed else 0


def here() -> dict[str, Values]:
    """Return the examples, with nothing that would have to be made outside of these namespaces."""
    own = json.dumps(examples()).replace('"namespace": "monitoring"', f'"namespace": "{OTHER}"')
    return {name: {**each, "priorityClassName": "", "runtimeClassName": ""} for name, each in json.loads(own).items()}


def tried(words: str, step: Any, release: str, values: Values) -> Iterator[str]:
    try:
        step(CHART, release, dict(values), namespace=NAMESPACE)
    except helm.HelmError as error:
        yield f"{words}: {error}"
    else:
        print(words)


def upgrades(cluster: Any) -> Iterator[str]:
    """Upgrade one release from example to example, there and back: what cannot be changed in place is found here."""
    # What the API fills in for one type it refuses beside another.
    rolling: dict[str, Values] = {
        "a strategy": {"strategy": {"type": "RollingUpdate"}},
        "no strategy": {"strategy": None},
    }
    chain = [*(here() | rolling).items()]
    yield from tried("first", cluster.install, "watch", chain[0][1])
    for name, values in [*chain[1:], *reversed(chain)]:
        yield from tried(f"upgrade to {name}", cluster.upgrade, "watch", values)


def refused(kubectl: Any, values: Values, since: datetime) -> Iterator[str]:
    """Give what the cluster says against the pods, once the controllers have tried to make them."""
    if values.get("podSecurityContext", True) is None:  # that is for a cluster which sets it
        return
    until = time.monotonic() + ADMISSION_SECONDS
    while True:
        pods = json.loads(kubectl("-n", NAMESPACE, "get", "pods", "-o", "json"))["items"]
        if len(pods) >= values.get("shards", 1):
            return
        if time.monotonic() > until:
            events = json.loads(kubectl("-n", NAMESPACE, "get", "events", "-o", "json"))["items"]
            warnings = [event for event in events if event["type"] == "Warning"]
            yield from (each["message"] for each in warnings if datetime.fromisoformat(each["lastTimestamp"]) >= since)
            yield "its pods were not made"
            return
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
