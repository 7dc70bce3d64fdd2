"""The exporter itself: whether its questions are answered, what it asks of the nodes, and what it needs."""

from dashboards.source.catalogue import NODE
from dashboards.source.exporter_process import bounds, clocks, exporters, process, tokens, trust, work
from dashboards.source.looks import (
    BYTES_A_SECOND,
    GREEN,
    GREY,
    RATIO,
    RED,
    SECONDS,
    WHOLE,
    WORTH_A_LOOK,
    YES,
    Look,
    each_second,
    states,
)
from dashboards.source.panels import Column, Made, graph, grid, timeline
from dashboards.source.queries import RATE, age, asked, least, more, most, of, top
from dashboards.source.screen import Screen, Section

WATCH = ("network", "target", "collector")
ROUTE = ("network", "target", "route")
FAILS = states((1, "fails", RED))
RUN = states((1, "ok", GREEN), (0, "failed", RED), (2, "not there", GREY))

LATENCY = (
    f"sum by (network, target, route) (rate({of('canton_http_request_duration_seconds_sum')}[{RATE}]))"
    f" / (sum by (network, target, route) (rate({of('canton_http_request_duration_seconds_count')}[{RATE}])) > 0)"
)
TAKES = f"{most('canton_collector_duration_seconds')} / {most('canton_collector_interval_seconds')}"
SINCE_RUN = f"({age('canton_collector_last_run_timestamp_seconds')}) / {most('canton_collector_interval_seconds')}"
INTERVALS = Look("none", decimals=1)
SUCCESS = least("canton_collector_success")
FAILURE = most("canton_collector_failure_info", by=WATCH)
# Where a node does not have the operation, and says so, no success is no failure.
LAST_RUN = (
    f"{SUCCESS} + 2 * ({most('canton_collector_supported')} == bool 0)"
    f" unless on (network, target, collector) {FAILURE} or {SUCCESS}"
)
SUCCEEDED = f"({most('canton_collector_last_success_timestamp_seconds')} > 0)"


def exporter_itself() -> Screen:
    return Screen(
        "exporter",
        "Exporter",
        "The exporter itself: whether its questions are answered, what it asks of the nodes, tokens, and its process.",
        [
            Section("Questions", [watches(), *failures(), *runs()]),
            Section("Requests", [*requests(), *politeness()]),
            Section("Tokens, certificates and clocks", [*trust(), *tokens(), *clocks()]),
            Section("The process", [exporters(), *process(), *work(), *bounds()]),
        ],
    )


def watches() -> Made:
    return grid(
        "Questions",
        "Every question (collector) that the exporter asks of every node. Ok with a young last success is normal. A "
        "failed one says its reason: unreachable, timeout, unauthorized (the token), refused, malformed, limited "
        "(asked too much), too_large or bug. Not there is no failure: this node does not have the operation.",
        [
            Column("Last run", LAST_RUN, RUN),
            Column("Supported", most("canton_collector_supported"), YES),
            Column("", most("canton_collector_failure_info")),
            Column("Since success", f"time() - {SUCCEEDED}", SECONDS),
            Column("Since run", age("canton_collector_last_run_timestamp_seconds"), SECONDS),
            Column("Takes", most("canton_collector_duration_seconds"), SECONDS),
            Column("Every", most("canton_collector_interval_seconds"), SECONDS),
            Column("Runs", most("canton_collector_runs_total"), WHOLE),
        ],
        height=12,
    )


def failures() -> list[Made]:
    return [
        timeline(
            "Failing questions, over time",
            "Which question of which node failed, with the reason, and when. Nothing is normal. If all of one node "
            "fail it is the node; if one question fails on all nodes, ask what changed in its options or the "
            "network's release.",
            most("canton_collector_failure_info"),
            FAILS,
            height=9,
            none="No question fails, or the exporter is not scraped",
        ),
        graph(
            "Part of runs that failed",
            "Which part of the runs of the last hour failed, for each question. 0% is normal, a few per cent are the "
            "internet. A question at 100% tells nothing at all any more. The twenty worst are shown.",
            top(most("canton:collector_failures:ratio1h")),
            RATIO,
            height=9,
        ),
        graph(
            "Failures by reason",
            "How many runs failed in a second, by reason. Nothing is normal. Unreachable and timeout are the node or "
            "the way to it; unauthorized the token; limited means to ask less often; bug is worth a report.",
            top(asked("canton_collector_failures_total", by=(*NODE, "reason"))),
            each_second("failures"),
            height=7,
            none="No run has failed since the exporter started, or the exporter is not scraped",
        ),
        graph(
            "Since the last run, in intervals",
            "How long ago each question was last asked to the end, well or not, in relation to how often it is due. A "
            "saw-tooth up to 1 is normal, or up to 2 where runs take long. A line that rises on and on is a question "
            "that hangs, or is no longer asked. The twenty highest are shown.",
            top(SINCE_RUN),
            INTERVALS,
            height=7,
        ),
    ]


