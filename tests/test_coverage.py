"""Every operation of the document is read and tested, or says why not."""

import pytest

from exporter.collectors import discover
from tools.coverage import DOCUMENT, NETWORK, TESTS, Operation

EACH = [*DOCUMENT, *NETWORK]


@pytest.mark.parametrize("operation", EACH, ids=lambda operation: " ".join(operation[:3]))
def test_an_operation_has_a_collector_and_a_test_or_a_reason(operation: Operation) -> None:
    assert bool(operation.collectors) != bool(operation.why)
    assert set(operation.collectors) <= set(discover())
    assert [*operation.tests()] == [f"test_{name}.py" for name in operation.collectors]


def test_each_operation_stands_once() -> None:
    named = [(operation.base, operation.method, operation.path) for operation in (*DOCUMENT, *NETWORK)]
    assert len(set(named)) == len(named)


def test_every_collector_stands_in_it() -> None:
    named = {name for operation in (*DOCUMENT, *NETWORK) for name in operation.collectors}
    assert named == set(discover())


@pytest.mark.parametrize("path", ["/v0/state/acs", "/v2/parties"])
def test_a_longer_path_is_no_test_of_a_shorter_one(path: str) -> None:
    operation = Operation("scan", "GET", path)
    assert operation.is_asked_in(f'node.get("{path}?a=1")')
    assert operation.is_asked_in(f'"{path}"')
    assert not operation.is_asked_in(f'"{path}/participant-id"')
    assert not operation.is_asked_in(f'"{path}-page"')
    assert TESTS.is_dir()
