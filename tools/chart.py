"""What of the Helm chart is written from the code: thresholds and alerts among its values, its README, and copies."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dashboards.source.rules import ALERT, TEMPLATE
from dashboards.source.screens import dashboards
from dashboards.source.thresholds import OFF_BY_DEFAULT, THRESHOLDS
from exporter.cli.commands import taken_labels
from exporter.collectors import discover
from exporter.config.flag_types import TAKEN_PATHS
from exporter.config.loader import NO_ROLE
from exporter.config.models import HOST_NAME, IPV6, KIND_ALIASES
from tools.chart_schema import KEY_NAME, SECRET_NAME, schema

CHART = Path(__file__).parent.parent / "helm/canton-exporter"
BLOCK = re.compile(r"(?<=^  # begin: written by `make docs`\n).*?(?=^  # end$)", re.MULTILINE | re.DOTALL)
RUNBOOKS = "runbooks"
"""The threshold that is no threshold: the chart calls it runbookUrl."""


def chart_files() -> dict[Path, str]:
    """Return the text of every file of the chart that is written here."""
    values = BLOCK.sub(lambda _: rule_values(), (CHART / "values.yaml").read_text())
    template = TEMPLATE.read_text()
    files = {
        CHART / "values.yaml": values,
        CHART / "values.schema.json": json.dumps(schema(yaml.safe_load(values)), indent=1) + "\n",
        CHART / "README.md": readme(values),
        CHART / "files/settings.json": json.dumps(settings(), indent=1) + "\n",
        CHART / "files/rules.template.yaml": f"# A copy of what `make docs` fills: change it there.\n{template}",
    }
    return files | {CHART / "files/dashboards" / name: text for name, text in dashboards().items()}


def settings() -> dict[str, Any]:
    """Return what the templates have to know to refuse what the exporter would refuse as it starts."""
    needs = {
        name: {"kinds": sorted(collector.kinds), "needs": required}
        for name, collector in discover().items()
        if (required := [option for option, field in collector.options.model_fields.items() if field.is_required()])
    }
    return {
        "labels": sorted(taken_labels()),
        "collectors": needs,
        "kindAliases": KIND_ALIASES,
        "whose": NO_ROLE,
        "host": rf"{HOST_NAME}|\[{IPV6}\]",
        "takenPaths": TAKEN_PATHS,
        "secretName": f"^{SECRET_NAME}$",
        "secretKey": f"^{KEY_NAME}$",
    }


def alerts() -> list[str]:
    """Return the alerts' names, in the order of the rules."""
    return list(dict.fromkeys(ALERT.findall(TEMPLATE.read_text())))


def rule_values() -> str:
    """Return the values of thresholds and alerts, as YAML at its place."""
    lines = ["# -- What the alerts are measured by. Durations are written as PromQL does.", "thresholds:"]
    for each in THRESHOLDS.values():
        if each.name != RUNBOOKS:
            unit = f", in {each.unit}" if each.unit in ("seconds", "bytes") else ""
            lines += [f"  # -- {each.meaning[0].upper()}{each.meaning[1:]}{unit}.", f"  {each.name}: {each.default}"]
    lines += ["# -- Which alerts there are; docs/alerts.md says what each means.", "alerts:"]
    lines += [f"  {name}: {str(name not in OFF_BY_DEFAULT).lower()}" for name in alerts()]
    return "".join(f"  {line}\n" for line in lines)


class Value(NamedTuple):
    """A value of the chart that is described."""

    key: str
    default: str
    description: str


KEY = re.compile(r"(?P<indent> *)(?P<key>[A-Za-z]\w*):")


def described(text: str) -> Iterator[Value]:
    """Give each value that has a comment, with its path."""
    path: list[tuple[int, str]] = []
    comment: list[str] = []
    values = yaml.safe_load(text)
    for line in text.splitlines():
        found = KEY.match(line)
        if found is None:
            goes_on = line.lstrip().startswith("#" if comment else "# -- ")
            comment = [*comment, line.strip().lstrip("# ")] if goes_on else []
            continue
        depth = len(found["indent"])
        path = [*((above, key) for above, key in path if above < depth), (depth, found["key"])]
        if comment:
            yield describe([key for _, key in path], values, " ".join(comment))
        comment = []


def describe(path: list[str], values: Any, comment: str) -> Value:
    for key in path:
        values = values[key]
    said, _, default = comment.removeprefix("-- ").partition(" @default -- ")
    if not default:
        # What is described part by part, below, says its defaults there.
        default = "" if isinstance(values, dict) and len(values) > 4 else f"`{json.dumps(values, ensure_ascii=False)}`"
    return Value(".".join(path), default, said)


README = """\
<!-- Generated from values.yaml by `make docs`; change it there. -->
# canton-exporter

Watches the nodes of a Canton Network from Kubernetes. [What that is](../../README.md), and [how to set it
up](../../docs/kubernetes.md) beside a validator's own chart, with kube-prometheus-stack and with Argo CD.

```sh
helm install canton-exporter ./helm/canton-exporter --set image.registry=registry.example
```

Without values it watches a simulated network, to look around. A participant with a token and somebody else's scan, for
kube-prometheus-stack and its Grafana:

```yaml
config:
  targets:
    my-participant:
      kind: ledger
      network: mainnet
      url: http://participant:7575
      auth:
        type: bearer
        secretKeyRef: {name: participant-token, key: token}
    scan:
      kind: scan
      network: mainnet
      role: observed
      url: https://scan.example/api/scan

serviceMonitor: {enabled: true, labels: {release: kube-prometheus-stack}}
prometheusRule: {enabled: true, labels: {release: kube-prometheus-stack}}
dashboards: {enabled: true}
```

Kubernetes 1.25 or newer, Helm 3.8 or newer. Examples of every feature are in [ci/](ci).

## Values

"""


def readme(values: str) -> str:
    rows = [
        f"| `{each.key}` | {each.default} | {each.description} |\n".replace("||", "| |") for each in described(values)
    ]
    return f"{README}| Value | Default | Meaning |\n| --- | --- | --- |\n{''.join(rows)}"
