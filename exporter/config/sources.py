"""The `CANTON_EXPORTER_*` variables, and how they are laid over what the file says."""

import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsError

from exporter.config.defaults import PREFIX
from exporter.config.yaml_file import Tree, printable

# What Kubernetes sets in every pod beside a Service called canton-exporter, or canton-exporter-something.
INJECTED = re.compile(
    r"(PORT|SERVICE_).*|([A-Z0-9]+_)+(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?)?)"
)
HEADERS = ("headers", "header_files")


class Environment(EnvSettingsSource):
    """Reads JSON only where it is a list or a mapping: a token or a name that looks like a number is text."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        decoded = super().decode_complex_value(field_name, field, value)
        return decoded if isinstance(decoded, dict | list) else value


def read_environment(top: type[BaseSettings], file: Tree, flags: Iterable[str] = ()) -> tuple[Tree, list[str]]:
    """Return the tree that the environment spells, and the errors of variables that nothing reads.

    `flags` are the variables that are command line flags. A target's name is matched to the file's with upper and
    lower case, `-` and `_` taken as equal, since not every shell can write every name.
    """
    try:
        tree: Tree = trimmed(Environment(top)())
    except (SettingsError, RecursionError) as error:
        field = re.search(r'field "(\w+)"', str(error))
        variable = PREFIX + (field[1].upper() if field else "*")
        text = f"environment variable {variable}: is not JSON; write a JSON mapping, or one variable for each key"
        return {}, [text, *unknown_variables(top, {*flags})]
    for part in {"defaults", "targets"} & tree.keys():  # just below the top pydantic-settings leaves JSON as it is
        tree[part] = from_json(tree[part])
    errors = []
    targets = file.get("targets")
    names: dict[str, list[str]] = {}
    for name in targets if isinstance(targets, dict) else ():
        names.setdefault(fold(name), []).append(str(name))
    if isinstance(tree.get("targets"), dict):
        for name in tree["targets"]:
            if len(fits := names.get(fold(name), [])) > 1:
                variable = f"{PREFIX}TARGETS__{fold(name).upper()}"
                errors.append(f"environment variable {variable}__*: could mean {' or '.join(fits)}; rename one")
        tree["targets"] = {names.get(fold(name), [name])[0]: target for name, target in tree["targets"].items()}
    for target in [tree.get("defaults"), *(tree["targets"].values() if isinstance(tree.get("targets"), dict) else ())]:
        for key in HEADERS:
            if isinstance(target, dict) and isinstance(target.get(key), dict):
                target[key] = {header_name(name): value for name, value in target[key].items()}
    return tree, [*errors, *unknown_variables(top, {*flags})]


def unknown_variables(top: type[BaseSettings], flags: set[str]) -> Iterator[str]:
    known = {field.upper() for field in top.model_fields} | {flag.removeprefix(PREFIX) for flag in flags}
    for variable in sorted(os.environ):
        name = variable.upper().removeprefix(PREFIX)
        if not variable.upper().startswith(PREFIX) or INJECTED.fullmatch(name) or name in known:
            continue
        if name.partition("__")[0] not in known:
            close = nearest(name, known).replace("mean ", f"mean {PREFIX}")
            yield f"environment variable {printable(variable)}: no such setting{close}"


def trimmed(part: Any) -> Any:
    """Return what the environment holds without line breaks at the end: secrets that come from files have one."""
    if isinstance(part, dict):
        return {key: trimmed(value) for key, value in part.items()}
    return part.rstrip("\r\n") if isinstance(part, str) else part


def from_json(part: Any) -> Any:
    """Return the list or mapping that a text holds as JSON, else what was given; of a mapping each of its values so."""
    try:
        if isinstance(part, dict):
            return {key: from_json(value) if isinstance(value, str) else value for key, value in part.items()}
        return json.loads(part) if isinstance(part, str) and part.startswith(("{", "[")) else part
    except (ValueError, RecursionError):
        return part


def header_name(name: str) -> str:
    """Return a header's name from a variable's, which can hold no hyphen; one given as JSON has capitals or hyphens."""
    return name.replace("_", "-") if name.islower() else name


def fold(name: object) -> str:
    return str(name).casefold().replace("-", "_")


def nearest(key: str, names: Iterable[str]) -> str:
    """Return a hint at the name that was probably meant, or nothing."""
    close = difflib.get_close_matches(key, [name for name in names if name != key], n=1)
    return f"; did you mean {close[0]}?" if close else ""


def merge(below: Tree, above: Tree, within: Callable[[Tree, Tree], Tree] | None = None) -> Tree:
    """Return `above` laid over `below`: mappings key by key, each as `within` does it, anything else whole."""
    merged = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], dict) and isinstance(above[key], dict):
            merged[key] = (within or merge)(below[key], above[key])
    return merged


def merge_documents(below: Tree, above: Tree) -> Tree:
    """Return one whole configuration merged over a second one."""
    merged = merge(below, above)
    for part, within in (("defaults", merge_target), ("targets", partial(merge, within=merge_target))):
        if isinstance(lower := below.get(part), dict) and isinstance(upper := above.get(part), dict):
            merged[part] = within(lower, upper)
    return merged


def merge_target(below: Tree, above: Tree) -> Tree:
    """Return the settings of a target or of the defaults merged over those below.

    A setting that gives the same thing in a different way replaces it: a token or url in a file and a written one, a
    header however it is spelled, a different type of auth.
    """
    below = without_replaced(below, above, "url", "url_file")
    if isinstance(old := below.get("auth"), dict) and isinstance(new := above.get("auth"), dict):
        is_other = "type" in old and new.get("type", old["type"]) != old["type"]
        below["auth"] = {} if is_other else without_replaced(old, new, "token", "token_file")
    replaced = {str(name).lower() for key in HEADERS if isinstance(above.get(key), dict) for name in above[key]}
    for key in HEADERS:
        if isinstance(headers := below.get(key), dict):
            below[key] = {name: value for name, value in headers.items() if str(name).lower() not in replaced}
    return merge(below, above)


def without_replaced(below: Tree, above: Tree, *ways: str) -> Tree:
    """Return a copy of `below` without any of the keys `ways` if `above` has one of them."""
    is_replaced = not above.keys().isdisjoint(ways)
    return {key: value for key, value in below.items() if not (is_replaced and key in ways)}


def is_written(tree: object, place: Iterable[str]) -> bool:
    """Return whether a tree has something written at a place."""
    for step in place:
        if not isinstance(tree, dict) or step not in tree:
            return False
        tree = tree[step]
    return True


def value_at(tree: object, place: Iterable[str]) -> object:
    """Return what is written at a place that a tree holds."""
    for step in place:
        tree = tree[step] if isinstance(tree, dict) else None
    return tree
