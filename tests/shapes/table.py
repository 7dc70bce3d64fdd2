"""Reads the tables of shapes, and says in what an answer or a question is not as a release has it."""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = "."
Where = tuple[str, str, str]
"""An operation, without the names in its path; `request`, `query` or a status; and a media type."""


OF_WEBSOCKETS = {"sent": "request", "received": "200"}
"""What the files say of a websocket's messages, in the words of other operations."""


class NoFile(NamedTuple):
    """An operation that is read although no API file has it, and why."""

    kind: str
    operation: str
    why: str


NO_FILE = (
    NoFile("scan", "GET /v0/events/latest-record-time", "Splice 0.9 brought it"),
    NoFile("scan", "POST /v0/coin-rules", "the document's name of amulet-rules"),
    NoFile("scan", "POST /v2/state/acs", "Splice 0.7.5 brought it"),
)


def without_file(kind: str) -> set[str]:
    return {each.operation for each in NO_FILE if each.kind == kind}


class Fact(NamedTuple):
    types: tuple[str, ...]
    is_required: bool


class Shape:
    """The fields of one body, or of the query, by their dotted paths."""

    def __init__(self, facts: dict[str, Fact]) -> None:
        self.facts = facts
        self._within: dict[str, list[str]] = defaultdict(list)
        for path in facts:
            if path != ROOT:
                self._within[parent(path)].append(path)

    def within(self, path: str) -> list[str]:
        """Return what is directly in a field; of one in which nothing is, nothing is known."""
        return self._within.get(path, [])

    def faults(self, value: object, path: str = ROOT) -> Iterator[str]:
        """Give each way in which a value is not what the field should be, as `FIELD: what is wrong`."""
        types = self.facts[path].types
        if {"any", "recursive"} & {*types}:
            return
        if not any(is_of(value, type_) for type_ in types):
            yield f"{path}: {str(value)[:60]!r} is not {' or '.join(types)}"
        elif isinstance(value, list):
            for each in value:
                yield from self.faults(each, within(path, "[]")) if self.within(path) else ()
        elif isinstance(value, dict) and self.within(path):
            yield from self._faults_of_object(value, path)

    def _faults_of_object(self, value: dict[str, Any], path: str) -> Iterator[str]:
        values = within(path, "{}")
        for name, each in value.items():
            field = below(path, name)
            if field not in self.facts and values in self.facts:
                yield from self.faults(each, values)
            elif field not in self.facts:
                yield f"{field}: unknown"
            elif each is not None:
                yield from self.faults(each, field)
        for field in self.within(path):
            name = field.removeprefix(f"{path}.")
            if field != values and self.facts[field].is_required and value.get(name) is None:
                yield f"{field}: required, and it is {'null' if name in value else 'absent'}"


class Table:
    """The shapes of one kind of node, in each release that was read."""

    def __init__(self, path: Path) -> None:
        head, _, *lines = path.read_text().splitlines()
        self.releases = head.removeprefix("# ").partition(":")[0].split(", ")
        self._rows = [line.split("\t") for line in lines]

    @cache  # noqa: B019 - there are three tables, for as long as the tests run
    def release(self, release: str) -> dict[Where, Shape]:
        number, facts = self.releases.index(release), defaultdict[Where, dict[str, Fact]](dict)
        for operation, status, media, field, type_, required, since, until in self._rows:
            last = len(self.releases) - 1 if until == "" else self.releases.index(until)
            if self.releases.index(since) <= number <= last:
                where = (anonymous(operation), OF_WEBSOCKETS.get(status, status), media)
                facts[where][field] = Fact(tuple(type_.split(" or ")), required == "yes")
        return {where: Shape(found) for where, found in facts.items()}

    def operations(self, release: str) -> set[str]:
        return {operation for operation, _, _ in self.release(release)}


TABLES = {kind: Table(Path(__file__).parent / f"{kind}.tsv") for kind in ("ledger", "scan", "validator")}


def anonymous(path: str) -> str:
    return re.sub(r"\{.*?\}", "{}", path)


def below(path: str, name: str) -> str:
    return name if path == ROOT else f"{path}.{name}"


def within(path: str, mark: str) -> str:
    return mark if path == ROOT else path + mark


def parent(path: str) -> str:
    for mark in ("[]", "{}"):
        if path.endswith(mark):
            return path.removesuffix(mark) or ROOT
    return path.rpartition(".")[0] or ROOT


def is_of(value: object, type_: str) -> bool:
    """Tell whether a value from JSON is of a type of the table; a whole number fits in where any number does."""
    name, _, form = type_.partition("/")
    if type_.startswith("enum "):
        return value in type_.removeprefix("enum ").split("|")
    match name:
        case "string":
            return isinstance(value, str) and (form != "date-time" or is_moment(value))
        case "integer":
            most = 2**31 if form == "int32" else 2**63
            return type(value) is int and -most <= value < most
        case "number":
            return type(value) in (int, float)
        case "empty":
            return value == ""
        case _:
            return isinstance(value, {"boolean": bool, "object": dict, "array": list}[name])


def is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
