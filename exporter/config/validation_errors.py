"""What a model finds wrong with a tree, in words: where it was written, what is wrong, what would be right."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from exporter.config.origins import Place
from exporter.config.sources import nearest
from exporter.config.yaml_file import Tree

ConfigError = tuple[Place, str]
M = TypeVar("M", bound=BaseModel)

WHOLE_NUMBER, NUMBER, TRUE_OR_FALSE = "must be a whole number", "must be a number", "must be true or false"
A_TIME = "must be a time with its zone, such as 2026-12-01T00:00:00Z"
SENTENCES = {
    "literal_error": "must be {expected}",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "int_type": WHOLE_NUMBER,
    "int_parsing": WHOLE_NUMBER,
    "int_parsing_size": WHOLE_NUMBER,
    "int_from_float": WHOLE_NUMBER,
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": TRUE_OR_FALSE,
    "bool_parsing": TRUE_OR_FALSE,
    "string_type": "must be text",
    "string_too_short": "must not be empty",  # no setting has a higher minimum, nor has a list
    "string_too_long": "must have at most {max_length} characters",
    "list_type": "must be a list",
    "too_short": "needs at least one entry",
    "too_long": "must have at most {max_length} entries",
    "datetime_type": A_TIME,
    "datetime_parsing": A_TIME,
    "datetime_from_date_parsing": A_TIME,
    "timezone_aware": A_TIME,
    "path_type": "must be the path of a file",
    "dict_type": "is not a mapping; write its settings below it",
    "model_type": "is not a mapping; write its settings below it",
    "model_attributes_type": "is not a mapping; write its settings below it",
}
"""What would be right, by pydantic's type of an error and with what that gives: its own texts speak to programmers."""


def validate(model: type[M], tree: Tree, place: Place, partial: bool = False) -> tuple[M | None, list[ConfigError]]:
    """Validate a tree that stands at `place`; `partial` lets what is required be missing."""
    try:
        return model.model_validate(tree), []
    except ValidationError as error:
        schema = model.model_json_schema()
        errors = []
        for detail in error.errors(include_input=False, include_url=False):
            inside = written_place(detail["loc"], tree)
            name_of_collector = len(inside) == 2 and inside[0] == "collectors"  # collector_errors has a better text
            if (detail["type"] == "missing" and partial) or (detail["type"] == "extra_forbidden" and name_of_collector):
                continue
            errors.append(((*place, *inside), sentence(detail, inside, schema)))
        return None, errors


def written_place(steps: Iterable[str | int], tree: object) -> Place:
    """Return an error's place as it was written, without the names pydantic gives to the branches of a choice."""
    place: list[str] = []
    chosen: object = None
    for step in steps:
        if isinstance(tree, dict) and tree is not chosen and step == tree.get("type"):
            chosen = tree  # the name of the branch that its type chose
        elif step != "[key]":
            place.append(str(step))
            tree = tree.get(step) if isinstance(tree, dict) else None
    return tuple(place)


def sentence(detail: Mapping[str, Any], place: Place, schema: dict[str, Any]) -> str:
    """Return what is wrong and what would be right, from one of pydantic's errors."""
    type_, given = detail["type"], detail.get("ctx", {})
    if type_ == "extra_forbidden":
        return f"no such setting{nearest(place[-1], names_at(schema, place[:-1]))}"
    if type_ == "missing":
        return "is missing; write url or url_file" if place == ("url",) else "is missing"
    if type_.startswith("union_tag"):
        return "needs a type: " + " or ".join(names_at(schema, place, "const"))
    if type_ in SENTENCES:
        return SENTENCES[type_].format(**given).replace("'", "")
    text = str(detail["msg"]).removeprefix("Value error, ")
    return text[0].lower() + text[1:]


def names_at(schema: dict[str, Any], place: Place, what: str = "properties") -> list[str]:
    """Return the names of the settings that a model's JSON schema has at a place, or the types of a choice there."""
    definitions = schema.get("$defs", {})

    def branches(node: object) -> Iterator[dict[str, Any]]:
        if not isinstance(node, dict):
            return
        yield from branches(definitions.get(node["$ref"].rpartition("/")[2])) if "$ref" in node else ()
        for choice in (*node.get("anyOf", ()), *node.get("oneOf", ())):
            yield from branches(choice)
        yield node

    nodes = list(branches(schema))
    for step in place:
        nodes = [
            inner
            for node in nodes
            for inner in branches(node.get("properties", {}).get(step) or node.get("additionalProperties"))
        ]
    if what == "const":
        return [
            node["properties"]["type"]["const"]
            for node in nodes
            if "const" in node.get("properties", {}).get("type", {})
        ]
    return [name for node in nodes for name in node.get("properties", {})]
