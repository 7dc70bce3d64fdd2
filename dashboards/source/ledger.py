"""The participant's ledger: does it keep up, what is in it, what happens on it."""

from dashboards.source.catalogue import NODE
from dashboards.source.ledger_activity import happenings, outcomes
from dashboards.source.looks import (
    BLUE,
    COUNT,
    GREEN,
    LAG,
    RED,
    SECONDS,
    STUCK,
    WHOLE,
    YES,
    Look,
    each_second,
    rises,
)
from dashboards.source.panels import Column, Made, graph, grid, number, timeline
from dashboards.source.queries import age, least, most, slope, top
from dashboards.source.screen import Screen, Section

QUIET = (
    "On a quiet ledger it rises to half an hour and falls again; that is no lag. "
    "It counts only while record times move."
)
FAR = rises("s", warning="ledgerFarBehindWarning", critical="ledgerFarBehindCritical")
CONNECTED = Look("short", steps=((None, RED), (1, GREEN)), decimals=0)
OFFSETS = Look("short", steps=((None, BLUE),))


def ledger() -> Screen:
    return Screen(
        "ledger",
        "Ledger",
        "Participants: whether they keep up with the network, what is in their ledgers, and what happens on them.",
        [
            Section("Does it keep up?", [*lag(), *status()]),
            Section("What it is, and what is in it", [participants(), *contents()]),
            Section("What happens", [*happenings(), *outcomes()]),
        ],
    )


def lag() -> list[Made]:
    return [
        graph(
            "Lag",
            "How far a participant is behind the network, for each synchronizer (the service that orders "
            "transactions) that it is connected to. Up to 15 seconds is as exact as it can be measured and so is "
            f"normal. From the dashed lines on, it answers too late and transactions fail. {QUIET}",
            most("canton_ledger_lag_seconds"),
            LAG,
        ),
        graph(
            "Age of the newest record time",
            "How long ago the network put its time on the newest thing that the participant has processed. It follows "
            "the lag while there is something to process; on a quiet network it may grow to half an hour. Worry where "
            "it grows on and on: after 30 days the network drops a participant for good.",
            age("canton_ledger_checkpoint_timestamp_seconds"),
            FAR,
        ),
        number(
            "Last saw the network",
            "As beside, but kept while the participant is dead, so that it goes on counting. Normal is seconds to "
            "minutes. A day is worth a ticket; after a week it is urgent, and after 30 days too late.",
            f"time() - {most('canton:ledger_newest_checkpoint_timestamp_seconds')}",
            FAR,
        ),
        number(
            "Connected synchronizers",
            "To how many synchronizers (services that order transactions) a participant is connected. Normal is one "
            "or more. At 0 it can neither send nor receive anything.",
            least("canton_ledger_connected_synchronizers"),
            CONNECTED,
        ),
        graph(
            "Lag in offsets",
            "How many places (offsets) of the ledger came after the last one whose time is known. Some are normal on "
            "a busy ledger. If the number grows on and on, the participant no longer makes checkpoints; participants "
            "from 3.6 on tell the time directly and have no such number.",
            most("canton_ledger_lag_offsets"),
            OFFSETS,
            height=5,
        ),
    ]


def status() -> list[Made]:
    return [
        timeline(
            "Stands still",
            "Whether the ledger has stood still for longer than a healthy one ever does (45 minutes, unless set "
            "otherwise). Normal is that it moves; it is unknown for as long after the start. If it stands still while "
            "the network goes on, the participant hangs.",
            most("canton:ledger_stuck"),
            STUCK,
            height=5,
        ),
        graph(
            "Growth of the ledger",
            "How fast the end of the ledger moves on: each transaction that concerns the participant adds a place "
            "(offset). What is normal depends on the apps that use it, so compare with yesterday. A busy ledger that "
            "falls to 0 is worth a look; below 0 it was reset.",
            slope("canton_ledger_end_offset"),
            each_second("offsets"),
            height=5,
        ),
    ]


def participants() -> Made:
    return grid(
        "Participants",
        "What each participant is and where it is: its release, what its times are read from (checkpoint is exact to "
        "15 seconds, ledger_end is exact), and offsets, which are places in its ledger. Read until is how far the "
        "exporter has followed its updates, if it does. Checkpoint delay is how old a checkpoint may be by design. One "
        "that does not show its vetting cannot be compared with what the network's rules require.",
        [
            Column("", most("canton_ledger_info", by=(*NODE, "version", "participant"))),
            Column("", most("canton_ledger_lag_source_info")),
            Column("Connected to", least("canton_ledger_connected_synchronizers"), CONNECTED),
            Column("Ledger end", most("canton_ledger_end_offset"), WHOLE),
            Column("Checkpoint", most("canton_ledger_checkpoint_offset"), WHOLE),
            Column("Pruned until", most("canton_ledger_pruned_offset"), WHOLE),
            Column("Read until", most("canton_ledger_updates_offset"), WHOLE),
            Column("Checkpoint delay", most("canton_ledger_checkpoint_max_delay_seconds"), SECONDS),
            Column("Packages", most("canton_ledger_packages"), WHOLE),
            Column("Shows vetting", least("canton_ledger_vetting_readable"), YES),
        ],
        height=6,
    )


def contents() -> list[Made]:
    return [
        grid(
            "Synchronizers",
            "The synchronizers (services that order transactions) that each participant is connected to, by the name "
            "that it gave them. A line that is missing is a connection that is lost.",
            [Column("", most("canton_ledger_connected_synchronizer_info"))],
            width=12,
            height=6,
        ),
        graph(
            "Not yet pruned",
            "How much of the ledger's past is kept: its end less the place up to which it was pruned (deleted to save "
            "room). A saw-tooth is normal where pruning is scheduled, a steady rise where it is not. Worry if a "
            "saw-tooth turns into a rise: then the database grows without end.",
            f"{most('canton_ledger_end_offset')} - {most('canton_ledger_pruned_offset')}",
            OFFSETS,
            height=6,
        ),
        graph(
            "Parties",
            "How many parties (identities that own and sign contracts) the participant knows; local true are those "
            "that it hosts itself. It grows slowly. A sudden fall means that something was moved or lost.",
            most("canton_ledger_parties"),
            COUNT,
            height=7,
        ),
        graph(
            "Packages",
            "How many packages (programs that contracts are made of) the participant has. It grows by some with each "
            "release of an app or the network. A fall is unusual: packages are hardly ever removed.",
            most("canton_ledger_packages"),
            COUNT,
            height=7,
        ),
        graph(
            "Active contracts by template",
            "How many contracts of each template (a kind of contract) are active on the participant. What is normal "
            "is up to the apps. A template that only ever grows is not cleaned up after, which makes everything "
            "slower. The twenty largest are shown.",
            top(most("canton_ledger_contracts")),
            COUNT,
            width=24,
        ),
    ]
