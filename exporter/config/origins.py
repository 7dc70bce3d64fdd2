"""Where each setting was written: the line of the file, or the variable, so that nobody looks in the wrong one."""

import os
from pathlib import Path

from exporter.config.defaults import PREFIX
from exporter.config.sources import fold, value_at
from exporter.config.yaml_file import Lines, Tree, printable

Place = tuple[str, ...]


class Origins:
    """The file, with its lines, and what the environment lays over it."""

    def __init__(self, path: Path, file: Tree, lines: Lines, environment: Tree) -> None:
        self._path, self._file, self._lines, self._environment = path, file, lines, environment

    def written_at(self, place: Place) -> Place:
        """Return the place in the defaults of what a target has from there, else the place itself."""
        inherited = ("defaults", *place[2:])
        if place[:1] != ("targets",) or self._depth(place) >= self._depth(inherited) + 1:
            return place
        return inherited

    def of(self, place: Place, *, is_from_file: bool = True) -> str:
        """Return where a setting is written, or the last mapping on the way to one that is missing.

        `is_from_file` says for a mapping that both have a part of whether the file alone would be wrong too.
        """
        source = self.written_at(place)
        in_file, in_environment = depth(self._file, source), depth(self._environment, source)
        overlaid = value_at(self._environment, source[:in_environment])
        is_value = in_environment > 0 and not isinstance(overlaid, dict)  # which replaces whatever the file has there
        if is_value or in_environment > in_file or (in_environment == in_file > 0 and not is_from_file):
            return variable(source if in_environment == len(source) else place)
        line = self._lines.of(source)
        return f"{self._path}{f':{line}' if line else ''}: {printable('.'.join(place))}"

    def _depth(self, place: Place) -> int:
        return max(depth(self._file, place), depth(self._environment, place))


def depth(tree: object, place: Place) -> int:
    """Return how many steps of a place a tree has."""
    for number, step in enumerate(place):
        if not isinstance(tree, dict) or step not in tree:
            return number
        tree = tree[step]
    return len(place)


def variable(place: Place) -> str:
    """Return the variable that holds a setting, all of it or a part; of one that is missing, that which could."""
    there = {fold(name): printable(name) for name in os.environ}
    name = name_of(place)
    for steps in range(len(place), 0, -1):
        if fold(name_of(place[:steps])) in there:
            rest = f": {printable('.'.join(place))}" if steps < len(place) else ""
            return f"environment variable {name_of(place[:steps])}{rest}"
    parts = [there[each] for each in there if each.startswith(f"{fold(name)}__")]
    return f"environment variable {parts[0] if len(parts) == 1 else f'{name}__*' if parts else name}"


def name_of(place: Place) -> str:
    return printable(PREFIX + "__".join(place).upper().replace("-", "_"))
