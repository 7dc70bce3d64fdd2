"""Where settings are written: a YAML file, and `CANTON_EXPORTER_*` variables laid over it."""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsError

from exporter.errors import WrongConfiguration

PREFIX = "CANTON_EXPORTER_"
INJECTED = ("PORT", "SERVICE_")  # Kubernetes sets these in every pod beside a Service named canton-exporter
Tree = dict[str, Any]


class UniqueKeyLoader(yaml.SafeLoader):
    """YAML lets the last of two equal keys win in silence: here they are a fault."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value} stands twice", problem_mark=key.start_mark)
            if isinstance(key, yaml.ScalarNode):
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_file(path: Path, flag: str = "--config.file", first: str = "targets") -> Tree:
    """Return the tree of the file that `flag` names. Raises WrongConfiguration with one sentence if there is none."""
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), UniqueKeyLoader)  # noqa: S506 - a SafeLoader, only stricter
    except OSError as error:
        raise WrongConfiguration([f"{path}: cannot be read ({error.strerror}); name the file with {flag}"]) from error
    except UnicodeDecodeError as error:
        raise WrongConfiguration([f"{path}: is not UTF-8 text"]) from error
    except yaml.MarkedYAMLError as error:
        at = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise WrongConfiguration([f"{path}{at}: is not YAML: {error.problem}"]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise WrongConfiguration([f"{path}: is not YAML: {' '.join(str(error).split())}"]) from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise WrongConfiguration([f"{path}: holds no settings; begin with {first}:"])
    return tree


def read_environment(top: type[BaseSettings], file: Tree, flags: Iterable[str] = ()) -> tuple[Tree, list[str]]:
    """Return the tree that the environment spells, and the faults of variables that nothing reads.

    `flags` are the variables that are command line flags. A target's name is matched to the file's with upper and
    lower case, `-` and `_` taken as equal, since not every shell can write every name.
    """
    try:
        tree: Tree = EnvSettingsSource(top)()
    except SettingsError as error:
        return {}, [f"environment variable {PREFIX}*: {error}; write a mapping as JSON, or its keys apart with __"]
    written = {fold(name): name for name in file.get("targets") or ()}
    if isinstance(tree.get("targets"), dict):
        tree["targets"] = {written.get(fold(name), name): target for name, target in tree["targets"].items()}
    flags = set(flags)
    known = {PREFIX + field.upper() for field in top.model_fields} | flags
    faults = []
    for variable in sorted(os.environ):
        name = variable.upper()
        if not name.startswith(PREFIX) or name.removeprefix(PREFIX).startswith(INJECTED) or name in flags:
            continue
        field = PREFIX + name.removeprefix(PREFIX).partition("__")[0]
        if field not in known:
            faults.append(f"environment variable {variable}: no such setting{nearest(name, known)}")
    return tree, faults


def fold(name: object) -> str:
    return str(name).casefold().replace("-", "_")


def nearest(key: str, names: Iterable[str]) -> str:
    """Return what to say of the name that was probably meant, or nothing."""
    close = difflib.get_close_matches(key, [name for name in names if name != key], n=1)
    return f"; did you mean {close[0]}?" if close else ""


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> Tree:
    """Return `above` laid over `below`: mappings key by key, anything else whole."""
    merged = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], dict) and isinstance(above[key], dict):
            merged[key] = merge(below[key], above[key])
    return merged


def holds(tree: object, place: Iterable[str]) -> bool:
    """Tell whether a tree has something written at a place."""
    for step in place:
        if not isinstance(tree, dict) or step not in tree:
            return False
        tree = tree[step]
    return True
