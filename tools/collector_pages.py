"""The collectors' pages and their list, from their docstrings, schedules, metrics and options."""

from typing import Any

from exporter.collector import Collector
from exporter.collectors import discover, metrics_of
from exporter.config.durations import write_duration
from exporter.config.models import Kind
from tools.markdown import NOTICE, table
from tools.reference_metrics import metric_table
from tools.settings import settings_table


def collectors_page() -> str:
    rows = [
        (f"[{name}]({name}.md)", kinds(collector), collector.doc.partition("\n\n")[0])
        for name, collector in discover().items()
    ]
    return f"{NOTICE}# Collectors\n\n{table(['Collector', 'Targets', 'What it reports'], rows)}"


def collector_page(collector: Collector[Any]) -> str:
    summary, _, rest = collector.doc.partition("\n\n")
    facts: list[str] = []
    for line in rest.strip().splitlines():  # a fact may run over several lines
        if line.partition(":")[0] in ("Asks", "Needs", "Costs"):
            facts.append(line)
        else:
            facts[-1] += f" {line}"
    parts = [
        NOTICE,
        f"# {collector.name}\n\n{summary}\n\n",
        *(f"- **{name}:**{text}\n" for name, _, text in (fact.partition(":") for fact in facts)),
        f"- **Targets:** {kinds(collector)}\n",
        f"- **Runs:** every {write_duration(collector.interval)}, for {write_duration(collector.timeout)} at most",
        f"{when_off(collector)}\n\n",
        metric_table(metrics_of(collector.name)),
    ]
    if collector.options.model_fields:
        parts += ["\n## Options\n\n", settings_table(collector.options)]
    return "".join(parts)


def when_off(collector: Collector[Any]) -> str:
    if not collector.on_by_default:
        return "; it is off until it is configured"
    return "" if collector.on_for_observed else "; where the role is observed it is off until it is configured"


def kinds(collector: Collector[Any]) -> str:
    return ", ".join(kind for kind in Kind if kind in collector.kinds)
