"""The configuration becomes settings, or a list of all its errors: where, what, and what would be right."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from exporter.config.collector_models import CollectorSpec, ConfiguredTarget, target_models
from exporter.config.config_warnings import demand_warnings, target_warnings
from exporter.config.defaults import DEFAULT_FILE, PREFIX
from exporter.config.models import KIND_ALIASES, Budget, Kind, Strict, TargetName, Text
from exporter.config.origins import Origins, Place
from exporter.config.sources import (
    is_written,
    merge_documents,
    merge_target,
    nearest,
    read_environment,
)
from exporter.config.validation_errors import ConfigError, validate
from exporter.config.yaml_file import Lines, Tree, read_lines
from exporter.errors import WrongConfiguration

EACH_TARGETS_OWN = ("kind", "url", "url_file")
NO_ROLE = "is missing; write own for a scan that you run, observed for one that others run"
KIND_NAMES = [*Kind, *(f"{alias} (the same as {kind})" for alias, kind in KIND_ALIASES.items())]
NO_KIND = f"one of {', '.join(KIND_NAMES)}"


class Document(Strict, BaseSettings):
    """The top of the file. Targets and defaults are checked on their own, each target by the model of its kind."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__")

    defaults: dict[str, Any] = {}
    """Any target setting but kind, url and url_file, for all targets; a target's own wins."""
    party_labels: Literal["full", "short"] = "full"
    """How parties are written in labels; `short` is the hint and 8 characters, the full one where two collide."""
    aliases: dict[Text, Text] = {}
    """What to write in labels instead of a party, by party."""
    budget: Budget = Budget()
    """How many requests a node may get."""
    targets: dict[TargetName, Any] = {}
    """The nodes to watch, by the name that becomes the label `target`."""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)  # the environment is read apart, where names that nothing reads can be reported


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration, checked."""

    party_labels: Literal["full", "short"]
    aliases: Mapping[str, str]
    budget: Budget
    targets: Mapping[str, ConfiguredTarget]
    warnings: Sequence[str] = field(default=(), compare=False)
    """What is hardly what was meant, each with where it is written."""


def load(
    path: Path,
    discovered: Mapping[str, CollectorSpec],
    taken_labels: Iterable[str] = (),
    flags: Iterable[str] = (),
    is_here: Callable[[str], bool] = lambda name: True,
) -> Settings:
    """Return the settings of a file and the environment.

    `taken_labels` are label names that no target may add, `flags` the variables that are command line flags, `is_here`
    is true of the targets that this exporter watches.
    Raises WrongConfiguration with one sentence for each error.
    """
    in_environment = any(name.upper().startswith(f"{PREFIX}TARGETS") for name in os.environ)
    is_there = not in_environment or path != DEFAULT_FILE or path.exists()
    file, lines = read_lines(path) if is_there else ({}, Lines())
    make_paths_absolute(file, path.parent)
    environment, errors = read_environment(Document, file, flags)
    try:
        settings, more = check(merge_documents(file, environment), discovered, taken_labels)
    except RecursionError as error:  # only JSON can be as deep: a file has a limit
        raise WrongConfiguration([f"environment variable {PREFIX}*: is nested too deeply"]) from error
    origins = Origins(path, file, lines, environment)
    of_file = set(check(file, discovered, taken_labels)[1] if more and environment else more)
    errors += [f"{origins.of(place, is_from_file=(place, text) in of_file)}: {text}" for place, text in more]
    if errors or settings is None:
        raise WrongConfiguration(errors)
    warnings = [*target_warnings(settings.targets), *demand_warnings(settings.targets, settings.budget, is_here)]
    written = [(origins.written_at(place), text) for place, text in warnings]
    return replace(settings, warnings=tuple(dict.fromkeys(f"{origins.of(place)}: {text}" for place, text in written)))


def make_paths_absolute(file: Tree, folder: Path) -> None:
    """Let the paths of a file's secret files begin at its folder, wherever the exporter is started."""
    targets = file.get("targets")
    for target in [file.get("defaults"), *(targets.values() if isinstance(targets, dict) else ())]:
        for tree, key in files_of(target):
            if isinstance(tree.get(key), str) and tree[key]:
                tree[key] = str(folder.absolute() / tree[key])


def files_of(target: object) -> Iterator[tuple[Tree, str]]:
    """Give where in a target's tree a file may be named."""
    if isinstance(target, dict):
        yield target, "url_file"
        yield from ((target["auth"], "token_file"),) if isinstance(target.get("auth"), dict) else ()
        headers = target.get("header_files")
        yield from ((headers, name) for name in headers) if isinstance(headers, dict) else ()


def check(
    tree: Tree, discovered: Mapping[str, CollectorSpec], taken_labels: Iterable[str] = ()
) -> tuple[Settings | None, list[ConfigError]]:
    """Check a whole tree; return settings if there is no error, and every error with its place."""
    models = target_models(tuple(discovered.values()))
    document, errors = validate(Document, tree, ())
    defaults = tree["defaults"] if isinstance(tree.get("defaults"), dict) else {}
    errors += default_errors(defaults, discovered, models)
    written = tree.get("targets", {})
    if not written:
        errors.append((("targets",), "no node is configured; write its name, and below it kind and url"))
    targets: dict[str, ConfiguredTarget] = {}
    from_defaults: list[ConfigError] = []
    for name, own in written.items() if isinstance(written, dict) else ():
        target, more, inherited = check_target(("targets", str(name)), own, defaults, discovered, models)
        errors += more
        from_defaults += inherited
        if target is not None:
            targets[str(name)] = target
    errors += label_errors(targets, frozenset(taken_labels))
    # What the defaults have wrong is reported at their own place, but for what only a target shows to be missing.
    reported = set(errors)
    errors += [error for error in from_defaults if (("defaults", *error[0][2:]), error[1]) not in reported]
    if errors or document is None:
        return None, errors
    return Settings(document.party_labels, document.aliases, document.budget, targets), []


