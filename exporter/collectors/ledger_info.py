"""Which participant this is, its release, and which package versions it has vetted.

Asks: GET /v2/version, /v2/parties/participant-id and /v2/packages; POST /v2/package-vetting/list, before Canton 3.4.12
GET /v2/package-vetting; where the participant vetted nothing, GET /v2/state/connected-synchronizers.
Needs: a token of any ledger user; no rights. Before Canton 3.4.12, that no proxy on the way drops the body of a GET.
Costs: three small requests a run, and one for every hundred vetted packages; one more where there are none, or before
Canton 3.4.12.
"""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

import msgspec
from pydantic import Field

from exporter.api.ledger import Version
from exporter.collector import (
    Failed,
    Kind,
    Mark,
    Metric,
    Moment,
    Name,
    Node,
    Refused,
    RunOutput,
    Strict,
    Struct,
    TooLarge,
    Unsupported,
    Yields,
    collector,
    minutes,
)

INFO = Metric(
    "canton_ledger_info",
    "Participant id and release of the ledger; always 1.",
    ("version", "participant"),
    source="GET /v2/version and /v2/parties/participant-id",
)
MAX_DELAY = Metric(
    "canton_ledger_checkpoint_max_delay_seconds",
    "Maximum time in seconds between two offset checkpoints, as the node reports it; absent if it does not.",
    source="GET /v2/version",
)
PACKAGES = Metric("canton_ledger_packages", "Number of packages that the participant knows.", source="GET /v2/packages")
VETTED = Metric(
    "canton_ledger_vetted_package_info",
    "Package version that this participant has vetted and that is valid now; always 1.",
    ("synchronizer", "package", "version"),
    source="POST /v2/package-vetting/list or GET /v2/package-vetting",
)
VALID_UNTIL = Metric(
    "canton_ledger_vetted_package_valid_until_timestamp_seconds",
    "Unix time in seconds when the vetting of a package version ends; absent if it has no end.",
    ("synchronizer", "package", "version"),
    source="POST /v2/package-vetting/list or GET /v2/package-vetting",
)
VETTED_COUNT = Metric(
    "canton_ledger_vetted_packages",
    "Number of vetted and valid package versions of the configured prefixes; 0 if there is none.",
    ("synchronizer",),
    source="POST /v2/package-vetting/list, GET /v2/package-vetting or GET /v2/state/connected-synchronizers",
)
READABLE = Metric(
    "canton_ledger_vetting_readable",
    "1 if the vetted packages can be read from the node, 0 if it lacks or refuses the operation.",
    source="POST /v2/package-vetting/list or GET /v2/package-vetting",
)

MOST_VETTED = 10_000

Vetted = dict[str, dict[tuple[str, str], datetime | None]]
"""Until when each package is valid, by name and version, by synchronizer; None is without an end."""


class Options(Strict):
    package_prefixes: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)] = ["splice-"]
    """Which packages' vetting to look at: what their names begin with."""


class Participant(Struct):
    id: Name = msgspec.field(name="participantId")


class Packages(Struct):
    ids: tuple[str, ...] | None = msgspec.field(name="packageIds", default=None)


class Package(Struct):
    name: Name | None = msgspec.field(name="packageName", default=None)
    version: Name | None = msgspec.field(name="packageVersion", default=None)
    valid_from: Moment | None = msgspec.field(name="validFromInclusive", default=None)
    valid_until: Moment | None = msgspec.field(name="validUntilExclusive", default=None)

    def is_valid(self, now: float) -> bool:
        is_begun = self.valid_from is None or self.valid_from.timestamp() <= now
        return is_begun and (self.valid_until is None or now < self.valid_until.timestamp())


class Vetting(Struct):
    participant: Name = msgspec.field(name="participantId")
    synchronizer: Name = msgspec.field(name="synchronizerId")
    packages: tuple[Package, ...] | None = None


class VettingPage(Struct):
    vetted: tuple[Vetting, ...] | None = msgspec.field(name="vettedPackages", default=None)
    next_page_token: str | None = msgspec.field(name="nextPageToken", default=None)


