"""The table of what is read holds what collectors really ask, in all dialects and when the node lacks this or that."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from inspect import getsource

import pytest

from exporter.api import ledger, scan
from exporter.api import mining_rounds as rounds
from exporter.api.node_kind import MARKS
from exporter.collectors import discover
from exporter.simulator import Dialect
from tests.shapes.conftest import Record
from tests.shapes.recording import Asked
from tests.shapes.table import anonymous
from tools.coverage import DOCUMENT, NETWORK


@pytest.fixture
async def asked(record: Record) -> set[Asked]:
    return {asked for dialect in Dialect for asked in (await record(dialect)).asked}


async def test_what_is_asked_stands_in_the_coverage_and_nothing_else(asked: set[Asked]) -> None:
    """What another kind of node has is asked for only to find out that it is not there."""
    really: dict[str, set[str]] = defaultdict(set)
    said: dict[str, set[str]] = defaultdict(set)
    for collector, kind, operation in asked:
        if not any(operation == f"GET {route}" for other, (route, _) in MARKS.items() if other is not kind):
            really[f"{kind} {operation}"].add(collector)
    for each in (*DOCUMENT, *NETWORK):
        said[f"{each.base} {each.method} {anonymous(each.path)}"].update(each.collectors)
    assert really == {operation: collectors for operation, collectors in said.items() if collectors}


def written(source: str) -> Iterator[str]:
    """Give each path that a module's code has in it, as a pattern."""
    for each in ast.walk(ast.parse(source)):
        text = each.value if isinstance(each, ast.Constant) else None
        if isinstance(text, str) and re.fullmatch(r"/[a-z0-9{}/_-]+", text):
            yield re.escape(anonymous(text)).replace(r"\{\}", "[^/]+")


async def test_every_path_in_the_code_was_asked(asked: set[Asked]) -> None:
    modules = [ledger, rounds, scan, *(import_module(f"exporter.collectors.{name}") for name in discover())]
    patterns = {pattern for module in modules for pattern in written(getsource(module))}
    assert len(patterns) > 40
    paths = " ".join(operation for _, _, operation in asked)
    assert not {pattern for pattern in patterns if not re.search(pattern, paths)}
