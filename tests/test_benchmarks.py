"""The benchmarks: that one whose subject fails gives no figure, and says what failed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.row import SMOKE, Row, Size, Wrong
from benchmarks.targets import judge
from benchmarks.watches import check_count, measure
from tests.nodes import TestNode

TINY = SMOKE._replace(targets=2, settle_seconds=0.0, seconds=0.2)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporter.scheduling.schedule.SPREAD", timedelta(milliseconds=50))


async def test_watches_that_fail_are_not_measured(node: TestNode) -> None:
    node.answer_everything(status=500, answers={"code": "X", "cause": "no database"})
    with pytest.raises(Wrong, match=r"\d watches do not succeed; ledger-\d/\w+: .*no database"):
        await measure(node.url, TINY)


async def test_watches_that_only_know_that_the_node_is_down_are_not_measured() -> None:
    with pytest.raises(Wrong, match="watches do not succeed; ledger-0/health: the node is down"):
        await measure("http://127.0.0.1:9", TINY)


@pytest.mark.parametrize("runs", [0, 2_900, 9_100])
def test_a_schedule_that_is_off_is_not_measured(runs: int) -> None:
    with pytest.raises(Wrong, match=f"{runs} runs ended, where about 6000 were due"):
        check_count(runs, 6_000.0, 3_000)


def test_a_schedule_that_is_right_is_measured() -> None:
    check_count(5_990, 6_000.0, 3_000)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("", "0 watches fail, such as all: none has run"),
        ('canton_collector_success{a="b"} 0\ncanton_collector_failure_info{reason="x"} 1\n', "1 watches fail, such as"),
    ],
)
def test_targets_that_fail_are_not_measured(page: str, reason: str) -> None:
    with pytest.raises(Wrong, match=reason):
        judge(page)


def test_the_command_fails_with_what_failed_and_measures_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def good(size: Size) -> Iterator[Row]:
        yield Row("a ratio", 0.5, target="<= 1")

    def bad(size: Size) -> Iterator[Row]:
        yield Row("another", 2.0, target="<= 1")
        raise Wrong("7 watches do not succeed")

    monkeypatch.setattr(benchmarks, "BENCHMARKS", {"bad": bad, "good": good})
    monkeypatch.setattr("sys.argv", ["benchmarks"])
    assert benchmarks.main() == 1
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "another 2.00 <= 1 MISSED",
        "bad FAILED: 7 watches do not succeed",
        "a ratio 0.50 <= 1",
    ]


def test_a_benchmark_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "wings"])
    with pytest.raises(SystemExit):
        benchmarks.main()
    assert "no such benchmark: wings; there are rendering, " in capsys.readouterr().err
