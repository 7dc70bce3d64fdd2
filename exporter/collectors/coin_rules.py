"""What the network's coin rules are, when they changed and when they will: fees, limits and required packages.

Asks: POST /v0/coin-rules (document) or /v0/amulet-rules (network), with the contract it knows already.
Needs: nothing; a scan knows no tokens.
Costs: one small request a run, and one larger answer when the rules changed.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Any, NamedTuple

import msgspec

from exporter.api.json_fields import Fields, differences, digest, leaves, read_number, show
from exporter.api.scan import template_name
from exporter.collector import (
    Kind,
    Malformed,
    Memo,
    Metric,
    Moment,
    Name,
    Node,
    RunOutput,
    Strict,
    Struct,
    TooLarge,
    Yields,
    collector,
    decode_part,
    limits,
    seconds,
)

SOURCE = "POST /v0/coin-rules or /v0/amulet-rules"
INFO = Metric(
    "canton_coin_rules_info",
    "Current coin rules; always 1. config_sha256 is the hash of their configuration as canonical JSON without nulls.",
    ("contract_id", "template", "synchronizer", "config_sha256"),
    source=SOURCE,
)
CREATED = Metric(
    "canton_coin_rules_created_timestamp_seconds",
    "Unix time in seconds when the current contract of the coin rules was created; a vote that changes "
    "them creates a new one.",
    source=SOURCE,
)
CHANGES = Metric(
    "canton_coin_rules_changes_total",
    "Changes of the coin rules seen since the exporter started: a new contract, or a scheduled change that came due.",
    source=SOURCE,
)
SCHEDULED = Metric(
    "canton_coin_rules_scheduled_change_timestamp_seconds",
    "Unix time in seconds of the next scheduled change of the coin rules; absent if none is scheduled.",
    source=SOURCE,
)
PACKAGE = Metric(
    "canton_coin_rules_required_package_info",
    "Package version that the coin rules require participants to vet; always 1.",
    ("package", "version"),
    source=SOURCE,
)
VALUE = Metric(
    "canton_coin_rules_config_value",
    "Number in the current coin rules; the label field is its dotted path, and the unit is that of the field.",
    ("field",),
    source=SOURCE,
)

MOST_SCHEDULED = 20
"""How many changes may be scheduled at once; today's networks have none."""
MOST_NEWS = 2
"""How many of them are logged each by itself."""
PACKAGE_CONFIG = "packageConfig."
MOST_BYTES = 2**20
"""How large the rules may be; those of today's networks have a hundredth of it."""
PACKAGES = {
    "amulet": "splice-amulet",
    "amuletNameService": "splice-amulet-name-service",
    "dsoGovernance": "splice-dso-governance",
    "validatorLifecycle": "splice-validator-lifecycle",
    "wallet": "splice-wallet",
    "walletPayments": "splice-wallet-payments",
}


class Options(Strict):
    include: list[str] = ["*"]
    """Which numbers of the configuration to show: patterns of dotted paths, such as `transferConfig.*`."""
    exclude: list[str] = []
    """Which of them to leave out."""


class Contract(Struct):
    template_id: Name
    contract_id: Name
    payload: msgspec.Raw
    created_at: Moment


class Update(Struct):
    contract: Contract | None = None
    domain_id: Name | None = None


class CoinRules(Struct):
    update: Update = msgspec.field(name="coin_rules_update")


class AmuletRules(Struct):
    update: Update = msgspec.field(name="amulet_rules_update")


class Future(Struct):
    time: Moment = msgspec.field(name="_1")
    config: dict[str, Any] = msgspec.field(name="_2")


Scheduled = Annotated[tuple[Future, ...], msgspec.Meta(max_length=MOST_SCHEDULED)]


class Schedule(Struct):
    initial: dict[str, Any] = msgspec.field(name="initialValue")
    future: Scheduled | None = msgspec.field(name="futureValues", default=None)


class Config(NamedTuple):
    """A configuration, and from when on it is in force: in Unix seconds, and as it is logged."""

    since: float
    due: str
    fields: Fields
    sha256: str


class Rules(NamedTuple):
    """The rules as they were given in full, and when. `configs` are in order of their time, the first without any."""

    name: str
    contract_id: str
    template: str
    created: float
    configs: tuple[Config, ...]
    given: float

    def in_force(self, now: float) -> Config:
        return [config for config in self.configs if config.since <= now][-1]

    def scheduled(self, now: float) -> list[Config]:
        return [config for config in self.configs if config.since > now]

    def are_known(self, now: float) -> bool:
        """Return whether nothing that was scheduled has become due since they were given."""
        return not any(self.given < config.since <= now for config in self.configs)


RULES = Memo[Rules]()
IN_FORCE = Memo[Config]()
RULES_PACKAGE = {"amulet": PACKAGES["amulet"], "coin": None}
"""The network writes a package id, without its name; it is the package whose version the rules require."""
NAMES: Mapping[str, type[CoinRules | AmuletRules]] = {"amulet": AmuletRules, "coin": CoinRules}
"""What the network and the document call them."""


