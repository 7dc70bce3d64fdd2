"""Transfers under way, and names that end."""

from dashboards.source.looks import COUNT, DATE, SECONDS, WORTH_A_LOOK, YES, falls, rises
from dashboards.source.panels import Column, Made, graph, grid, number, timeline
from dashboards.source.queries import age, left, moment, more, most, top
from dashboards.source.screen import Screen, Section

STUCK = rises("s", warning="transferStuckWarning", critical="transferStuckCritical")
NAME_LEFT = falls("s", critical="ansEntryCritical", warning="ansEntryWarning")
# What was sent has reached its receiver.
UNDER_WAY = 'status="created"'
COMMANDS = "canton_transfer_commands"
OLDEST = "canton_transfer_command_oldest_timestamp_seconds"


def transfers_and_names() -> Screen:
    return Screen(
        "transfers-and-names",
        "Transfers and names",
        "Transfers that external parties have ordered and that are under way or failed, and names of parties that end.",
        [Section("Transfers", [*transfers(), *failures()]), Section("Names", names())],
        since="now-24h",
    )


def transfers() -> list[Made]:
    return [
        number(
            "Oldest transfer under way",
            "How long the oldest transfer of each sender has been under way (created). Normal is up to some minutes. "
            "Above ten it is stuck, and those of the same sender wait behind it.",
            f"max by (network, target, sender) ({age(OLDEST, UNDER_WAY)})",
            STUCK,
            width=12,
            none="No transfer is under way, or the collector transfer_commands is off (it needs commands to look at)",
        ),
        number(
            "Transfers by status",
            "How many transfers of the last 24 hours are in each status: created is under way, sent has reached its "
            "receiver; failed, expired and withdrawn are bad ends; unknown is one the exporter cannot name. Single "
            "bad ends happen, many do not.",
            f"sum by (network, target, status) ({most(COMMANDS)})",
            COUNT,
            width=12,
        ),
        graph(
            "Transfers by status, over time",
            "The same over time. Created should go back to few soon after each transfer. A line of created that stays "
            "up, or of failed that climbs, is worth a look.",
            f"sum by (network, target, status) ({most(COMMANDS)})",
            COUNT,
        ),
        graph(
            "Oldest transfer under way, over time",
            "How long the oldest transfer of each sender has been under way. Short spikes are normal. A slope that "
            "rises steadily is a transfer that is stuck.",
            age(OLDEST, UNDER_WAY),
            STUCK,
            none="No transfer is under way, or the collector transfer_commands is off (it needs commands to look at)",
        ),
        grid(
            "Transfers",
            "Every sender that is looked at, with the number of its transfers in each status and the age of the "
            "oldest. Nonce is the number of a single transfer that was asked for; it is empty where the sender is "
            "followed.",
            [
                Column("Transfers", most(COMMANDS), COUNT),
                Column("Oldest created", moment(OLDEST), DATE),
                Column("Age of the oldest", age(OLDEST), SECONDS),
            ],
        ),
    ]


def failures() -> list[Made]:
    return [
        graph(
            "Failed transfers",
            "Transfers that were newly seen to have failed, by how: failed was refused, expired was too late, "
            "withdrawn was taken back by its sender. Normal is none. Those that had failed before the exporter "
            "started are not counted.",
            more("canton_transfer_commands_failed_total"),
            WORTH_A_LOOK,
            height=6,
            bars=True,
        ),
        graph(
            "Why transfers failed",
            "The same transfers by the reason that the network gave, such as a lack of funds or a receiver that takes "
            "no transfers without being asked (no preapproval). Normal is none. Other is a reason the exporter does "
            "not know: its log has the words. The twenty most frequent are shown.",
            top(more("canton_transfer_commands_failed_reason_total")),
            WORTH_A_LOOK,
            height=6,
            bars=True,
        ),
    ]


def names() -> list[Made]:
    return [
        number(
            "Time left of names",
            "How long each listed party still has its name on the network. Names are renewed 30 days before their "
            "end, so more than 28 days is normal. Below, renewal has failed; at the end anybody may take the name.",
            left("canton_ans_entry_expiry_timestamp_seconds", by=("network", "target", "name")),
            NAME_LEFT,
            width=12,
            height=7,
        ),
        timeline(
            "Parties with a name",
            "Whether each listed party has a name on the network. It should be yes throughout for those that bought "
            "one. No where it was yes means that the name ended, or was lost.",
            most("canton_ans_entry_found"),
            YES,
            height=7,
        ),
        grid(
            "Names",
            "Each listed party with its name and when that ends. Unknown is a name that never ends, as those of the "
            "network itself, or a party without a name. Ends within 28 days are worth a look.",
            [
                Column("Found", most("canton_ans_entry_found"), YES),
                Column("Ends", moment("canton_ans_entry_expiry_timestamp_seconds"), DATE),
                Column("Time left", left("canton_ans_entry_expiry_timestamp_seconds"), NAME_LEFT),
            ],
            height=6,
        ),
    ]
