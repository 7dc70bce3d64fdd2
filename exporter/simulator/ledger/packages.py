"""The operations of a ledger that tell its packages, and who has vetted which."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import moment
from exporter.simulator.ledger.request import (
    LedgerOperation,
    disabled,
    page_size,
    page_token,
    read_body,
    read_field,
    read_page_token,
    read_strings,
)
from exporter.simulator.ledger.vetting import Vetted, Vetting

MOST_VETTINGS = 100


@dataclass(frozen=True)
class Filter:
    ids: frozenset[str]
    prefixes: tuple[str, ...]
    participants: frozenset[str]
    synchronizers: frozenset[str]

    def wants(self, vetted: Vetted) -> bool:
        """One of the two is enough, and without either every package is wanted."""
        if not self.ids and not self.prefixes:
            return True
        return vetted.id in self.ids or vetted.package.startswith(self.prefixes)


class PackageOperations:
    def __init__(self, vetting: Vetting, dialect: Dialect) -> None:
        self._vetting = vetting
        self._dialect = dialect

    def operations(self) -> Iterator[LedgerOperation]:
        yield LedgerOperation("GET", "/v2/packages", self.packages)
        yield LedgerOperation("GET", "/v2/packages/{id}/status", self.status)
        vettings = disabled if self._dialect.legacy_is_disabled else self.vettings
        yield LedgerOperation("GET", "/v2/package-vetting", vettings)
        if self._dialect.legacy_is_disabled:
            yield LedgerOperation("POST", "/v2/package-vetting", disabled)
        if self._dialect.lists_vetting:
            yield LedgerOperation("POST", "/v2/package-vetting/list", self.vettings)

    async def packages(self, request: web.Request) -> Any:
        return {"packageIds": self._vetting.uploaded}

    async def status(self, request: web.Request) -> Any:
        is_here = request.match_info["id"] in self._vetting.uploaded
        return {"packageStatus": f"PACKAGE_STATUS_{'REGISTERED' if is_here else 'UNSPECIFIED'}"}

    async def vettings(self, request: web.Request) -> Any:
        body = read_body(await request.read())
        wanted = read_filter(body)
        size = page_size(read_field(body, "pageSize", int), MOST_VETTINGS)
        [begin] = read_page_token(read_field(body, "pageToken", str)) or [0]
        found = list(self._found(wanted))
        following = page_token(begin + size) if begin + size < len(found) else ""
        return {"vettedPackages": found[begin : begin + size], "nextPageToken": following}

    def _found(self, wanted: Filter) -> Iterator[dict[str, Any]]:
        """Those in which something is left by the filter."""
        for vettings in self._vetting.everywhere():
            if wanted.participants and vettings.participant not in wanted.participants:
                continue
            if wanted.synchronizers and vettings.synchronizer not in wanted.synchronizers:
                continue
            packages = [vetted_json(vetted) for vetted in vettings.packages if wanted.wants(vetted)]
            if packages:
                yield {
                    "packages": packages,
                    "participantId": vettings.participant,
                    "synchronizerId": vettings.synchronizer,
                    "topologySerial": vettings.serial,
                }


def read_filter(body: dict[str, Any]) -> Filter:
    metadata = read_field(body, "packageMetadataFilter", dict) or {}
    topology = read_field(body, "topologyStateFilter", dict) or {}
    return Filter(
        frozenset(read_strings(metadata, "packageIds")),
        tuple(read_strings(metadata, "packageNamePrefixes")),
        frozenset(read_strings(topology, "participantIds")),
        frozenset(read_strings(topology, "synchronizerIds")),
    )


def vetted_json(vetted: Vetted) -> dict[str, Any]:
    return {
        "packageId": vetted.id,
        "validFromInclusive": None if vetted.valid_from is None else moment(vetted.valid_from),
        "validUntilExclusive": None if vetted.valid_until is None else moment(vetted.valid_until),
        "packageName": vetted.package,
        "packageVersion": vetted.version,
    }
