"""The first dashboard an operator opens: is it us or the network, since when, what now."""

from dataclasses import replace

from dashboards.source.catalogue import NODE
from dashboards.source.ledger import QUIET
from dashboards.source.looks import (
    ADVANCES,
    BLUE,
    COUNT,
    FROM_NOW,
    GREEN,
    LAG,
    ORANGE,
    RATIO,
    READY,
    RED,
    ROUND,
    SCAN,
    SNAPSHOT,
    UP,
    US_OR_NETWORK,
    WORTH_A_LOOK,
    Look,
)
from dashboards.source.panels import Column, Made, graph, grid, number, timeline
from dashboards.source.queries import age, asked, least, most, of
from dashboards.source.screen import Screen, Section
from dashboards.source.thresholds import THRESHOLDS

# An alert has the labels of its own expression: those of the network as a whole name no target.
# The watchdog fires while all is well.
OURS = 'alertname=~"Canton.*",alertname!="CantonWatchdog",network=~"$network|",target=~"$target|"'
FIRING = f'ALERTS{{alertstate="firing",{OURS}}}'
SEVERITIES = {"critical": RED, "warning": ORANGE, "info": BLUE}
RULES_ARE_LOADED = f"count({of('canton:collector_supported')}) > 0"
SINCE = (
    "min by (alertname, severity, network, target) "
    f"({FIRING} * ignoring (alertstate) ALERTS_FOR_STATE{{{OURS}}}) * 1000"
)
RUNBOOK = f"{THRESHOLDS['runbooks'].default}/${{__value.text}}.md"

NEWEST_ROUND = age("canton_round_opens_timestamp_seconds", 'state="open"', by=("network",))
FAILING = (
    f"sum by (network, target) ({most('canton_collector_failure_info', by=(*NODE, 'collector'))})"
    f" or 0 * {most('canton_target_info', by=NODE)}"
)
RESULTS, BAD = "canton_health_results_total", 'result!="up"'
US = most("canton:us_or_network")
MINE = most("canton_target_info", 'kind=~"ledger|validator"', by=NODE)
KNOWN_OR_NOT = f"{US} or 3 * {MINE}"
# On a quiet ledger record times stand still for up to half an hour, which is no lag.
MOVES = f"changes({of('canton_ledger_checkpoint_timestamp_seconds')}[5m]) > 0"
MOVING_LAG = (
    f"max by (network, target) ({of('canton_ledger_lag_seconds')} "
    f"and on (job, instance, network, target, synchronizer) {MOVES})"
)
VERSION = f"max by (network, target, version) ({of('canton_ledger_info')} or {of('canton_scan_info')})"

NO_NODE = "No participant or validator is watched by what is chosen, or the exporter is not scraped"
NO_NETWORK = "unknown: no scan of the network is watched, or not for ten minutes yet, or rules.yaml is not loaded"


def overview() -> Screen:
    return Screen(
        "overview",
        "Overview",
        "Is it us or the network, since when, and what now? The first page to open.",
        [
            Section("Is it us or the network?", now()),
            Section("What now", [nodes(), alerts()]),
            Section("Since when", [*history(), *measures()]),
        ],
        since="now-3h",
    )


def now() -> list[Made]:
    return [
        number(
            "Us or the network",
            "For each of your participants and validators: whether it is well, in trouble of its own (us), or in "
            "trouble because the whole network stands still (the network). If it says us, look at the node; if it "
            "says the network, there is nothing to mend here. Unknown means that nothing tells. If all are unknown, "
            "load dashboards/rules.yaml into Prometheus, or watch a scan.",
            KNOWN_OR_NOT,
            US_OR_NETWORK,
            width=12,
            none=NO_NODE,
        ),
        number(
            "The network goes on",
            "Whether anything new has happened on the network within five minutes, as its scans (public servers of "
            "the network's history) and your participants tell. Normal is that it goes on. If it stands still, "
            "everybody's nodes do, and only the operators of the network can help.",
            most("canton:network_advances"),
            ADVANCES,
            width=4,
            legend="{{network}}",
            none=NO_NETWORK,
        ),
        number(
            "Newest round opened",
            "The network pays rewards in rounds and opens one about every ten minutes. This is how long ago the "
            "newest one opened; a round that is still to open counts below zero. Worry above half an hour: then no "
            "rewards are made for anybody.",
            NEWEST_ROUND,
            ROUND,
            width=4,
            legend="{{network}}",
        ),
        number(
            "Alerts firing",
            "How many alerts of the exporter's rules fire now, for what is chosen above, by severity: critical wakes "
            "somebody, warning is for today, info only to be known. Normal is none; the table below says which they "
            "are and what to do.",
            [(firing(severity), severity) for severity in SEVERITIES],
            COUNT,
            width=4,
            looks={name: replace(COUNT, steps=((None, GREEN), (1, color))) for name, color in SEVERITIES.items()},
            none="Load rules.yaml: no rule is evaluated",
        ),
    ]


