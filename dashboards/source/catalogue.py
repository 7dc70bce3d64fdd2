"""What there is to show: each metric's labels, how often it is read, and which collector has to be on for it."""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache

import yaml

from dashboards.source.rules import rules
from exporter.collectors import discover, metrics_of
from exporter.config.durations import write_duration
from exporter.metrics import self_metrics

SCRAPE = ("job", "instance")
SLOWEST_SCRAPE = timedelta(minutes=1)
TARGET = ("network", "role", "target")
NODE = ("network", "target")
"""What a node is named by in panels: its role says nothing more."""

# Of a summary only its parts have series.
OWN = {metric.name: metric for metric in self_metrics.ALL if metric.family or metric.type != "summary"}
COLLECTED = {metric.name: (metric, name) for name in discover() for metric in metrics_of(name)}

RECORDED: dict[str, tuple[str, ...]] = {
    "canton:acs_contracts": (*TARGET, "template"),
    "canton:acs_counted_snapshot_timestamp_seconds": TARGET,
    "canton:coin_rules_created_timestamp_seconds": TARGET,
    "canton:coin_rules_required_package_info": ("network", "package", "version"),
    "canton:collector_failures:ratio1h": (*TARGET, "collector"),
    "canton:collector_supported": (*TARGET, "collector"),
    "canton:http_request_seconds:mean15m": (*TARGET, "route"),
    "canton:ledger_checkpoint_timestamp_seconds": (*TARGET, "synchronizer"),
    "canton:ledger_end_offset": TARGET,
    "canton:ledger_lag_seconds": (*TARGET, "synchronizer"),
    "canton:ledger_newest_checkpoint_timestamp_seconds": TARGET,
    "canton:ledger_pruned_offset": TARGET,
    "canton:ledger_stuck": TARGET,
    "canton:network_advances": ("network",),
    "canton:node_trouble": TARGET,
    "canton:scan_record_timestamp_seconds": TARGET,
    "canton:sv_reward_weight": (*TARGET, "sv"),
    "canton:traffic_consumed_bytes": (*TARGET, "member"),
    "canton:traffic_left_bytes": (*TARGET, "member"),
    "canton:traffic_runway_seconds": (*TARGET, "member"),
    "canton:up": TARGET,
    "canton:us_or_network": TARGET,
}
"""The labels of what the rules record, which have no job and no instance."""

ELSEWHERE: dict[str, tuple[str, ...]] = {
    "up": SCRAPE,
    "process_cpu_seconds_total": SCRAPE,
    "process_max_fds": SCRAPE,
    "process_open_fds": SCRAPE,
    "process_resident_memory_bytes": SCRAPE,
    "process_start_time_seconds": SCRAPE,
    "python_info": (*SCRAPE, "version", "implementation"),
    # Alerts have the labels of their expressions: not all have a target, or a network.
    "ALERTS": ("network", "target", "alertname", "alertstate", "severity"),
    "ALERTS_FOR_STATE": ("network", "target", "alertname", "severity"),
}
"""The labels of what Prometheus and its library give."""

NAME = re.compile(r"\b(?:canton[_:][a-z0-9_:]+|up|process_\w+|python_\w+|ALERTS\w*)(?=\{|$)")
RECORDED_NAME = re.compile(r"\bcanton:[a-z0-9_:]+")
COLLECTED_NAME = re.compile(r"\bcanton_\w+")


def labels(name: str) -> tuple[str, ...]:
    """Return every label that series of this name have, those of the target and of the scrape too."""
    if name in RECORDED:
        return RECORDED[name]
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    metric = OWN[name] if name in OWN else COLLECTED[name][0]
    return (*metric.labels, *(() if name.startswith("canton_exporter_") else TARGET), *SCRAPE)


@cache
def recording() -> dict[str, str]:
    """Return the expression of each recorded name."""
    blocks = [rule for group in yaml.safe_load(rules())["groups"] for rule in group["rules"]]
    return {rule["record"]: rule["expr"] for rule in blocks if "record" in rule}


def names(expression: str) -> list[str]:
    """Return the names an expression selects by, in their order."""
    return list(dict.fromkeys(NAME.findall(expression)))


def collectors(expression: str) -> set[str]:
    """Return whose values an expression shows, through recorded names too."""
    return {COLLECTED[name][1] for name in reached(expression, set()) if name in COLLECTED}


def reached(expression: str, seen: set[str]) -> Iterator[str]:
    yield from COLLECTED_NAME.findall(expression)
    for name in RECORDED_NAME.findall(expression):
        if name not in seen:
            seen.add(name)
            yield from reached(recording()[name], seen)


def step(expression: str) -> str:
    """Return how often the values of an expression are read, by default: it need not be asked for more often.

    What the exporter says of itself can change with the watch that runs most often. Grafana takes rates over four of
    these steps, in which a Prometheus that scrapes each minute has to have two values.
    """
    asked = collectors(expression) or set(discover())
    shortest: timedelta = min(discover()[name].interval for name in asked)
    return write_duration(max(shortest, SLOWEST_SCRAPE) if "$__rate_interval" in expression else shortest)


def nothing(expressions: Sequence[str]) -> str:
    """Return what to show where none of these expressions has a value: what to switch on, or to load."""
    asked = [collectors(expression) for expression in expressions]
    on = {name for name, collector in discover().items() if collector.on_by_default}
    # What needs no collector that is off should have a value, and says what is missing.
    missing = sorted(set().union(*([names for names in asked if names <= on] or asked)))
    off = [name for name in missing if name not in on]
    if off:
        return f"No data: the collector {' or '.join(off)} is off until it is configured (docs/collectors/{off[0]}.md)"
    if any(RECORDED_NAME.search(expression) for expression in expressions):
        return "No data: load dashboards/rules.yaml into Prometheus, whose recording rules this shows"
    if missing:
        return f"No data: no target has the collector {' or '.join(missing)}, or it fails (see Canton / Exporter)"
    return "No data: is the exporter scraped? (see Canton / Exporter)"
