"""What happens on a participant's ledger: updates, events, and what became of commands."""

from dashboards.source.catalogue import NODE
from dashboards.source.looks import COUNT, SECONDS, WORTH_A_LOOK, Look, each_second
from dashboards.source.panels import Made, graph
from dashboards.source.queries import age, more, pace, top

EVENTS = pace("canton_ledger_events_total")


def happenings() -> list[Made]:
    return [
        graph(
            "Updates",
            "How many updates the participant received in a second: transactions, contracts on their way between "
            "synchronizers (reassignment), and changes of who is where (topology). The pace is that of your apps. "
            "Nothing at all for a long time, on a ledger that was busy, is worth a look.",
            pace("canton_ledger_updates_total"),
            each_second("updates"),
        ),
        graph(
            "Events",
            "What those updates did in a second: contracts created, archived (ended) and exercised (used), or moved "
            "(assigned, unassigned). Created and archived should keep up with each other over a day. If more is "
            "created than archived for long, contracts pile up.",
            f"sum by (network, target, kind) ({pace('canton_ledger_events_total', by=(*NODE, 'kind', 'template'))})",
            each_second("events"),
        ),
        graph(
            "Events by template",
            "The same for each template (a kind of contract), the twenty busiest of them, each on the participant "
            "where it is busiest. It shows which app is busy. One that suddenly leads by far may be in a loop.",
            top(f"max by (network, template) (sum by (network, target, template) ({EVENTS}))"),
            each_second("events"),
        ),
        graph(
            "Age of the newest update",
            "How long ago the newest update was made that the exporter has read. On a busy ledger it is seconds; on a "
            "quiet one it grows until something happens. If updates flow and this grows, the exporter does not keep "
            "up.",
            age("canton_ledger_updates_timestamp_seconds"),
            SECONDS,
        ),
        graph(
            "Rights of participants",
            "How often a participant was given the right to act for a party (added), the right was changed, taken "
            "away (revoked), or the party began to move there (onboarding). Normal is hardly ever, and known to you. "
            "One that you do not know of is worth a question; other is a kind this exporter does not know.",
            more("canton_ledger_topology_events_total"),
            COUNT,
            width=24,
            height=6,
            bars=True,
        ),
    ]


def outcomes() -> list[Made]:
    return [
        graph(
            "Completed commands",
            "How many commands of a user came to an end in a second, by how: code 0 was accepted, any other is a gRPC "
            "status and was refused (5 not found, 9 a wrong state, 10 overtaken by another, 14 unavailable). Single "
            "refusals are normal; worry where they are more than what is accepted. The twenty most frequent are shown.",
            top(pace("canton_ledger_completions_total")),
            each_second("commands"),
        ),
        graph(
            "Rejected commands",
            "How many commands of a user were rejected, by Canton's error code: what tells a contract that another "
            "command holds (LOCKED) from a network that is too slow (TIMED_OUT, TIMEOUT). Single ones are normal. One "
            "code that stays is worth a look: its name is in Canton's documentation. The twenty most frequent are "
            "shown.",
            top(more("canton_ledger_completions_rejected_total")),
            WORTH_A_LOOK,
            bars=True,
        ),
        graph(
            "Traffic paid by user",
            "How many bytes of traffic (what the network charges for sending) each user's commands cost in a second, "
            "rejected ones too. A user whose share rises without more business sends more or larger commands, or "
            "retries what is rejected.",
            pace("canton_ledger_completions_traffic_cost_bytes_total"),
            Look("Bps"),
        ),
        graph(
            "Traffic paid",
            "How many bytes of traffic (what the network charges for sending) the participant paid for in a second. "
            "It follows your own transactions. A jump without more transactions means that they have become larger.",
            pace("canton_ledger_traffic_cost_bytes_total"),
            Look("Bps"),
        ),
        graph(
            "Gaps in what was read",
            "How often the exporter missed updates: they were pruned before it read them, or the ledger was reset. "
            "Normal is never. After a gap the numbers above are too low for that time, and right again afterwards.",
            top(more("canton_ledger_updates_gaps_total")),
            WORTH_A_LOOK,
            width=24,
            height=5,
            bars=True,
        ),
    ]
