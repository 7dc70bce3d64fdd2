"""What an API file (OpenAPI, AsyncAPI) says of each operation: its fields, their types, and which of them must be."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

METHODS = ("get", "post", "put", "patch", "delete")
ROOT = "."
Schema = dict[str, Any]


class Field(NamedTuple):
    """`types` are those it has in any variant; it is required where its parent is there at all."""

    types: frozenset[str]
    is_required: bool = True


Fields = dict[str, Field]
"""By dotted path; `[]` is an element of a list, `{}` a value of a map."""


class Part(NamedTuple):
    """One body, or the query, of an operation."""

    operation: str
    status: str
    media: str
    fields: Fields


class Found(NamedTuple):
    """What a reference leads to, and in which file that is."""

    schema: Schema
    file: str


class Files:
    """The files of one version, which refer to each other by the ends of their names."""

    def __init__(self, paths: Sequence[Path]) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where it was built
        self._documents: dict[str, Any] = {path.name: yaml.load(path.read_text(), loader) for path in paths}  # noqa: S506

    def parts(self) -> Iterator[Part]:
        for name, document in self._documents.items():
            for path, item in document.get("paths", {}).items():
                yield from self._operations(path, self._resolve(Found(item, name)))
            for path, channel in document.get("channels", {}).items():
                yield from self._messages(path, Found(channel, name))

    def _operations(self, path: str, item: Found) -> Iterator[Part]:
        for method in METHODS:
            if method in item.schema:
                operation = {"parameters": [], **item.schema[method]}
                operation["parameters"] = [*item.schema.get("parameters", ()), *operation["parameters"]]
                yield from self._operation(f"{method.upper()} {path}", Found(operation, item.file))

    def _operation(self, name: str, found: Found) -> Iterator[Part]:
        query: Fields = {ROOT: Field(frozenset({"object"}))}
        for each in found.schema["parameters"]:
            parameter = self._resolve(Found(each, found.file))
            if parameter.schema["in"] == "query":
                asked = Found(parameter.schema["schema"], parameter.file)
                query |= self._fields(asked, parameter.schema["name"], parameter.schema.get("required", False))
        yield Part(name, "query", "-", query)
        if "requestBody" in found.schema:
            body = self._resolve(Found(found.schema["requestBody"], found.file))
            yield from self._bodies(name, "request", body, body.schema.get("required", False))
        for status, each in found.schema["responses"].items():
            yield from self._bodies(name, str(status), self._resolve(Found(each, found.file)))

    def _bodies(self, name: str, status: str, found: Found, is_required: bool = True) -> Iterator[Part]:
        content = found.schema.get("content")
        if not content:
            yield Part(name, status, "-", {ROOT: Field(frozenset({"empty"}))})
            return
        for media, body in content.items():
            yield Part(name, status, media, self._fields(Found(body["schema"], found.file), ROOT, is_required))

    def _messages(self, path: str, channel: Found) -> Iterator[Part]:
        """The two directions of a websocket, named for what we would do."""
        for status, side in (("sent", "publish"), ("received", "subscribe")):
            message = self._resolve(Found(channel.schema[side]["message"], channel.file))
            payload = Found(message.schema["payload"], message.file)
            yield Part(f"WS {path}", status, message.schema["contentType"], self._fields(payload, ROOT))

    def _resolve(self, found: Found) -> Found:
        if "$ref" not in found.schema:
            return found
        name, pointer = self._target(found)
        target = self._documents[name]
        for step in pointer.strip("/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        return self._resolve(Found(target, name))

    def _target(self, found: Found) -> tuple[str, str]:
        """Return the file that a reference leads to, and where in it."""
        file, _, pointer = found.schema["$ref"].partition("#")
        wanted = file.rpartition("/")[2] or found.file
        return next(name for name in self._documents if name == wanted or name.endswith(f"-{wanted}")), pointer

    def _fields(
        self, found: Found, path: str, is_required: bool = True, above: tuple[tuple[str, str], ...] = ()
    ) -> Fields:
        """Return what a schema says of a field and of all below it; of one that contains itself, nothing more."""
        if "$ref" in found.schema:
            where = self._target(found)
            if where in above:
                return {path: Field(frozenset({"recursive"}), is_required)}
            return self._fields(self._resolve(found), path, is_required, (*above, where))
        schema = found.schema
        fields = self._own(found, path, above)
        variants = schema.get("oneOf") or schema.get("anyOf")
        if variants:
            fields = both(
                fields, either([self._fields(Found(each, found.file), path, above=above) for each in variants])
            )
        for each in schema.get("allOf", ()):
            fields = both(fields, self._fields(Found(each, found.file), path, above=above))
        if not fields:
            fields = {path: Field(frozenset({"any"}))}
        if "discriminator" in schema:
            told = schema["discriminator"]
            fields[below(path, told["propertyName"])] = Field(frozenset({enum(told["mapping"])}))
        return {**fields, path: Field(fields[path].types, is_required and not schema.get("nullable", False))}

    def _own(self, found: Found, path: str, above: tuple[tuple[str, str], ...]) -> Fields:
        """Return what a schema says itself, apart from its variants."""
        schema, kind = found.schema, found.schema.get("type")
        if kind == "array":
            items = Found(schema.get("items", {}), found.file)
            return {path: Field(frozenset({"array"}))} | self._fields(items, within(path, "[]"), above=above)
        if kind == "object" or "properties" in schema:
            fields: Fields = {path: Field(frozenset({"object"}))}
            required = schema.get("required", ())
            for name, each in schema.get("properties", {}).items():
                fields |= self._fields(Found(each, found.file), below(path, name), name in required, above)
            values = schema.get("additionalProperties")
            if isinstance(values, dict):
                fields |= self._fields(Found(values, found.file), within(path, "{}"), above=above)
            return fields
        return {path: Field(frozenset({simple(schema)}))} if kind else {}


def below(path: str, name: str) -> str:
    return name if path == ROOT else f"{path}.{name}"


def within(path: str, mark: str) -> str:
    return mark if path == ROOT else path + mark


def simple(schema: Schema) -> str:
    if "enum" in schema:
        return enum(schema["enum"])
    return "/".join(filter(None, (schema["type"], schema.get("format"))))


def enum(values: Sequence[str] | Mapping[str, str]) -> str:
    return f"enum {'|'.join(sorted(map(str, values)))}"


def parent(path: str) -> str:
    """Return the field that a field is in."""
    for end in ("[]", "{}"):
        if path.endswith(end):
            return path.removesuffix(end) or ROOT
    return path.rpartition(".")[0] or ROOT


def both(one: Fields, other: Fields) -> Fields:
    """Return what holds where two schemas do."""
    return {
        path: Field(
            one.get(path, NOTHING).types | other.get(path, NOTHING).types,
            one.get(path, NOTHING).is_required or other.get(path, NOTHING).is_required,
        )
        for path in {**one, **other}
    }


def either(variants: Sequence[Fields]) -> Fields:
    """Return what holds whichever of the variants does: required is what is required in all that could have it."""
    every = {path for fields in variants for path in fields}
    fields = {}
    for path in every:
        has = [variant.get(path, NOTHING) for variant in variants if path in variant or parent(path) in variant]
        types = frozenset(type_ for field in has for type_ in field.types)
        fields[path] = Field(types, all(field.is_required for field in has))
    return fields


NOTHING = Field(frozenset(), is_required=False)
