"""What every collector does when its node misbehaves, whichever collector it is: told from each one's good answers."""

import importlib
import typing
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import yaml

from exporter.collector import Collector
from exporter.collectors import discover, metrics_of
from exporter.collectors.health import health
from exporter.config.loader import check
from exporter.metrics.metric import Metric
from exporter.node.decoding import Struct
from exporter.web.lifecycle import masked
from tests.conftest import Lines
from tests.nodes import TestNode

COLLECTORS = list(discover().values())
ASKING = [collector for collector in COLLECTORS if collector is not health]  # to health no answer is an answer


def good(collector: Collector[Any]) -> tuple[Callable[[TestNode], None], dict[str, Any]]:
    """Return what tells a node good answers, and the options they need, from the collector's own test module."""
    module = importlib.import_module(f"tests.collectors.test_{collector.name}")
    return module.answer_well, getattr(module, "OPTIONS", {})


def structs(collector: Collector[Any]) -> Iterator[type[Struct]]:
    module = importlib.import_module(f"exporter.collectors.{collector.name}")
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == module.__name__:
            yield value


@pytest.fixture(autouse=True)
def lenient(node: TestNode) -> None:
    """A collector that remembers asks another question in its second run than in its first."""
    node.lenient = True


each = pytest.mark.parametrize("collector", COLLECTORS, ids=lambda collector: collector.name)
each_asking = pytest.mark.parametrize("collector", ASKING, ids=lambda collector: collector.name)


@each
async def test_shows_its_own_metrics_and_no_others(node: TestNode, lines: Lines, collector: Collector[Any]) -> None:
    answer, options = good(collector)
    answer(node)
    shown = {line.split("{")[0].split()[0] for line in await lines(collector, **options)}
    assert shown
    assert shown <= {metric.name for metric in metrics_of(collector.name)}


@each
async def test_passes_over_what_nobody_documented(node: TestNode, lines: Lines, collector: Collector[Any]) -> None:
    answer, options = good(collector)
    answer(node)
    before = await lines(collector, **options)
    for told in node.told.values():
        if told.body.startswith(b"{"):
            told.body = told.body.replace(b"{", b'{"somethingNew": {"a": [1, null]}, ', 1).replace(b", }", b"}")
    assert collector.name == "feature_support" or await lines(collector, **options) == before


@each_asking
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"status": 500, "answers": {"error": "An unexpected error occurred."}}, "refused"),
        ({"status": 503, "body": b"no healthy upstream"}, "refused"),
        ({"status": 200, "body": b"<!DOCTYPE html><html>Log in</html>"}, "refused"),
        ({"status": 302, "body": b"", "headers": {"Location": "http://127.0.0.1:9/login"}}, "refused"),
        ({"status": 401, "body": b"Unauthorized"}, "unauthorized"),
        ({"status": 403, "answers": {"error": "Authorization Failed"}}, "unauthorized"),
        ({"status": 429, "body": b"Too Many Requests: slower"}, "limited"),
        ({"status": 413, "answers": {"code": "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"}}, "too_large"),
        ({"body": b'{"broken": '}, "malformed"),
        ({"body": b""}, "malformed"),
        ({"body": b"\xff\xfe\x00"}, "malformed"),
        ({"body": b"[" * 200_000}, "malformed"),
        ({"answers": "a string"}, "malformed"),
        ({"answers": None}, "malformed"),
        ({"status": 404, "body": b"The requested resource could not be found."}, "unsupported"),
        ({"status": 405, "body": b""}, "unsupported"),
        ({"status": 501, "body": b""}, "unsupported"),
        ({"status": 400, "answers": {"code": "DEPRECATED_API_DISABLED", "cause": "off"}}, "unsupported"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_a_node_that_misbehaves_gives_its_reason(
    node: TestNode, lines: Lines, collector: Collector[Any], answer: dict[str, Any], reason: str
) -> None:
    node.answer_everything(**answer)
    [line] = await lines(collector, within=0.9, **good(collector)[1])  # too short to wait for one that answers 429
    assert line.split(":")[0] == reason


@each_asking
async def test_a_node_that_hangs_is_a_timeout(node: TestNode, lines: Lines, collector: Collector[Any]) -> None:
    node.silent = True
    [line] = await lines(collector, within=0.1, **good(collector)[1])
    assert line.startswith("timeout: ")


@each_asking
async def test_a_node_that_is_gone_is_unreachable(node: TestNode, lines: Lines, collector: Collector[Any]) -> None:
    await node.stop()
    [line] = await lines(collector, **good(collector)[1])
    assert line.startswith("unreachable: ")
    assert line.endswith("Connection refused")


@each
async def test_values_come_back_with_the_node(node: TestNode, lines: Lines, collector: Collector[Any]) -> None:
    answer, options = good(collector)
    node.answer_everything(status=500, body=b"")
    await lines(collector, **options)
    node.instead = None
    answer(node)
    assert ":" not in (await lines(collector, **options))[0].split("{")[0]


@each
def test_absent_null_and_default_are_one(collector: Collector[Any]) -> None:
    for struct in structs(collector):
        for field in msgspec.structs.fields(struct):
            if not field.required:
                assert field.default is None, f"{struct.__name__}.{field.name} reads null as something else than absent"
                assert type(None) in typing.get_args(field.type), f"{struct.__name__}.{field.name} refuses null"


@each
def test_is_documented(collector: Collector[Any]) -> None:
    summary, *rest = collector.doc.splitlines()
    assert summary.endswith(".")
    assert [line.split(":")[0] for line in rest if line[:5] in ("Asks:", "Needs", "Costs")] == [
        "Asks",
        "Needs",
        "Costs",
    ]
    assert all(option.description for option in collector.options.model_fields.values())


@each
def test_says_which_operation_each_value_comes_from(collector: Collector[Any]) -> None:
    for metric in metrics_of(collector.name):
        assert metric.source
        assert metric.help.endswith(f" From {metric.source}.")


def test_each_metric_is_declared_once() -> None:
    declared: list[Metric] = [metric for collector in COLLECTORS for metric in metrics_of(collector.name)]
    assert len({metric.name for metric in declared}) == len(declared)


@pytest.mark.parametrize("collector", COLLECTORS, ids=lambda collector: collector.name)
def test_it_can_be_switched_off_with_nothing_more_said(collector: Collector[Any]) -> None:
    off = {collector.name: {"enabled": False}}
    target = {"kind": min(collector.kinds), "role": "own", "url": "http://node", "collectors": off}
    settings, errors = check({"targets": {"a": target}}, discover())
    assert settings is not None, errors
    assert collector.name not in settings.targets["a"].collector_configs
    assert collector.name in yaml.safe_dump(masked(settings))
