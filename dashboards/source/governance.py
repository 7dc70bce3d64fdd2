"""The network's rules and what follows from them: packages, upgrades, rewards and traffic."""

from dashboards.source.catalogue import NODE
from dashboards.source.governance_costs import rewards, traffic, weights
from dashboards.source.looks import (
    BAD,
    BLUE,
    COUNT,
    DATE,
    FROM_NOW,
    GREEN,
    NUMBER,
    ORANGE,
    WHOLE,
    WORTH_A_LOOK,
    Look,
)
from dashboards.source.panels import Column, Made, graph, grid, number
from dashboards.source.queries import everywhere, least, left, moment, more, most, of
from dashboards.source.screen import Screen, Section, annotation
from dashboards.source.thresholds import THRESHOLDS, default

PACKAGE = ("network", "package", "version")
BY = f"({', '.join(PACKAGE)})"
COMING = Look("s", steps=((None, ORANGE), (default("upgradeWarning"), BLUE), (default("upgradeInfo"), GREEN)))

VALUE = "canton_coin_rules_config_value"
BY_FIELD = ("network", "field")
VALUES = most(VALUE, by=BY_FIELD)
CHANGES = f"max by (network, field) (changes({of(VALUE, by=BY_FIELD)}[$__range] @ end()))"
CHANGED = f"{VALUES} and on (network, field) ({CHANGES} > 0)"
CHOSEN = most(VALUE, 'field=~"$field"', by=BY_FIELD)

IGNORED = f'package=~"splice-.+",package!~"{THRESHOLDS["packagesIgnored"].default}"'
REQUIRED = most("canton_coin_rules_required_package_info", IGNORED, by=PACKAGE)
OURS = 'role="own"'
VETTED = most("canton_ledger_vetted_package_info", OURS, by=(*NODE, "package", "version"))
# A ledger that tells what it has vetted, if only nothing.
LEDGERS = most("canton_ledger_vetted_packages", OURS, by=NODE)
# Of the network, whatever target is chosen: what its rules require, and how many of our participants have it.
ALL_VETTED = everywhere(VETTED)
HAVE = f"(count by {BY} ({ALL_VETTED} and on {BY} {REQUIRED}) or 0 * {REQUIRED})"
LACK = f"{REQUIRED} * on (network) group_left () count by (network) ({everywhere(LEDGERS)}) - on {BY} {HAVE}"
MISSING = (
    f"count by (network) ({REQUIRED}) - on (network) group_right () "
    f"(count by (network, target) ({VETTED} and on {BY} {REQUIRED}) or 0 * {LEDGERS})"
)

EVERY_CHANGE = annotation(
    "Changes of the rules",
    moment("canton_coin_rules_created_timestamp_seconds", by=("network",)),
    "The rules of {{network}} changed",
    "The exporter's log names each field that changed, with its old and new value.",
)


def governance() -> Screen:
    return Screen(
        "governance",
        "Governance",
        "The network's rules and their changes, packages that everybody needs, upgrades, rewards and traffic.",
        [
            Section("The rules", [*rules(), *changes(), *values()]),
            Section("Packages that the rules require", packages()),
            Section("Upgrades of the synchronizer", upgrades()),
            Section("Rewards", [*weights(), *rewards()]),
            Section("Traffic", traffic()),
        ],
        since="now-7d",
        variables={"field": f"label_values({of(VALUE)}, field)"},
        annotations=[EVERY_CHANGE],
    )


def rules() -> list[Made]:
    info = most("canton_coin_rules_info", by=("network", "contract_id"))
    return [
        number(
            "Rules last changed",
            "When the network's rules (fees, rewards, required packages) were last changed by a vote of its super "
            "validators. Weeks or months ago is normal. A change of today is worth reading: the purple marks below "
            "show when each was.",
            moment("canton_coin_rules_created_timestamp_seconds", by=("network",)),
            FROM_NOW,
            legend="{{network}}",
        ),
        number(
            "Next scheduled change",
            "When the next change that was already voted for comes into force. None is normal. If there is one, read "
            "what it changes before it does.",
            moment("canton_coin_rules_scheduled_change_timestamp_seconds", by=("network",)),
            FROM_NOW,
            legend="{{network}}",
            none="None is scheduled, or no target tells (collector coin_rules)",
        ),
        number(
            "Other rules shown",
            "How many other rules the scans of a network show, beside the newest. Normal is 0: they agree. 1 for some "
            "minutes is a change that not all have seen; for longer, one scan is behind or belongs to another "
            "network.",
            f"count by (network) ({info}) - 1",
            BAD,
            legend="{{network}}",
        ),
    ]


