"""The metric reference: every metric, and the values of labels that need explaining."""

from collections.abc import Iterable

from exporter.collectors import discover, metrics_of
from exporter.metrics import self_metrics
from exporter.metrics.metric import Metric
from tools.markdown import NOTICE, table

VALUES = """\
A *watch* is one collector on one target.

| label | value | meaning, and what to do |
| --- | --- | --- |
| `reason` | `unreachable` | no name, no connection, no TLS, or a broken answer: is the node up, is the url right? |
| | `timeout` | no answer in time: the node is slow, or more than the collector's `timeout` is needed |
| | `unauthorized` | 401 or 403, or the token could not be read: renew it, or give its user what the collector needs |
| | `refused` | another error, a redirect, or an HTML page: is this the API's address? the log has what was said |
| | `malformed` | an answer that is not the documented one |
| | `limited` | 429: lower `budget`, or run less often |
| | `too_large` | 413, or more than the exporter reads: the log names the limit, and what asks for less |
| | `budget` | our rate limit (`budget`) allowed no request: raise it, or run less often; never a fault of the node |
| | `wrong_kind` | another kind of node answers at the url: the log says which `kind` to write |
| | `cancelled` | of requests: the run or the exporter ended |
| | `bug` | of the exporter: the log has a traceback, please report it |
| `code` | `200` ... | the status of the answer; empty if none came, and then there is a `reason` |
| `renewed_by` | `exporter`, `file`, `nobody` | who sees to the next token |
| `source` | `checkpoint` | record times come from an offset checkpoint: up to 15 s of lag is usual |
| | `ledger_end` | they come with the ledger's end (from 3.6 on) |

A node that does not have an operation is not failing: `canton_collector_success` is 0, `canton_collector_supported` is
0 and there is no `canton_collector_failure_info`, which is what a rule for failures reads. Where it surprises, the url
or the kind may be another's.

The process's own `process_*` and `python_*` come from the Prometheus library; `--web.disable-exporter-metrics` leaves
them out.

"""


def metrics_page() -> str:
    declared = [metric for metric in self_metrics.ALL if metric.family is None]
    parts = [
        NOTICE,
        "# Metrics\n\n",
        "Every series of a target carries `target`, `network`, `role` and the target's own `labels`. ",
        "Values are refreshed on a schedule, not by the scrape: a count takes minutes, nodes are remote, and two ",
        "Prometheus replicas must not double the load. After a failed run `canton_collector_success` is 0 at once; ",
        "the last good values stay for `stale_after` and then go. No number is ever frozen.\n\n",
        VALUES,
        "## The exporter and its watches\n\n",
        metric_table(declared),
    ]
    for name in discover():
        parts += [f"\n## [{name}](collectors/{name}.md)\n\n", metric_table(metrics_of(name))]
    return "".join(parts)


def metric_table(metrics: Iterable[Metric]) -> str:
    rows = [
        (f"`{each.name}`", each.type, ", ".join(f"`{label}`" for label in each.labels), each.help) for each in metrics
    ]
    return table(["Metric", "Type", "Labels", "Meaning"], rows)
