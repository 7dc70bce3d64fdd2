"""Starts a new collector: writes or extends every file that one touches.

What it writes reads one number, `count`, of a GET. Each place to replace by the real thing has a mark; all checks pass
from the first minute, but for the one test that finds these marks.
"""

import argparse
import ast
import keyword
import re
import sys
from pathlib import Path
from string import Template
from typing import NamedTuple

from exporter.collectors import discover
from tools.left_to_do import MARK

ROOT = Path(__file__).parent.parent


class Places(NamedTuple):
    """Where a kind of node stands: in the simulated network, and the dashboard that is about it."""

    node: Path
    dashboard: Path


PLACES = {
    "scan": Places(Path("nodes/scan.py"), Path("scan_and_contracts.py")),
    "ledger": Places(Path("nodes/ledger.py"), Path("ledger.py")),
    "validator": Places(Path("nodes/validator.py"), Path("transfers_and_names.py")),
}

COLLECTOR = Template('''"""$title.

Asks: GET $route.
Needs: $needs.
Costs: one answer of some kB a run.
"""

from exporter.collector import Kind, Metric, Node, NotNegative, RunOutput, Strict, Struct, Yields, collector, seconds

# $mark: the lines Asks, Needs and Costs above, and each metric with its whole name.
$constant = Metric("canton_$name", "Number of $words.", source="GET $route")


# $mark: the fields that are read, as the API spells them.
class Answer(Struct):
    """The few fields that are read; one that may be absent is `X | None = None`."""

    count: NotNegative


# $mark: how often it runs, by how often that changes and what it costs.
@collector(Kind.$kind_name, interval=seconds(60), timeout=seconds(30))
async def $name(node: Node, options: Strict, previous: RunOutput) -> Yields:
    answer = await node.get("$route", Answer)
    yield $constant.sample(answer.count)
''')

TEST = Template('''"""$name: the number of $words."""

import pytest

from exporter.collectors.$name import $name
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

PATH = "$route"


# $mark: good answers as a node gives them; the empty answer; the collector's own edges.
def answer_well(node: TestNode) -> None:
    node.get(PATH, answers={"count": 3})


async def test_exports_the_number(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines($name$kind_argument) == ["canton_$name 3.0"]


@pytest.mark.parametrize("count", [None, -1, "three", 1.5, 2**63])
async def test_a_number_that_makes_no_sense_is_malformed(node: TestNode, lines: Lines, count: object) -> None:
    node.get(PATH, answers={"count": count})
    [line] = await lines($name$kind_argument)
    assert line.startswith(f"malformed: GET {PATH}: not the documented answer: ")


async def test_a_node_without_the_operation_is_unsupported(node: TestNode, lines: Lines) -> None:
    node.get(PATH, status=404, answers=NO_ROUTE)
    [line] = await lines($name$kind_argument)
    assert line.startswith(f"unsupported: GET {PATH}: 404: ")
''')

OPERATION = Template("            yield $operation\n")
ANSWER = Template("""
    async def $name(self, request: web.Request) -> web.Response:
        # $mark: what the network answers, from world/ or ledger/, and a test of it in tests/simulator/.
        return self.json({"count": 3})
""")
COVERAGE = Template('    Operation($kind_name, "GET", "$route", ("$name",)),\n')
SHAPE = Template(
    '    NoFile("$kind", "GET $route", "$mark: print its rows (docs/decisions/0010), or say why no file has it"),\n'
)
SECTION = Template(', Section("$title", $name())')
PANEL = Template("""

def $name() -> list[Made]:
    return [
        graph(
            "$title",
            "Number of $words. $mark: what is normal, and from which value on to worry.",
            most("canton_$name"),
            COUNT,
        )
    ]
""")
CHANGE = Template("- Collector `$name`: `canton_$name`, the number of $words. $mark: what operators gain.\n")


