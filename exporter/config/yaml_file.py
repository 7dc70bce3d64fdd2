"""The YAML files that operators write, read within limits: one of a few kilobytes can stand for billions of nodes."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from exporter.errors import WrongConfiguration
from exporter.files import read

Tree = dict[str, Any]

MOST_BYTES = 2**20
"""What a ConfigMap or Secret of Kubernetes can hold."""
MOST_NODES = 100_000
"""Keys, values, lists and mappings, those that an alias or a merge key repeats counted each time."""
MOST_ALIASES = 1000
MOST_DEPTH = 100
"""How deep lists and mappings may be nested; the parser calls itself for each level."""
TOO_DEEP = f"is nested more than {MOST_DEPTH} levels deep"
MOST_DIGITS = 100
"""YAML has numbers to the base of 60, and the time to read one grows with the square of its length."""

NO_VALUE = "a value looks like a date, a number or a tag, and is not a valid one; quote it"


class NotAllowed(yaml.MarkedYAMLError):
    """What YAML allows, and we do not."""


class BoundedLoader(yaml.SafeLoader):
    """Refuses what is too much while it parses, and the keys that YAML takes in silence: equal ones, and lists."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = self._aliases = self._depth = 0
        self._sizes: dict[int, int] = {}
        """Nodes that the list or mapping with this id stands for; an alias to one that is missing is inside it."""

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:  # noqa: N803 - PyYAML's name
        if self.flow_level >= MOST_DEPTH:  # the scanner is far ahead of the composer, and slower with each level
            raise NotAllowed(problem=TOO_DEEP, problem_mark=self.get_mark())
        super().fetch_flow_collection_start(TokenClass)

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            return self._compose_alias(parent, index)
        before, mark = self._nodes, self._mark()
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise NotAllowed(problem=TOO_DEEP, problem_mark=mark)
        self._count(1, mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(node, yaml.MappingNode):
            check_keys(node)
        self._sizes[id(node)] = self._nodes - before
        return node

    def _compose_alias(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        mark = self._mark()
        self._aliases += 1
        if self._aliases > MOST_ALIASES:
            raise NotAllowed(problem=f"has more than {MOST_ALIASES} aliases", problem_mark=mark)
        node = super().compose_node(parent, index)
        if id(node) not in self._sizes:
            raise NotAllowed(problem="a YAML alias refers to itself", problem_mark=mark)
        self._count(self._sizes[id(node)], mark)
        return node

    def _mark(self) -> yaml.Mark:
        """Return where the next node begins."""
        mark: yaml.Mark = self.peek_event().start_mark  # type: ignore[no-untyped-call] # it has no types
        return mark

    def _count(self, nodes: int, mark: yaml.Mark) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES:
            problem = f"has more than {MOST_NODES} keys and values, each alias counted with all that it stands for"
            raise NotAllowed(problem=problem, problem_mark=mark)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:  # of a date, a number or a tag that looks like one
            raise NotAllowed(problem=NO_VALUE, problem_mark=node.start_mark) from error

    def construct_number(self, node: yaml.ScalarNode) -> Any:
        if len(node.value) > MOST_DIGITS:
            raise ValueError("the number is too long")
        is_whole = node.tag.endswith(":int")
        return self.construct_yaml_int(node) if is_whole else self.construct_yaml_float(node)


BoundedLoader.add_constructor("tag:yaml.org,2002:int", BoundedLoader.construct_number)
BoundedLoader.add_constructor("tag:yaml.org,2002:float", BoundedLoader.construct_number)


def check_keys(node: yaml.MappingNode) -> None:
    """Raise NotAllowed for a key that is not a scalar, or that appears twice: YAML lets the last win in silence."""
    seen = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise NotAllowed(problem="a key is a list or a mapping", problem_mark=key.start_mark)
        if key.value in seen:
            raise NotAllowed(problem=f"the key {printable(key.value)} appears twice", problem_mark=key.start_mark)
        seen.add(key.value)


class Lines:
    """The line of each setting of a file."""

    def __init__(self, root: yaml.Node | None = None) -> None:
        self._root = root
        self._inside: dict[int, dict[str, tuple[int, yaml.Node]]] = {}

    def of(self, place: Iterable[str]) -> int | None:
        """Return the line of a setting, or of the last one that is there on the way to it; None if none is."""
        node, line = self._root, None
        for step in place:
            if node is None or (found := self._children(node).get(step)) is None:
                break
            line, node = found
        return line

    def _children(self, node: yaml.Node) -> dict[str, tuple[int, yaml.Node]]:
        if id(node) not in self._inside:
            pairs: Iterable[tuple[str, yaml.Node, yaml.Node]] = ()
            if isinstance(node, yaml.MappingNode):  # what it merges stands first, and the last of two keys counts
                pairs = ((str(key.value), key, value) for key, value in node.value)
            elif isinstance(node, yaml.SequenceNode):
                pairs = ((str(number), item, item) for number, item in enumerate(node.value))
            self._inside[id(node)] = {name: (key.start_mark.line + 1, value) for name, key, value in pairs}
        return self._inside[id(node)]


def read_file(path: Path, flag: str = "--config.file", first: str = "targets") -> Tree:
    """Return the tree of the file that `flag` names. Raises WrongConfiguration with one sentence if there is none."""
    return read_lines(path, flag, first)[0]


def read_lines(path: Path, flag: str = "--config.file", first: str = "targets") -> tuple[Tree, Lines]:
    """Return the tree of a file and its lines. Raises WrongConfiguration with one sentence if there is none."""
    try:
        loader = BoundedLoader(read(path, MOST_BYTES).decode("utf-8"))
        root = loader.get_single_node()
        tree = None if root is None else loader.construct_document(root)
    except OSError as error:
        raise WrongConfiguration([f"{path}: cannot be read ({error.strerror}); name the file with {flag}"]) from error
    except UnicodeDecodeError as error:
        raise WrongConfiguration([f"{path}: is not UTF-8 text"]) from error
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise WrongConfiguration([f"{path}{line}: {problem_of(error)}"]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise WrongConfiguration([f"{path}: is not YAML: {' '.join(str(error).split())}"]) from error
    if tree is None:
        return {}, Lines()
    if not isinstance(tree, dict) or not all(isinstance(key, str) for key in tree):
        raise WrongConfiguration([f"{path}: must be a mapping of settings, such as {first}:"])
    return tree, Lines(root)


def problem_of(error: yaml.MarkedYAMLError) -> str:
    if isinstance(error, NotAllowed):
        return str(error.problem)
    # The parser's message would repeat the value, and an unquoted secret may well look like a tag or an alias.
    unknown = re.search("tag|alias", error.problem or "")
    return f"is not YAML: {'a tag or alias that is not known; quote the value' if unknown else error.problem}"


def printable(text: str) -> str:
    """Return text that can forge no line of its own."""
    return text if text.isprintable() else ascii(text)[1:-1]