def changes() -> list[Made]:
    return [
        graph(
            "Changes seen",
            "When the exporter saw the rules change, as each scan told: a new contract, or a scheduled value that "
            "became due. A bar is a change; several scans should show it within minutes. Nothing is normal.",
            more("canton_coin_rules_changes_total"),
            WORTH_A_LOOK,
            width=6,
            height=5,
            bars=True,
        ),
        grid(
            "Rules in force",
            "The contract that holds the rules, as each scan shows it, and a hash of the configuration in it. Two "
            "scans of a network with different contracts do not agree. Hashes may differ where releases do.",
            [
                Column("Changed", moment("canton_coin_rules_created_timestamp_seconds"), DATE),
                Column("", most("canton_coin_rules_info")),
            ],
            height=6,
        ),
    ]


def values() -> list[Made]:
    return [
        graph(
            "Values that changed",
            "The numbers of the rules that changed within the time shown, such as a fee or a limit. A purple mark is "
            "the moment of the change. Nothing is normal: rules change rarely.",
            CHANGED,
            NUMBER,
            height=9,
            none="No value changed within the time shown, or no target tells (collector coin_rules)",
        ),
        graph(
            "Chosen values",
            "The numbers of the rules that are chosen above as field. The scale is logarithmic, because fees are "
            "small and limits large. Flat lines are normal; a step is a change of the rules.",
            CHOSEN,
            NUMBER,
            height=9,
            log=True,
        ),
        grid(
            "Values in force",
            "Every number of the rules in force, by its path in the configuration. It is for looking things up; the "
            "filter of a column finds a fee. Where scans do not agree this shows the larger.",
            [Column("Value", VALUES, NUMBER)],
            height=8,
        ),
    ]


def packages() -> list[Made]:
    return [
        number(
            "Required packages that a ledger lacks",
            "How many packages (programs of contracts) the rules require and your participant has not vetted (agreed "
            "to run). Normal is 0. From 1 on, transfers and rewards of its parties stop, now or with the new version.",
            MISSING,
            BAD,
            width=8,
            height=8,
        ),
        grid(
            "Required against vetted",
            "Each package that the rules require, how many of your participants have vetted it (agreed to run it), "
            "and how many lack it. A red line is what to upload and vet. Packages for super validators only are left "
            "out.",
            [Column("Vetted by", HAVE, WHOLE), Column("Lacked by", LACK, BAD)],
            width=16,
        ),
        grid(
            "Required by each scan",
            "The package versions that the rules require, as each scan shows them, those for super validators only "
            "too. All scans of a network should show the same. A new version here comes with a change of the rules.",
            [Column("", most("canton_coin_rules_required_package_info"))],
            width=10,
        ),
        grid(
            "Vetted",
            "The package versions that each participant has vetted and that are valid now, for each synchronizer. "
            "Several versions of a package side by side are normal. One that vanishes was withdrawn, or its time is "
            "over; most have no end.",
            [
                Column("", most("canton_ledger_vetted_package_info")),
                Column("Valid until", moment("canton_ledger_vetted_package_valid_until_timestamp_seconds"), DATE),
            ],
            width=14,
        ),
        graph(
            "Vetted packages",
            "How many package versions each participant has vetted, of those looked at. It rises with each release. A "
            "fall is worth a look: contracts of a package that is not vetted cannot be used.",
            least("canton_ledger_vetted_packages"),
            COUNT,
            width=24,
            height=6,
        ),
    ]


def upgrades() -> list[Made]:
    none = "No upgrade is announced, or no target tells (collector synchronizer_upgrade)"
    return [
        number(
            "Upgrade in",
            "How long it is until the synchronizer (the service that orders transactions) is replaced by its "
            "successor. Most of the time none is announced. From a week on plan for it; on the last day every node "
            "has to run a release that can follow.",
            left("canton_synchronizer_upgrade_timestamp_seconds", by=("network", "successor")),
            COMING,
            width=8,
            none=none,
        ),
        number(
            "Freeze in",
            "How long it is until parties, packages and participants can no longer be changed, because an upgrade is "
            "near. Below zero they are frozen now. Do what you have to change before.",
            left("canton_synchronizer_freeze_timestamp_seconds", by=("network", "successor")),
            COMING,
            width=8,
            none=none,
        ),
        grid(
            "Serial of the synchronizer",
            "The number of the synchronizer in use; each upgrade raises it by one. All scans of a network should show "
            "the same, but for minutes around an upgrade.",
            [Column("", most("canton_synchronizer_serial_info"))],
            width=8,
            height=5,
        ),
    ]