@collector(Kind.SCAN, interval=seconds(60), timeout=seconds(30), options=Options)
async def coin_rules(node: Node, options: Options, previous: RunOutput) -> Yields:
    known, before = previous.memo(RULES), previous.memo(IN_FORCE)
    names = dict.fromkeys((known.name, *NAMES) if known else NAMES)
    rules, synchronizer = await node.first(*(partial(ask, node, name, known) for name in names))
    now = node.now()
    config = rules.in_force(now)
    changes = sum(sample.value for sample in previous.of(CHANGES))
    if known and before:
        changes += (known.contract_id, before) != (rules.contract_id, config)
        node.news += describe_changes(known, before, rules, now)
    yield RULES.of(rules)
    yield IN_FORCE.of(config)
    labels = {"contract_id": rules.contract_id, "template": rules.template, "synchronizer": synchronizer}
    yield INFO.sample(1, **labels, config_sha256=config.sha256)
    yield CREATED.sample(rules.created)
    yield CHANGES.sample(changes)
    for scheduled in rules.scheduled(now)[:1]:
        yield SCHEDULED.sample(scheduled.since)
    for package, version in required(config.fields):
        yield PACKAGE.sample(1, package=package, version=version)
    for field, leaf in config.fields.items():
        if (number := read_number(leaf)) is not None and is_chosen(field, options):
            yield VALUE.sample(number, field=field)


async def ask(node: Node, name: str, known: Rules | None) -> tuple[Rules, str]:
    """Return the rules by one of their names, and where they are; those we know if they are unchanged."""
    route = f"/v0/{name}-rules"
    may_be_same = known if known and known.name == name and known.are_known(node.now()) else None
    body = {f"cached_{name}_rules_contract_id": may_be_same.contract_id} if may_be_same else {}
    update = (await node.post(route, NAMES[name], body, most_bytes=limits.CONTRACT_BYTES)).update
    if update.contract:
        rules = read_rules(name, update.contract, node.now())
    elif may_be_same:
        rules = may_be_same
    else:
        raise Malformed(f"POST {route}: no contract, although the request named none as known")
    return rules, update.domain_id or ""


def read_rules(name: str, contract: Contract, now: float) -> Rules:
    operation = f"POST /v0/{name}-rules"
    if len(bytes(contract.payload)) > MOST_BYTES:
        raise TooLarge(f"{operation}: rules of more than {MOST_BYTES} bytes")
    payload = decode_part(contract.payload, dict[str, Any], operation)
    schedule = payload.get("configSchedule")
    given = Schedule(payload) if schedule is None else decode_part(schedule, Schedule, operation)
    configs = [Config(-math.inf, "", leaves(given.initial, operation), digest(given.initial, operation))]
    for future in given.future or ():
        fields, hashed = leaves(future.config, operation), digest(future.config, operation)
        configs.append(Config(future.time.timestamp(), future.time.isoformat(), fields, hashed))
    return Rules(
        name,
        contract.contract_id,
        template_name(contract.template_id, RULES_PACKAGE[name]),
        contract.created_at.timestamp(),
        tuple(sorted(configs, key=lambda config: config.since)),
        now,
    )


def describe_changes(known: Rules, before: Config, rules: Rules, now: float) -> Iterator[str]:
    """Give what changed since the last run, and what will, in sentences."""
    config = rules.in_force(now)
    if (known.contract_id, before) != (rules.contract_id, config):
        contract = "" if known.contract_id == rules.contract_id else f", contract {show(rules.contract_id)}"
        yield f"the coin rules changed: {differences(before.fields, config.fields) or 'no field'}{contract}"
    news = [scheduled for scheduled in rules.scheduled(now) if scheduled not in known.configs]
    for scheduled in news[:MOST_NEWS]:
        fields = differences(config.fields, scheduled.fields) or "no field"
        yield f"the coin rules are to change at {scheduled.due}: {fields}"
    if len(news) > MOST_NEWS:
        yield f"{len(news) - MOST_NEWS} more changes of the coin rules are scheduled"


def required(fields: Fields) -> Iterable[tuple[str, str]]:
    """Return each required package, by its own name, with its version."""
    named = ((field.removeprefix(PACKAGE_CONFIG), leaf) for field, leaf in fields.items() if is_package(field))
    return dict.fromkeys((PACKAGES.get(name, name), str(version)) for name, version in named)


def is_package(field: str) -> bool:
    return field.startswith(PACKAGE_CONFIG)


def is_chosen(field: str, options: Options) -> bool:
    """Return whether a number is to be shown; versions of packages are not numbers."""
    included = any(fnmatchcase(field, pattern) for pattern in options.include)
    return included and not is_package(field) and not any(fnmatchcase(field, pattern) for pattern in options.exclude)