def runs() -> list[Made]:
    return [
        graph(
            "How long runs take, of their interval",
            "The time a run takes in relation to how often it is due. Far below 100% is normal. Above 100% runs come "
            "late, as a count of contracts may; then ask less often, or raise the budget. The twenty "
            "longest are shown.",
            top(TAKES),
            RATIO,
        ),
        graph(
            "Since the last success",
            "How long ago each question was last answered well. A saw-tooth of its interval is normal. A slope that "
            "only rises is a question that fails, and its values have gone from the page. The twenty oldest are shown.",
            top(f"time() - {SUCCEEDED}"),
            SECONDS,
        ),
        graph(
            "Skipped runs",
            "Runs that were due but did not start, because the one before had not ended. Nothing is normal. Many mean "
            "that the interval is too short for this node.",
            top(more("canton_collector_runs_skipped_total")),
            WORTH_A_LOOK,
            height=6,
            bars=True,
        ),
        graph(
            "Dropped samples",
            "Values that were left out, because a question had more series than it may show (max_series). Nothing is "
            "normal. Otherwise narrow its options, or raise the limit.",
            top(more("canton_collector_samples_dropped_total")),
            WORTH_A_LOOK,
            height=6,
            bars=True,
        ),
    ]


def requests() -> list[Made]:
    return [
        graph(
            "Requests by answer",
            "How many requests the exporter makes of each node in a second, by the status of the answer: 200 is well, "
            "4xx and 5xx are not; a word is why no whole answer came. Some 404 are normal, where "
            "something is looked for that is not there. The twenty most frequent are shown.",
            top(asked("canton_http_requests_total", by=(*NODE, "code", "reason"))),
            Look("reqps"),
        ),
        graph(
            "Requests by operation",
            "The same by what was asked for (route). It shows which operation costs most. Bursts are normal where "
            "contracts are counted. The twenty most frequent are shown.",
            top(asked("canton_http_requests_total", by=(*ROUTE, "method"))),
            Look("reqps"),
        ),
        graph(
            "Mean time of an answer",
            "How long a node takes for an answer, by operation, in the last minutes. It is flat for a healthy node. A "
            "rise of all operations is a node that is overloaded, or a slow way to it. The twenty slowest are shown.",
            top(LATENCY),
            SECONDS,
        ),
        graph(
            "Mean time of an answer, 15 minutes",
            "The same over 15 minutes, as the recording rules keep it: smoother, and for longer. Compare today with "
            "last week. Worry when it doubles.",
            top(most("canton:http_request_seconds:mean15m")),
            SECONDS,
        ),
    ]


def politeness() -> list[Made]:
    return [
        graph(
            "Bytes of answers",
            "How much each node sends to the exporter in a second, by operation. Counts of contracts are the largest "
            "part. It matters where traffic between networks is paid for.",
            top(asked("canton_http_response_bytes_total", by=ROUTE)),
            BYTES_A_SECOND,
            width=8,
        ),
        graph(
            "Asked too much",
            "How often a node answered with 429, which says that we ask too much. Nothing is normal. Otherwise lower "
            "the budget; others behind the same address may take their part too.",
            more("canton_http_throttled_total"),
            WORTH_A_LOOK,
            width=8,
            bars=True,
        ),
        graph(
            "Waiting for the budget",
            "Which part of the time requests waited, because the exporter limits how often it asks a host, or because "
            "a node asked to wait (429). Some is normal while contracts are counted. Above 100%, several wait at "
            "once and values come late.",
            asked("canton_http_budget_wait_seconds_total", by=NODE),
            RATIO,
            width=8,
        ),
    ]
