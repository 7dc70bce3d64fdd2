"""The first dashboard an operator opens: is it us or the network, since when, what now."""

from dashboards.looks import (
    ADVANCES,
    BLUE,
    COUNT,
    FROM_NOW,
    ORANGE,
    READY,
    RED,
    UP,
    US_OR_NETWORK,
    WORTH_A_LOOK,
    Look,
    rises,
)
from dashboards.panels import Column, Made, graph, grid, number, timeline
from dashboards.queries import age, least, most, of
from dashboards.screen import Screen, Section
from dashboards.thresholds import THRESHOLDS

NODE = ("network", "target")
LAG = rises("s", warning="ledgerLagHigh", critical="ledgerLagCritical")
ROUND = rises("s", warning="roundOldWarning", critical="roundOldCritical")
SNAPSHOT = rises("s", warning="acsSnapshotWarning", critical="acsSnapshotCritical")
SCAN = rises("s", warning="scanBehindWarning", critical="scanBehindCritical")

# An alert has the labels of its own expression: those of the network as a whole name no target.
# The watchdog fires while all is well.
OURS = 'alertname=~"Canton.*",alertname!="CantonWatchdog",network=~"$network|",target=~"$target|"'
FIRING = f'ALERTS{{alertstate="firing",{OURS}}}'
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
VERSION = f"max by (network, target, version) ({of('canton_ledger_info')} or {of('canton_scan_info')})"

LOAD = "unknown: load dashboards/rules.yaml into Prometheus, whose recording rules say it"


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
            "says the network, there is nothing to mend here. Unknown means that nothing tells: no scan is watched.",
            most("canton:us_or_network"),
            US_OR_NETWORK,
            width=12,
            none=LOAD,
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
            none=LOAD,
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
            "How many alerts of the exporter's rules fire now, for what is chosen above. Normal is none; the table "
            "below says which they are and what to do.",
            f"count({FIRING}) or vector(0)",
            WORTH_A_LOOK,
            width=4,
            legend="alerts",
        ),
    ]


def nodes() -> Made:
    return grid(
        "Nodes",
        "Every node that is watched, a line each. Up and ready should be green; lag is how far a participant is "
        "behind the network (under a minute is well), event age the same of a scan; failing questions are those that "
        "the exporter asks and gets no good answer to (normal is 0). A cell that says unknown is not asked of this "
        "kind of node, or was not answered.",
        [
            Column("", most("canton_target_info", by=("network", "target", "role", "kind"))),
            Column("Up", least("canton_up"), UP),
            Column("Ready", least("canton_ready"), READY),
            Column("Us or the network", most("canton:us_or_network"), US_OR_NETWORK),
            Column("Lag", most("canton_ledger_lag_seconds", by=NODE), LAG),
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
        colors={"severity": {"critical": RED, "warning": ORANGE, "info": BLUE}},
        none="No alert fires, or dashboards/rules.yaml is not loaded into Prometheus",
    )


def history() -> list[Made]:
    return [
        timeline(
            "Us or the network, over time",
            "The answer of above for every moment: green healthy, red us, blue the network. Where red or blue begins, "
            "the trouble began. A gap means that it was unknown.",
            most("canton:us_or_network"),
            US_OR_NETWORK,
            none=LOAD,
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
            none=LOAD,
        ),
    ]


def measures() -> list[Made]:
    return [
        graph(
            "Lag of participants",
            "How far each of your participants is behind the network, in time. Up to 15 seconds is as exact as it can "
            "be measured, so that is normal. From a minute on, transactions begin to fail.",
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
    ]
