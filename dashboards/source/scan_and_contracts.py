"""Scans: how far they are, the contracts they count, rounds and the price of the coin."""

from dashboards.source.catalogue import NODE
from dashboards.source.looks import (
    COUNT,
    DATE,
    FACT,
    GROWTH,
    ROUND,
    SCAN,
    SECONDS,
    SNAPSHOT,
    USD,
    WHOLE,
    YES,
    Look,
    each_second,
    rises,
)
from dashboards.source.panels import Column, Made, graph, grid, number, timeline
from dashboards.source.queries import age, moment, most, of, top
from dashboards.source.screen import Screen, Section
from dashboards.source.thresholds import THRESHOLDS

COUNT_OLD = rises("s", warning="acsCountOld")

SNAPSHOT_AGE = age("canton_acs_snapshot_timestamp_seconds")
UNCOUNTED = f"{most('canton_acs_snapshot_timestamp_seconds')} - {most('canton_acs_counted_snapshot_timestamp_seconds')}"
OLDEST = "canton_acs_oldest_contract_timestamp_seconds"
# The scans of a network count the same contracts.
TEMPLATE = ("network", "template")
CONTRACTS = of("canton:acs_contracts", by=TEMPLATE)
FLOOR = THRESHOLDS["acsGrowthFloor"].default
WEEK = f"max by (network, template) ((avg_over_time({CONTRACTS}[1d]) > {FLOOR}) / avg_over_time({CONTRACTS}[7d]))"
GROWN = f"max by (network, template) (delta({CONTRACTS}[6h]) / 21600)"


def scan_and_contracts() -> Screen:
    return Screen(
        "scan-and-contracts",
        "Scan and contracts",
        "Scans, which are public servers of the network's history: how far they are, and the contracts they count.",
        [
            Section("How far the scans are", [*snapshots(), *scans()]),
            Section("Contracts of the network", contracts()),
            Section("Rounds and the coin", rounds()),
            Section("What else is looked up", [*lookups(), *bootstrapping()]),
        ],
        since="now-24h",
    )


def snapshots() -> list[Made]:
    return [
        number(
            "Age of the newest event",
            "How far each scan is behind the network: the age of the newest event that it shows. Seconds are normal. "
            "Ten minutes are worth a look: if all scans say so it is the network, if one does it is that scan.",
            age("canton_scan_record_timestamp_seconds", by=NODE),
            SCAN,
            width=8,
        ),
        number(
            "Age of the newest snapshot",
            "How old the scan's newest snapshot (a list of all active contracts) is. One is taken every three hours, "
            "so anything below is normal. Above five hours the next one is overdue.",
            SNAPSHOT_AGE,
            SNAPSHOT,
            width=8,
        ),
        number(
            "Counted behind the newest",
            "By how much the snapshot that the exporter has counted is older than the newest one. It is 0 once a "
            "count is done, and a count may take an hour. Above four hours counts fail or take too long.",
            UNCOUNTED,
            COUNT_OLD,
            width=8,
        ),
        graph(
            "Age of the newest event, over time",
            "How far each scan was behind the network. It should stay low and flat. A slope that rises by a minute "
            "each minute is a scan, or a network, that stands still.",
            age("canton_scan_record_timestamp_seconds"),
            SCAN,
            height=7,
        ),
        graph(
            "Age of the newest snapshot, over time",
            "The age of the newest snapshot and of the one that was counted. Both are saw-teeth of three hours, the "
            "second a little later. A tooth that goes on rising is a snapshot that was not taken, or not counted.",
            [
                (SNAPSHOT_AGE, "{{network}} {{target}} newest"),
                (age("canton_acs_counted_snapshot_timestamp_seconds"), "{{network}} {{target}} counted"),
            ],
            SNAPSHOT,
            height=7,
        ),
    ]


def scans() -> list[Made]:
    return [
        grid(
            "Scans",
            "What each scan is: its release, the network's migration id (which incarnation of the network it is), and "
            "of when its snapshots of all contracts are. Scans of one network should agree in the migration id; "
            "releases may differ for some days. A scan has two lines if its snapshot is of another migration than the "
            "scan. Empty is what a scan does not tell.",
            [
                Column("", most("canton_scan_info")),
                Column("", most("canton_acs_snapshot_info")),
                Column("Snapshot", moment("canton_acs_snapshot_timestamp_seconds"), DATE),
                Column("Counted snapshot", moment("canton_acs_counted_snapshot_timestamp_seconds"), DATE),
            ],
            width=16,
            height=6,
        ),
        grid(
            "Version of the question for contracts",
            "Which version of the question for active contracts each scan answered: v2 is the newest. The older ones "
            "end with releases to come. An older one here is fine as long as contracts are counted.",
            [Column("", most("canton_acs_endpoint_info"))],
            width=8,
            height=6,
        ),
        timeline(
            "Features",
            "The features that each scan says it supports. They are switched on by the network, mostly for good. A "
            "feature that goes off again, or that only some scans have, is worth a question to their operators.",
            most("canton_feature_supported"),
            FACT,
            width=24,
            height=6,
        ),
    ]