class Synchronizer(Struct):
    id: Name = msgspec.field(name="synchronizerId")


class Connected(Struct):
    synchronizers: tuple[Synchronizer, ...] | None = msgspec.field(name="connectedSynchronizers", default=None)


@collector(Kind.LEDGER, interval=minutes(5), timeout=minutes(1), options=Options)
async def ledger_info(node: Node, options: Options, previous: RunOutput) -> Yields:
    version = await node.get("/v2/version", Version)
    participant = await node.or_none(partial(node.get, "/v2/parties/participant-id", Participant))
    yield INFO.sample(1, version=version.version or "", participant=participant.id if participant else "")
    if (delay := version.checkpoint_delay) is not None:
        yield MAX_DELAY.sample(delay)
    packages = await node.or_none(partial(node.get, "/v2/packages", Packages))
    if packages is not None:
        yield PACKAGES.sample(len(packages.ids or ()))
    vetted = await readable_vetting(node, options, participant)
    yield READABLE.sample(vetted is not None)
    if vetted is None:
        return
    if not vetted:  # else a count that is compared with what is required would be absent, and nobody alarmed
        vetted = {synchronizer: {} for synchronizer in await connected(node)}
    for synchronizer, versions in vetted.items():
        for (package, package_version), until in versions.items():
            labels = {"synchronizer": synchronizer, "package": package, "version": package_version}
            yield VETTED.sample(1, **labels)
            if until is not None:
                yield VALID_UNTIL.sample(until.timestamp(), **labels)
    for synchronizer, versions in vetted.items():
        yield VETTED_COUNT.sample(len(versions), synchronizer=synchronizer)


async def readable_vetting(node: Node, options: Options, participant: Participant | None) -> Vetted | None:
    """Return what the participant has vetted; None where this release or its proxy does not answer that.

    A failure that may pass by itself, or that the operator can mend, fails the run.
    """
    if participant is None:
        return None  # whose vetting it would be is not known
    ways = ("POST", "/v2/package-vetting/list"), ("GET", "/v2/package-vetting")
    try:
        return await node.first(*(partial(vetted_packages, node, options, participant.id, *way) for way in ways))
    except Unsupported as lack:
        reason = str(lack)
    except Refused as refusal:
        if refusal.status is None or refusal.pause is not None:
            raise
        reason = str(refusal)
    node.remark("the vetted packages cannot be read", reason)
    return None


async def vetted_packages(node: Node, options: Options, participant: str, method: str, route: str) -> Vetted:
    """Return name and version of each package the participant has vetted that is valid now, by synchronizer."""
    wanted = {
        "packageMetadataFilter": {"packageNamePrefixes": options.package_prefixes},
        "topologyStateFilter": {"participantIds": [participant]},
    }

    def body(token: Mark) -> dict[str, Any]:
        return {**wanted, "pageToken": token or "", "pageSize": 0}  # before 3.4.12 they may be empty, but not absent

    found: Vetted = {}
    async for page in node.pages(route, VettingPage, body, method=method):
        for vetting in page.vetted or ():
            if vetting.participant == participant:
                versions = found.setdefault(vetting.synchronizer, {})
                valid = (package for package in vetting.packages or () if package.name and package.is_valid(node.now()))
                for each in valid:
                    key = (each.name or "", each.version or "")
                    versions[key] = later(versions[key], each.valid_until) if key in versions else each.valid_until
        if len(found) + sum(map(len, found.values())) > MOST_VETTED:
            raise TooLarge(f"{method} {route}: more than {MOST_VETTED} package versions; name longer package_prefixes")
    return found


def later(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the later of two ends; None means without an end."""
    return max(one, other) if one and other else None


async def connected(node: Node) -> list[str]:
    """Return the synchronizers the participant is connected to; none if it does not answer, whatever the reason."""
    try:
        answer = await node.get("/v2/state/connected-synchronizers", Connected)
    except (Failed, Unsupported):
        return []
    return list(dict.fromkeys(synchronizer.id for synchronizer in answer.synchronizers or ()))
