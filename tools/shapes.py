"""Prints the shapes of the operations that are read: of each field its type, if it must be there, in which versions.

Of the API files of several versions, oldest first: `python -m tools.shapes KIND VERSION=FILE[,FILE...] ... > FILE`.
"""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tools.coverage import DOCUMENT, LEDGER, NETWORK, SCAN, VALIDATOR
from tools.openapi import Files

ALSO = {
    LEDGER: (
        "WS /v2/state/active-contracts",
        "GET /v2/package-vetting",
        "POST /v2/package-vetting",
        "GET /v2/packages/{}/status",
        "GET /v2/state/active-contracts-page",
        "POST /v2/updates/get-updates-page",
    ),
    SCAN: (
        "GET /status",
        "GET /v0/dso-party-id",
        "GET /v0/dso-sequencers",
        "GET /v0/internal/reward-accounting-process/rounds/earliest-available",
        "GET /v0/internal/reward-accounting-process/rounds/{}/activity-totals",
        "GET /v0/reward-accounting-process/rounds/earliest-available",
        "GET /v0/reward-accounting-process/rounds/{}/activity-totals",
        "GET /v0/scans",
    ),
    VALIDATOR: (
        "GET /status",
        "GET /v0/scan-proxy/amulet-rules",
        "GET /v0/scan-proxy/dso-party-id",
        "GET /v0/validator-user",
    ),
}
"""What the simulated network answers and no collector asks."""
COLUMNS = ("operation", "status", "media", "field", "type", "required", "since", "until")


class Row(NamedTuple):
    """What holds in one version, or in several that follow each other."""

    operation: str
    status: str
    media: str
    field: str
    type: str
    required: str


def wanted(kind: str) -> frozenset[str]:
    """Return the operations to print of a kind of node, without the names in their paths."""
    read = [each for each in (*DOCUMENT, *NETWORK) if each.base == kind and each.collectors]
    return frozenset((*(anonymous(f"{each.method} {each.path}") for each in read), *ALSO[kind]))


def anonymous(operation: str) -> str:
    return re.sub(r"\{.*?\}", "{}", operation)


def rows(files: Files, operations: frozenset[str]) -> Iterator[Row]:
    for part in files.parts():
        if anonymous(part.operation) in operations:
            for path, field in part.fields.items():
                types = " or ".join(sorted(field.types))
                required = "yes" if field.is_required else "no"
                yield Row(part.operation, part.status, part.media, path, types, required)


def table(versions: Mapping[str, frozenset[Row]]) -> Iterator[Sequence[str]]:
    """Return each row with the first and the last version of each time in which it held; none is still held."""
    newest = [*versions][-1]
    for row in sorted({row for found in versions.values() for row in found}):
        for holds, times in groupby(versions, lambda version: row in versions[version]):  # noqa: B023
            first, *others = times
            last = [first, *others][-1]
            if holds:
                yield (*row, first, "" if last == newest else last)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.shapes", description=__doc__)
    parser.add_argument("kind", choices=ALSO)
    parser.add_argument(
        "versions", nargs="+", metavar="VERSION=FILE[,FILE...]", help="an API file, oldest version first"
    )
    asked = parser.parse_args()
    named = dict(version.split("=", 1) for version in asked.versions)
    files = {version: [Path(each) for each in paths.split(",")] for version, paths in named.items()}
    found = {version: frozenset(rows(Files(paths), wanted(asked.kind))) for version, paths in files.items()}
    shown = [f"{version}={','.join(path.name for path in paths)}" for version, paths in files.items()]
    print(f"# {', '.join(files)}: python -m tools.shapes {asked.kind} {' '.join(shown)}")
    for line in (COLUMNS, *table(found)):
        print("\t".join(line))


if __name__ == "__main__":
    main()