def write_skeletons(name: str, kind: str, route: str) -> list[Path]:
    """Write what a collector of this name needs; return the files. Raises FileExistsError if there is one already."""
    words = name.replace("_", " ")
    token = "nothing" if kind == "scan" else "a token for the node's audience, without rights"
    make = "public" if kind == "scan" else "Operation"
    values = {
        "mark": MARK,
        "name": name,
        "kind": kind,
        "constant": name.upper(),
        "words": words,
        "title": words.capitalize(),
        "route": route,
        "kind_name": kind.upper(),
        "needs": token,
        "kind_argument": "" if kind == "scan" else f', kind="{kind}"',
        "operation": f'{make}("GET", "{route}", self.{name})',
    }
    node, dashboard = (
        ROOT / "exporter/simulator" / PLACES[kind].node,
        ROOT / "dashboards/source" / PLACES[kind].dashboard,
    )
    module, test = ROOT / f"exporter/collectors/{name}.py", ROOT / f"tests/collectors/test_{name}.py"
    for path, template in ((module, COLLECTOR), (test, TEST)):
        with path.open("x") as file:
            file.write(template.substitute(values))
    coverage, shapes, changes = (ROOT / file for file in ("tools/coverage.py", "tests/shapes/table.py", "CHANGELOG.md"))
    insert(node, after=end_of(node, ast.AsyncFunctionDef), text=ANSWER.substitute(values))
    add_operation(node, OPERATION.substitute(values))
    insert(coverage, after=end_of(coverage, ast.AnnAssign, "NETWORK") - 1, text=COVERAGE.substitute(values))
    insert(shapes, after=end_of(shapes, ast.Assign, "NO_FILE") - 1, text=SHAPE.substitute(values))
    add_section(dashboard, SECTION.substitute(values), PANEL.substitute(values))
    changes.write_text(changes.read_text() + CHANGE.substitute(values))
    return [module, test, node, coverage, shapes, dashboard, changes]


def end_of(path: Path, kind: type[ast.stmt], name: str = "") -> int:
    """Return the last line of a module's last statement of this kind and name, or of its last class's."""
    found = 0
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, kind) and name in (getattr(statement, "name", ""), target_of(statement), ""):
            found = max(found, statement.end_lineno or 0)
    return found


def target_of(statement: ast.stmt) -> str:
    match statement:
        case ast.AnnAssign(target=target) | ast.Assign(targets=[target]):
            return ast.unparse(target)
    return ""


def add_operation(path: Path, text: str) -> None:
    """Write an operation where those stand that the network has and the document does not."""
    [operations] = (
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name == "operations"
    )
    for statement in operations.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "self.dialect.is_network":
            insert(path, after=statement.body[-1].end_lineno or 0, text=text)
            return
    insert(path, after=operations.end_lineno or 0, text=f"        if self.dialect.is_network:\n{text}")


def add_section(path: Path, section: str, panels: str) -> None:
    """Write a section behind a dashboard's last one, and its panels at the end of the module."""
    text = path.read_text()
    calls = [call for call in ast.walk(ast.parse(text)) if isinstance(call, ast.Call)]
    line, column = max(
        (call.end_lineno or 0, call.end_col_offset or 0) for call in calls if ast.unparse(call.func) == "Section"
    )
    lines = text.splitlines(keepends=True)
    lines[line - 1] = lines[line - 1][:column] + section + lines[line - 1][column:]
    path.write_text("".join(lines) + panels)


def insert(path: Path, after: int, text: str) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:after], text, *lines[after:]]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="make collector", description=__doc__)
    parser.add_argument("name", help="such as my_collector: the name of the collector, its module and its metric")
    parser.add_argument("kind", choices=PLACES, help="the kind of node that it reads")
    parser.add_argument("route", nargs="?", help="the path that it asks, below the target's url")
    given = parser.parse_args()
    name, route = given.name, given.route or f"/v0/{given.name.replace('_', '-')}"
    if not re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or keyword.iskeyword(name):
        parser.error(f"{name} is not a name of a module; write lower case letters, digits and underscores")
    if not re.fullmatch(r"(/[A-Za-z0-9_.-]+)+", route):
        parser.error(f"{route} is not a path without names to fill in; write one such as /v0/dso")
    if name in discover():
        parser.error(f"there is a collector {name} already")
    for path in write_skeletons(name, given.kind, route):
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
