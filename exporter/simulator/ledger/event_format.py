"""Which events a caller wants to see: of which parties, and of which templates or interfaces."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.http.canton_error import CantonError, error_of, invalid_argument
from exporter.simulator.ledger.app_templates import APP_PACKAGES, INTERFACES, TEMPLATES, AppTemplate
from exporter.simulator.ledger.request import read_field, require, undecodable
from exporter.simulator.ledger.vetting import PACKAGE_NAMES

IDENTIFIER = re.compile("(#?)([^:#]+):([^:]+:[^:]+)")
IDS = {template.package_id: template.package for template in TEMPLATES}
FILTERS = ("WildcardFilter", "TemplateFilter", "InterfaceFilter", "Empty")
NAMES = {"TemplateFilter": "templateId", "InterfaceFilter": "interfaceId"}


@dataclass(frozen=True)
class One:
    """What one identifier filter wants: everything, unless it names a template or an interface."""

    template: str | None = None
    interface: str | None = None
    with_blob: bool = False
    with_view: bool = False

    def wants(self, template: AppTemplate) -> bool:
        if self.interface is not None:
            return self.interface in template.interfaces
        return self.template is None or self.template == str(template)


@dataclass(frozen=True)
class EventFormat:
    by_party: Mapping[str, list[One]] = field(default_factory=dict)
    for_anybody: list[One] = field(default_factory=list)

    def seen_by(self, parties: Iterable[str], template: AppTemplate) -> list[str]:
        """Those of some parties for which a contract of a template is shown."""
        return [party for party in parties if any(one.wants(template) for one in self._of(party))]

    def knows(self, party: str) -> bool:
        """Whether anything is asked on behalf of a party."""
        return bool(self._of(party))

    def has_blob(self, parties: Iterable[str], template: AppTemplate) -> bool:
        return any(one.with_blob and one.wants(template) for party in parties for one in self._of(party))

    def views(self, parties: Iterable[str], template: AppTemplate) -> list[str]:
        """The interfaces whose views are shown with a contract."""
        wanted = {one.interface for party in parties for one in self._of(party) if one.with_view}
        return [interface for interface in template.interfaces if interface in wanted]

    def _of(self, party: str) -> list[One]:
        return [*self.by_party.get(party, []), *self.for_anybody]


def read_event_format(of: dict[str, Any], dialect: Dialect) -> EventFormat:
    by_party: dict[str, Any] = read_field(of, "filtersByParty", dict) or {}
    for_anybody = read_field(of, "filtersForAnyParty", dict)
    if not by_party and for_anybody is None and dialect.is_network:
        raise invalid_argument("filtersByParty and filtersForAnyParty cannot be empty simultaneously.")
    return EventFormat(
        {party: read_filters(require(read_field(by_party, party, dict), party), dialect) for party in by_party},
        [] if for_anybody is None else read_filters(for_anybody, dialect),
    )


def read_filters(of: dict[str, Any], dialect: Dialect) -> list[One]:
    """Each entry widens what is wanted, and those that are empty do not count: without any other, all is wanted."""
    found = []
    for entry in read_field(of, "cumulative", list) or []:
        identifier = read_field(entry, "identifierFilter", dict) if isinstance(entry, dict) else None
        if identifier is None or len(identifier) != 1 or next(iter(identifier)) not in FILTERS:
            raise undecodable("body", "Missing or unknown value in 'identifierFilter'")
        [kind] = identifier
        if kind != "Empty":
            found.append(read_identifier(kind, require(read_field(identifier, kind, dict), kind), dialect))
    return found or [One()]


def read_identifier(kind: str, of: dict[str, Any], dialect: Dialect) -> One:
    value: dict[str, Any] = require(read_field(of, "value", dict), "value")
    with_blob = bool(read_field(value, "includeCreatedEventBlob", bool))
    with_view = bool(read_field(value, "includeInterfaceView", bool))
    if kind == "WildcardFilter":
        return One(with_blob=with_blob)
    name = NAMES[kind]
    identifier = read_name(require(read_field(value, name, str), name), name, dialect)
    if kind == "TemplateFilter":
        check_known(identifier, [str(template) for template in TEMPLATES], "TEMPLATES")
        return One(template=identifier, with_blob=with_blob)
    check_known(identifier, INTERFACES, "INTERFACES")
    return One(interface=identifier, with_blob=with_blob, with_view=with_view)


def read_name(written: str, name: str, dialect: Dialect) -> str:
    """PACKAGE_NAME:Module:Entity, by whatever of its spellings the dialect takes."""
    match = IDENTIFIER.fullmatch(written)
    if match is None:
        raise error_of(500) if dialect.fails_on_malformed_names else invalid_field(name, f"{written!r} is malformed.")
    mark, package, rest = match.groups()
    if mark or not dialect.is_network:
        return f"{IDS.get(package, package)}:{rest}"
    if not dialect.takes_package_ids:
        raise invalid_field(name, "Expected a package name with a # before it, and not a package id.")
    return f"{IDS.get(package, package)}:{rest}"


def invalid_field(name: str, what: str) -> CantonError:
    cause = f"The submitted command has a field with invalid value: Invalid field {name}: {what}"
    return CantonError(400, "INVALID_FIELD", cause, category=8, grpc=3)


def check_known(identifier: str, known: Iterable[str], what: str) -> None:
    package = identifier.partition(":")[0]
    if package not in APP_PACKAGES and package not in PACKAGE_NAMES.values():
        cause = (
            f"The following package names do not match upgradable packages uploaded on this participant: [{package}]."
        )
        raise CantonError(404, "PACKAGE_NAMES_NOT_FOUND", cause, category=11, grpc=5)
    # Of the network's own packages every name is taken: there are just no contracts of them here.
    if package in APP_PACKAGES and identifier not in known:
        code = f"NO_{what}_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"
        raise CantonError(404, code, f"There is no such {what[:-1].lower()}: {identifier}", category=11, grpc=5)
