"""What a Struct makes of an answer, told field by field as a table is, and held against it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from tests.shapes.table import ROOT, Fact, Shape, below, parent, within


class Read(NamedTuple):
    """What is made of a field: `types` are those of JSON, and `any`; `texts` the only ones taken, if not all are."""

    types: frozenset[str]
    is_required: bool
    texts: frozenset[str] | None = None


def reads(meaning: Any) -> dict[str, Read]:
    schema = msgspec.json.schema(meaning)
    return dict(_fields(schema, schema.get("$defs", {}), ROOT))


def _fields(
    schema: Mapping[str, Any], defs: Mapping[str, Any], path: str, is_required: bool = True
) -> Iterator[tuple[str, Read]]:
    ways = [_resolved(each, defs) for each in schema.get("anyOf", [schema])]
    texts = frozenset(text for way in ways for text in way.get("enum", ()))
    types = frozenset(way.get("type", "string" if "enum" in way else "any") for way in ways)
    yield path, Read(types, is_required, texts or None)
    for way in ways:
        for name, each in way.get("properties", {}).items():
            yield from _fields(each, defs, below(path, name), name in way["required"])
        for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
            if isinstance(way.get(key), dict):
                yield from _fields(way[key], defs, within(path, mark))


def _resolved(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    return defs[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def faults(read: Mapping[str, Read], shapes: Mapping[str, Shape]) -> Iterator[str]:
    """Give each field that is read otherwise than some release writes it; `shapes` are by release."""
    for path, field in read.items():
        # What is in a contract's payload, the files do not say.
        known = {version: shape for version, shape in shapes.items() if shape.within(parent(path))}
        if known and not path.endswith("{}") and not any(path in shape.facts for shape in known.values()):
            yield f"{path}: in no release"
        for version, shape in known.items():
            yield from (f"{path}: {fault} in {version}" for fault in _mismatch(path, field, shape.facts.get(path)))


def _mismatch(path: str, read: Read, fact: Fact | None) -> Iterator[str]:
    is_element = path == ROOT or path.endswith(("[]", "{}"))
    if read.is_required and not is_element and not (fact and fact.is_required):
        yield "required by us and not"
    elif fact and not fact.is_required and not {"null", "any"} & read.types:
        yield "not null to us, and it may be"
    for type_ in fact.types if fact else ():
        if not accepts(read, type_):
            yield f"{' or '.join(sorted(read.texts or read.types))} to us, and {type_}"


def accepts(read: Read, type_: str) -> bool:
    """Tell whether every value of a type of the table is taken; of which form a text is, the files seldom say."""
    if "any" in read.types or type_ in ("any", "recursive"):
        return True
    if type_.startswith("enum "):
        return "string" in read.types and (
            read.texts is None or read.texts >= {*type_.removeprefix("enum ").split("|")}
        )
    name = type_.partition("/")[0]
    return (name in read.types and read.texts is None) or (name == "integer" and "number" in read.types)