def firing(severity: str) -> str:
    """Count the lines of the table of alerts; 0 only where rules are evaluated that would say otherwise."""
    alerts = f'ALERTS{{alertstate="firing",severity="{severity}",{OURS}}}'
    return f"count(count by (alertname, severity, network, target) ({alerts})) or 0 * ({RULES_ARE_LOADED})"


def nodes() -> Made:
    return grid(
        "Nodes",
        "Every node that is watched. Up and ready should be green; cause says why a node is down. Lag is how far a "
        "participant is behind the network (under a minute is well), told only while record times move; event age the "
        "same of a scan. Snapshot age is of a scan's list of contracts, one each three hours; rules age since when the "
        "network's rules are in force. Failing questions got no good answer (normal is 0). Unknown is not asked of "
        "this kind of node, not answered, or the lag of a quiet ledger.",
        [
            Column("", most("canton_target_info", by=("network", "target", "role", "kind"))),
            Column("Up", least("canton_up"), UP),
            Column("", most("canton_down_info")),
            Column("Ready", least("canton_ready"), READY),
            Column("Us or the network", KNOWN_OR_NOT, US_OR_NETWORK),
            Column("Lag", MOVING_LAG, LAG),
            Column("Event age", age("canton_scan_record_timestamp_seconds", by=NODE), SCAN),
            Column("Snapshot age", age("canton_acs_snapshot_timestamp_seconds"), SNAPSHOT),
            Column("Rules age", age("canton_coin_rules_created_timestamp_seconds"), Look("s")),
            Column("Failing questions", FAILING, WORTH_A_LOOK),
            Column("", VERSION),
        ],
        height=9,
        links={
            "target": [
                (title, f"/d/canton-{slug}?var-target=${{__value.raw}}&${{__url_time_range}}")
                for title, slug in (("Ledger", "ledger"), ("Scan", "scan-and-contracts"), ("Exporter", "exporter"))
            ]
        },
    )


def alerts() -> Made:
    return grid(
        "Firing alerts",
        "Each alert that fires now, with the node it is about and since when. Critical wakes somebody, warning is to "
        "be looked at today, info is only to be known. The alert's name leads to the page that says what it means and "
        "what to do.",
        [Column("Since", SINCE, FROM_NOW)],
        height=7,
        links={"alertname": [("What to do", RUNBOOK)]},
        colors={"severity": SEVERITIES},
        none="No alert fires, or dashboards/rules.yaml is not loaded into Prometheus",
    )


def history() -> list[Made]:
    return [
        timeline(
            "Us or the network, over time",
            "The answer of above for every moment: green healthy, red us, blue the network. Where red or blue begins, "
            "the trouble began. Grey means that it was unknown. If all is grey, load dashboards/rules.yaml into "
            "Prometheus, or watch a scan.",
            KNOWN_OR_NOT,
            US_OR_NETWORK,
            none=NO_NODE,
        ),
        timeline(
            "Up, over time",
            "Whether each node said that it is alive. Red is when it did not answer or said no; a gap is when the "
            "exporter was not let in and so does not know. Your own nodes should be green throughout, apart from "
            "short restarts.",
            least("canton_up"),
            UP,
        ),
        timeline(
            "The network goes on, over time",
            "Whether anything new happened on the network within the five minutes before. It should be green "
            "throughout; red is an outage of the network and none of yours.",
            most("canton:network_advances"),
            ADVANCES,
            height=5,
            none=NO_NETWORK,
        ),
    ]


def measures() -> list[Made]:
    return [
        graph(
            "Lag of participants",
            "How far each of your participants is behind the network, in time. Up to 15 seconds is as exact as it can "
            f"be measured, so that is normal. From a minute on, transactions begin to fail. {QUIET}",
            most("canton_ledger_lag_seconds", by=NODE),
            LAG,
            height=5,
        ),
        graph(
            "Newest round opened, over time",
            "How long ago the newest round of rewards opened. It is a saw-tooth of about ten minutes; a line that "
            "only rises means that no round opens any more.",
            NEWEST_ROUND,
            ROUND,
            height=6,
        ),
        graph(
            "Failing questions",
            "How many of the questions that the exporter asks of a node fail. Normal is 0. If all of a node's fail, "
            "it is down or unreachable; if one does, the dashboard Canton / Exporter says why.",
            FAILING,
            COUNT,
            height=6,
        ),
        graph(
            "Part of health checks that found a node down, or nothing",
            "Of the health checks within some minutes, the part that did not find the node up: it was down, or the "
            "check failed and so nothing is known. Normal is 0%. A part that stays between 0% and 100% is a brown-out: "
            "a node, or a replica behind a load balancer, that answers now and then.",
            f"{asked(RESULTS, BAD, by=NODE)} / {asked(RESULTS, by=NODE)}",
            RATIO,
            height=6,
        ),
    ]