def check_target(
    place: Place,
    own: object,
    defaults: Tree,
    discovered: Mapping[str, CollectorSpec],
    models: Mapping[Kind, type[ConfiguredTarget]],
) -> tuple[ConfiguredTarget | None, list[ConfigError], list[ConfigError]]:
    """Check one target; return it, its own errors, and those that come from the defaults and are reported there."""
    if not isinstance(own, dict):
        return None, [(place, "is not a mapping; write kind and url below it")], []
    if isinstance(own.get("kind"), str):
        own = {**own, "kind": KIND_ALIASES.get(own["kind"], own["kind"])}
    if own.get("kind") not in [*Kind]:
        # Without its kind only the settings that all kinds share can be checked; better some errors than one.
        shared = {key: value for key, value in own.items() if key not in ("kind", "collectors")}
        _, more = validate(models[Kind.SCAN], {**shared, "kind": Kind.SCAN}, place)
        return None, [((*place, "kind"), f"{'must be' if 'kind' in own else 'is missing; write'} {NO_KIND}"), *more], []
    kind = Kind(own["kind"])
    tree = merge_target(applicable(defaults, kind, discovered), own)
    if tree.get("role") == "observed":
        switch_off_for_observed(tree, own, discovered, kind)
    target, errors = validate(models[kind], tree, place)
    if kind is Kind.SCAN and "role" not in tree and not any("mean role?" in text for _, text in errors):
        errors.append(((*place, "role"), NO_ROLE))
    inherited = [error for error in errors if is_written(defaults, error[0][2:]) and not is_written(own, error[0][2:])]
    own_errors = [error for error in errors if error not in inherited]
    return target, [*own_errors, *collector_errors(own, place, discovered, kind)], inherited


def switch_off_for_observed(tree: Tree, own: Tree, discovered: Mapping[str, CollectorSpec], kind: Kind) -> None:
    """Switch off what is not requested from somebody else's node unless its target or the defaults enable it."""
    collectors, written = tree.setdefault("collectors", {}), own.get("collectors") or {}
    for name, each in discovered.items():
        if kind in each.kinds and not each.on_for_observed and isinstance(collectors, dict) and name not in written:
            given = collectors.get(name, {})
            collectors[name] = {"enabled": False, **given} if isinstance(given, dict) else given


def default_errors(
    defaults: Tree, discovered: Mapping[str, CollectorSpec], models: Mapping[Kind, type[ConfiguredTarget]]
) -> Iterator[ConfigError]:
    """Check the defaults as each kind of target would read them, whether a target of that kind is there or not."""
    place = ("defaults",)
    reported = set()
    for kind in Kind:
        pretended = {**applicable(defaults, kind, discovered), "kind": kind, "url": "http://node"}
        for error in validate(models[kind], pretended, place, partial=True)[1]:
            if error not in reported:
                reported.add(error)
                yield error
    yield from collector_errors(defaults, place, discovered)
    yield from (
        (("defaults", key), "set it in each target, not in defaults") for key in EACH_TARGETS_OWN if key in defaults
    )


def applicable(defaults: Tree, kind: Kind, discovered: Mapping[str, CollectorSpec]) -> Tree:
    """Return the defaults without what only a target can set, and without collectors for other kinds of target."""
    shared = {name: value for name, value in defaults.items() if name not in EACH_TARGETS_OWN}
    collectors = shared.get("collectors")
    if not isinstance(collectors, dict):
        return shared
    kept = {name: value for name, value in collectors.items() if name in discovered and kind in discovered[name].kinds}
    return {**shared, "collectors": kept}


def collector_errors(
    tree: Tree, place: Place, discovered: Mapping[str, CollectorSpec], kind: Kind | None = None
) -> Iterator[ConfigError]:
    """Give an error for each wrong collector name: one that is right for another kind of target has its own text."""
    collectors = tree.get("collectors")
    for name in collectors if isinstance(collectors, dict) else ():
        if name not in discovered:
            yield (*place, "collectors", str(name)), f"no such collector{nearest(str(name), discovered)}"
        elif kind and kind not in discovered[name].kinds:
            kinds = " or ".join(sorted(discovered[name].kinds))
            yield (*place, "collectors", name), f"works only with targets of kind {kinds}; this one is a {kind}"


def label_errors(targets: Mapping[str, ConfiguredTarget], taken: frozenset[str]) -> Iterator[ConfigError]:
    everywhere = {label for target in targets.values() for label in target.labels}
    for name, target in targets.items():
        place = ("targets", name, "labels")
        for label in sorted(everywhere - target.labels.keys()):
            yield place, f"the label {label} is missing; other targets have it, and all need the same names"
        for label in sorted(taken & target.labels.keys()):
            yield (*place, label), "this label name is reserved; choose another"