def contracts() -> list[Made]:
    return [
        graph(
            "Active contracts by template",
            "How many contracts of each template (a kind of contract, such as a coin) are active on the network, the "
            "twenty largest. Slow growth with use is normal. One that grows fast, with nothing to explain it, will "
            "make every node slower.",
            top(most("canton_acs_contracts", by=TEMPLATE)),
            COUNT,
            height=9,
        ),
        graph(
            "Last day to last week",
            "The average number of the last day in relation to that of the last week: 100% is no change. Above the "
            "dashed line it grows unusually fast. It needs a week of data before it means anything. Of the templates "
            f"with more than {FLOOR} contracts the twenty that grow most are shown.",
            top(WEEK),
            GROWTH,
            height=9,
            none=f"No template has more than {FLOOR} contracts, or dashboards/rules.yaml is not loaded into Prometheus",
        ),
        graph(
            "Growth",
            "How many contracts of a template came in a second, less those that ended, over six hours, the twenty "
            "that change most. Below 0 they become fewer. It moves with each new snapshot, that is every three hours. "
            "Up and down around 0 is normal.",
            f"{GROWN} and {top(f'abs({GROWN})')}",
            each_second("contracts"),
        ),
        graph(
            "Oldest contract by template",
            "How old the oldest active contract of a template is, the twenty oldest. For lasting things, such as "
            "rules or coins, it simply grows. For work to be done, such as requests, it should stay low: what should "
            "consume them no longer does if it grows.",
            top(age(OLDEST, by=TEMPLATE)),
            SECONDS,
        ),
        grid(
            "Contracts",
            "Every template that was counted, with how many contracts are active and how old the oldest is. 0 is a "
            "template that is asked for, or was there before, and has no contract now.",
            [
                Column("Contracts", most("canton_acs_contracts"), WHOLE),
                Column("Age of the oldest", age(OLDEST), SECONDS),
            ],
            height=9,
        ),
    ]


def rounds() -> list[Made]:
    state = ("network", "state")
    return [
        graph(
            "Rounds",
            "The number of the newest round that is open, and of the newest that pays rewards (issuing). Both should "
            "rise by one about every ten minutes. A flat line is a network that mints no rewards.",
            most("canton_round", by=(*NODE, "state")),
            COUNT,
            width=8,
        ),
        graph(
            "Since rounds opened",
            "How long ago the newest round in each state opened; one that is still to open counts below zero. "
            "Saw-teeth of about ten minutes are normal. Worry when the open one is above half an hour.",
            age("canton_round_opens_timestamp_seconds", by=state),
            ROUND,
            width=8,
        ),
        graph(
            "Price of the coin",
            "What a coin costs in US dollars, as the network's super validators have set it for the newest round. It "
            "decides how much traffic a coin buys. A price of 0, or scans that differ for long, would be wrong.",
            most("canton_coin_price_usd"),
            USD,
            width=8,
        ),
    ]


def lookups() -> list[Made]:
    return [
        timeline(
            "Updates that are looked up",
            "Whether the scan knows each update (a transaction) that it is asked about by its hash. It turns to yes "
            "within seconds after the update was made. One that stays at no was never made, or the scan is behind.",
            most("canton_update_indexed"),
            YES,
            height=6,
        ),
        grid(
            "When they were made",
            "When each update that was looked up was put in order by the network. An update without a line is one "
            "that the scan does not know. The moment never changes.",
            [Column("Made", moment("canton_update_record_timestamp_seconds"), DATE)],
            width=12,
            height=6,
        ),
    ]


def bootstrapping() -> list[Made]:
    return [
        grid(
            "Bootstrapping transactions",
            "What the scan gives to new members to join a synchronizer, in parts, with a hash of each. It should "
            "change only when the network changes its founders or keys. Two scans with different hashes do not agree.",
            [
                Column("", most("canton_synchronizer_bootstrapping_info")),
                Column("Size", most("canton_synchronizer_bootstrapping_size_bytes"), Look("decbytes")),
            ],
            height=6,
        )
    ]
