"""A JSON document as fields: its leaves by their dotted paths, what differs between two, and a hash of all of it."""

import math
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256

import msgspec

from exporter.collector import Malformed, TooLarge, one_line

Fields = Mapping[str, str | float]

NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
"""How the contract language writes numbers: as text."""

MOST_FIELDS = 1_000
"""Ten times what a configuration has; a node that makes up fields must not fill our memory."""
LONGEST = 200
"""How long a path may be, and how much is kept of a text: a party or a contract id has less."""
MOST_SHOWN, LINE_LENGTH = 100, 8_000
"""How many differences are shown, and in a line of which length."""


def leaves(document: object, operation: str) -> Fields:
    """Return what is neither null nor a container, by dotted path; places of lists count from 0. Raises TooLarge."""
    fields: dict[str, str | float] = {}
    too_large = TooLarge(f"{operation}: more than {MOST_FIELDS} fields, or one whose path is longer than {LONGEST}")
    try:
        for path, leaf in walk(document, ""):
            fields[path] = leaf[:LONGEST] if isinstance(leaf, str) else leaf
            if len(fields) > MOST_FIELDS or len(path) > LONGEST:
                raise too_large
    except RecursionError as error:
        raise too_large from error
    return fields


def walk(node: object, path: str) -> Iterator[tuple[str, str | float]]:
    if isinstance(node, str | float | int):
        yield path, node
    elif isinstance(node, dict | list) and len(path) <= LONGEST:
        for step, inner in node.items() if isinstance(node, dict) else enumerate(node):
            yield from walk(inner, f"{path}.{step}" if path else str(step))
    elif node is not None:
        yield path, "..."


def digest(document: object, operation: str) -> str:
    """Return the SHA-256, in hex, of a document as canonical JSON: keys in order, no white space, no nulls."""
    try:
        return sha256(msgspec.json.encode(without_nulls(document), order="deterministic")).hexdigest()
    except (RecursionError, ValueError, OverflowError) as error:
        raise Malformed(f"{operation}: a configuration that cannot be written as JSON again") from error


def without_nulls(document: object) -> object:
    """Return a document with its null fields left out; in a list a null has its place."""
    if isinstance(document, dict):
        return {key: without_nulls(inner) for key, inner in document.items() if inner is not None}
    return [without_nulls(inner) for inner in document] if isinstance(document, list) else document


def read_number(leaf: str | float) -> float | None:
    """Return a leaf's number, None if it is not a number."""
    if isinstance(leaf, bool) or (isinstance(leaf, str) and not NUMBER.fullmatch(leaf)):
        return None
    try:
        number = float(leaf)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def differences(before: Fields, after: Fields) -> str:
    """Return what differs, field by field, old and new, in one line of bounded length."""
    paths = [path for path in dict.fromkeys((*before, *after)) if before.get(path) != after.get(path)]
    shown = [f"{one_line(path)} {show(before.get(path))} -> {show(after.get(path))}" for path in paths[:MOST_SHOWN]]
    more = f", and {len(paths) - MOST_SHOWN} more" if len(paths) > MOST_SHOWN else ""
    return ", ".join(shown)[:LINE_LENGTH] + more


def show(leaf: str | float | None) -> str:
    return "(none)" if leaf is None else one_line(str(leaf))
