"""How many active contracts of each template a scan's newest snapshot holds.

Asks: POST /v2/state/acs, or v1, or v0, page after page, once for each new snapshot; before that as acs_snapshot does.
Needs: nothing; a scan knows no tokens.
Costs: a request for every 1 000 contracts, of about 1 to 2 MB, at no more than half of the request budget: by
default a million contracts take seven minutes. Name templates or parties to read less. Of a node that does not report
when its snapshot was taken, all of it is read every time. A million contracts are gigabytes off somebody else's
server: a scan whose role is observed is read only where `collectors.acs` is configured.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import NamedTuple

from pydantic import Field

from exporter.api.scan import (
    ACS,
    ACS_VERSIONS,
    MIGRATION,
    MigrationOptions,
    Snapshot,
    find_migration,
    newest_snapshot,
    template_name,
)
from exporter.collector import (
    Int64,
    Kind,
    Malformed,
    Memo,
    Metric,
    Moment,
    Name,
    Node,
    NoEntry,
    PartyId,
    Refused,
    RunOutput,
    Share,
    Struct,
    TemplateName,
    TooLarge,
    Unsupported,
    Yields,
    collector,
    limits,
    minutes,
)

SOURCE = "POST /v2/state/acs, v1 or v0"
CONTRACTS = Metric(
    "canton_acs_contracts",
    "Number of active contracts of a template in the counted snapshot of the active contract set (ACS); 0 if a "
    "configured or earlier seen template has none.",
    ("template",),
    source=SOURCE,
)
OLDEST = Metric(
    "canton_acs_oldest_contract_timestamp_seconds",
    "Unix time in seconds when the oldest active contract of a template was created.",
    ("template",),
    source=SOURCE,
)
COUNTED_TIMESTAMP = Metric(
    "canton_acs_counted_snapshot_timestamp_seconds",
    "Record time of the counted snapshot in Unix seconds.",
    source=SOURCE,
)
ENDPOINT = Metric(
    "canton_acs_endpoint_info",
    "API version used to count the contracts; always 1.",
    ("version",),
    source=SOURCE,
)

TEMPLATE = re.compile("(?![0-9a-f]{64}:)[^:]+:[^:]+:[^:]+")
"""A template's name begins with its package's name, not with a package id."""
MOST_APART = 200_000
"""How many contracts can be distinguished; it takes 20 MB."""


class Options(MigrationOptions):
    templates: list[TemplateName] = Field(default=[], max_length=1000)
    """Count only these, each as `PACKAGE_NAME:MODULE_NAME:ENTITY_NAME`."""
    party_ids: list[PartyId] = Field(default=[], max_length=1000)
    """Count only contracts in which one of these parties has a stake; of several parties at most 200 000."""
    page_size: int = Field(default=1000, ge=1, le=1000)
    """How many contracts to request at once; nodes refuse more than 1000."""
    cursors: int = Field(default=1, ge=1, le=8)
    """Into how many parts to split `templates`, to be read side by side: for your own scan and a larger budget."""


class Contract(Struct):
    template_id: Name
    contract_id: str | None = None
    package_name: Name | None = None
    created_at: Moment | None = None


class Page(Struct):
    created_events: list[Contract]
    record_time: Moment | None = None
    migration_id: Int64 | None = None
    next_page_token: str | int | None = None

    def is_of(self, snapshot: Snapshot) -> bool:
        """Return whether it names this snapshot, or none."""
        return self.record_time in (None, snapshot.moment) and self.migration_id in (None, snapshot.migration_id)


class Group:
    """The contracts of one template so far."""

    __slots__ = ("count", "oldest")

    def __init__(self) -> None:
        self.count = 0
        self.oldest: datetime | None = None

    def add(self, created: Sequence[datetime | None]) -> None:
        self.count += len(created)
        self.oldest = min((moment for moment in (self.oldest, *created) if moment), default=None)


class Counted(NamedTuple):
    """Which snapshot was counted, by which version if that was sure, and every template seen in any snapshot."""

    snapshot: Snapshot | None
    version: str | None
    templates: tuple[str, ...]


COUNTED = Memo[Counted]()


@collector(
    Kind.SCAN, interval=minutes(15), timeout=minutes(120), options=Options, share=Share.HALF, on_for_observed=False
)
async def acs(node: Node, options: Options, previous: RunOutput) -> Yields:
    before = previous.memo(COUNTED)
    migration_id = await find_migration(node, options.migration_id, previous.memo(MIGRATION))
    snapshot = await newest_snapshot(node, migration_id)
    if snapshot is None:
        node.remark("the scan has no snapshot", f"none in migration {migration_id}")
        yield MIGRATION.of(migration_id)
        if before:
            yield COUNTED.of(before._replace(snapshot=None))
        return
    if before and before.snapshot == snapshot:
        for item in previous:
            yield item
        return
    remembered = before.version if before else None
    version, groups, is_sure = await count_by_any(node, snapshot, options, remembered)
    yield MIGRATION.of(migration_id)
    seen = dict.fromkeys((*groups, *options.templates, *(before.templates if before else ())))
    templates = tuple(islice(seen, limits.TEMPLATES))
    yield COUNTED.of(Counted(snapshot, version if is_sure else remembered, templates))
    if snapshot.is_exact:
        yield COUNTED_TIMESTAMP.sample(snapshot.moment.timestamp())
    yield ENDPOINT.sample(1, version=version)
    for template in templates:
        yield CONTRACTS.sample(groups[template].count if template in groups else 0, template=template)
    for template, group in groups.items():
        if group.oldest:
            yield OLDEST.sample(group.oldest.timestamp(), template=template)


async def count_by_any(
    node: Node, snapshot: Snapshot, options: Options, remembered: str | None
) -> tuple[str, dict[str, Group], bool]:
    """Count a snapshot by the first version the node has; return that, the count, and whether it has no newer one.

    A newer version that answers "no such snapshot" may be missing, or may not have it yet.
    """
    lacks: list[Unsupported] = []
    for version in dict.fromkeys((remembered or ACS_VERSIONS[0], *ACS_VERSIONS)):
        try:
            groups = await count(node, snapshot, options, version)
        except Unsupported as lack:
            lacks.append(lack)
        else:
            return version, groups, not any(isinstance(lack, NoEntry) for lack in lacks)
    message = "; ".join(map(str, lacks))
    if any(isinstance(lack, NoEntry) for lack in lacks):
        raise Refused(f"{message}; and yet the node reported that it has this snapshot", 404)
    raise Unsupported(message)


async def count(node: Node, snapshot: Snapshot, options: Options, version: str) -> dict[str, Group]:
    """Count a whole snapshot by one version of the operation."""
    route = ACS.format(version=version)
    groups: dict[str, Group] = {}
    counted = Once(route) if len(options.party_ids) > 1 else None

    async def read(templates: Sequence[str]) -> None:
        async for page in node.pages(route, Page, partial(body, snapshot, options, templates)):
            if not page.is_of(snapshot):
                raise Malformed(f"POST {route}: a page of a snapshot other than that of {snapshot.record_time}")
            if len(page.created_events) > options.page_size:
                raise Malformed(f"POST {route}: a page of more than the {options.page_size} contracts asked for")
            contracts = page.created_events if counted is None else counted.only_new(page.created_events)
            add(contracts, groups, route)
            if len(groups) > limits.TEMPLATES:
                raise TooLarge(f"POST {route}: more than {limits.TEMPLATES} templates; name the ones to count")
            total = sum(group.count for group in groups.values())
            node.progress(f"{total:,} contracts of the snapshot of {snapshot.record_time}")

    templates = list(dict.fromkeys(options.templates))
    parts = [part for part in (templates[first :: options.cursors] for first in range(options.cursors)) if part]
    await node.gather([partial(read, part) for part in parts or [[]]])
    return groups


def body(snapshot: Snapshot, options: Options, templates: Sequence[str], after: str | int | None) -> dict[str, object]:
    filters = {"templates": templates, "party_ids": options.party_ids}
    return {**snapshot.body(options.page_size, after), **{key: value for key, value in filters.items() if value}}


class Once:
    """Lets each contract count once: of several parties, some releases list a contract for each that has a stake."""

    def __init__(self, route: str) -> None:
        self._route = route
        self._seen: set[int] = set()

    def only_new(self, contracts: Iterable[Contract]) -> list[Contract]:
        new = []
        for contract in contracts:
            if contract.contract_id is None:
                raise Malformed(f"POST {self._route}: a contract without contract_id, by which contracts differ")
            known = len(self._seen)
            self._seen.add(hash(contract.contract_id))
            if len(self._seen) > known:
                new.append(contract)
        if len(self._seen) > MOST_APART:
            raise TooLarge(f"POST {self._route}: more than {MOST_APART} contracts of several parties; name only one")
        return new


def add(contracts: Iterable[Contract], groups: dict[str, Group], route: str) -> None:
    """Add a page's contracts to the groups of their templates; first by themselves, which is quicker."""
    created: dict[tuple[str, str | None], list[datetime | None]] = {}
    for contract in contracts:
        created.setdefault((contract.template_id, contract.package_name), []).append(contract.created_at)
    for names, moments in created.items():
        name = template_name(*names)
        if not TEMPLATE.fullmatch(name):
            raise Malformed(f"POST {route}: a contract of {name[:100]!r}, which is not a template's name")
        groups.setdefault(name, Group()).add(moments)
