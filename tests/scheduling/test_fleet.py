"""The fleet: which watches run, when, and that none holds up another."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from exporter.clock import Clock
from exporter.collector import Collector, RunOutput, Yields, collector, minutes, seconds
from exporter.collectors import discover
from exporter.config.loader import Settings, check
from exporter.config.models import Kind, Strict
from exporter.exposition.text import Format, write_page
from exporter.metrics.metric import Metric
from exporter.node.client import Node
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.sharding import Shard, shard_of
from exporter.scheduling.watch import Outcome
from tests.collectors import test_health
from tests.conftest import FakeClock
from tests.nodes import TestNode

BEATS = Metric("canton_beats", "How often this ran.")


@collector(*Kind, interval=timedelta(milliseconds=50), timeout=seconds(5))
async def beat(node: Node, options: Strict, previous: RunOutput) -> Yields:
    before = previous.of(BEATS)
    yield BEATS.sample(before[0].value + 1 if before else 1)


@collector(*Kind, interval=timedelta(milliseconds=50), timeout=minutes(60))
async def hang(node: Node, options: Strict, previous: RunOutput) -> Yields:
    await asyncio.sleep(3600)
    yield BEATS.sample(0)


@collector(Kind.LEDGER, interval=timedelta(milliseconds=50), timeout=timedelta(milliseconds=50))
async def slow(node: Node, options: Strict, previous: RunOutput) -> Yields:
    try:
        await asyncio.sleep(3600)
    finally:
        await asyncio.sleep(0.2)  # a run whose end takes longer than its timeout allows
    yield BEATS.sample(0)


@collector(*Kind, interval=timedelta(milliseconds=50), timeout=seconds(5))
async def gone(node: Node, options: Strict, previous: RunOutput) -> Yields:
    await node.get("/v2/gone", Strict)
    yield BEATS.sample(0)


Start = Callable[..., Fleet]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Return a function that starts a fleet; it is stopped in the end."""
    started: list[Fleet] = []

    def start(
        targets: dict[str, Any],
        *collectors: Collector[Any],
        clock: Clock | None = None,
        shard: Shard | None = None,
        **top: Any,
    ) -> Fleet:
        questions = {collector.name: collector for collector in collectors} or discover()
        settings, errors = check({"targets": targets, **top}, questions)
        assert settings is not None, errors
        fleet = Fleet(questions, RateLimits(), clock or Clock(), shard)
        fleet.start(settings)
        started.append(fleet)
        return fleet

    yield start
    for fleet in started:
        await fleet.stop()


def ledger(url: str = "http://127.0.0.1:9", **settings: Any) -> dict[str, Any]:
    return {"kind": "ledger", "url": url, **settings}


def page(fleet: Fleet) -> list[str]:
    return write_page([block.lines for block in fleet.blocks()], Format.TEXT_0).decode().splitlines()


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds; the test's own time limit ends it if it never does."""
    while not holds():  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0.01)


async def test_every_collector_of_its_kind_watches_a_target(start: Start) -> None:
    asked = [discover()[name] for name in ("health", "ledger_offsets", "feature_support")]
    fleet = start({"a": ledger(), "b": {"kind": "scan", "role": "own", "url": "http://127.0.0.1:9"}}, *asked)
    assert {status.watch.key for status in fleet.statuses()} == {
        "a/health",
        "a/ledger_offsets",
        "b/health",
        "b/feature_support",
    }


async def test_a_watch_is_on_the_schedule_at_its_configured_interval(start: Start) -> None:
    fleet = start({"a": ledger(collectors={"health": {"interval": "7s"}})})
    assert fleet.scheduler.intervals["a/health"] == timedelta(seconds=7)


async def test_a_collector_that_is_switched_off_does_not_watch(start: Start) -> None:
    asked = [discover()[name] for name in ("health", "ledger_offsets")]
    fleet = start({"a": ledger(collectors={"health": {"enabled": False}})}, *asked)
    assert [status.watch.collector.name for status in fleet.statuses()] == ["ledger_offsets"]


async def test_a_watch_runs_again_and_again_and_is_reminded_of_its_last_run(start: Start) -> None:
    fleet = start({"a": ledger()}, beat)
    await until(lambda: any(line.startswith("canton_beats") and line.endswith(" 3.0") for line in page(fleet)))


async def test_a_watch_that_hangs_delays_no_other_and_its_due_runs_are_not_skipped_ones(start: Start) -> None:
    fleet = start({"a": ledger(), "b": ledger()}, beat, hang)
    await until(lambda: sum(line.startswith("canton_beats") and line.endswith(" 4.0") for line in page(fleet)) == 2)
    runs = [line for line in page(fleet) if line.startswith("canton_collector_runs_") and '"hang"' in line]
    assert len(runs) == 4
    assert all(line.endswith(" 0.0") for line in runs)


async def test_a_run_that_is_due_too_early_is_counted_as_skipped(start: Start) -> None:
    fleet = start({"a": ledger()}, slow)
    skipped = "canton_collector_runs_skipped_total{"
    await until(lambda: any(line.startswith(skipped) and not line.endswith(" 0.0") for line in page(fleet)))


async def test_an_operation_that_is_gone_is_unsupported_while_the_node_is_up_and_a_failure_when_it_is_not(
    start: Start, node: TestNode
) -> None:
    node.answer_everything(status=404, body=b"default backend - 404")
    health = discover()["health"]
    quick = {"collectors": {"health": {"interval": "50ms"}}}
    fleet = start({"a": ledger(node.url, **quick)}, health, gone, budget={"rate": 1000, "burst": 1000})
    statuses = {status.watch.collector.name: status for status in fleet.statuses()}
    await until(lambda: statuses["health"].last and statuses["gone"].last and statuses["gone"].last.reason)
    last = statuses["gone"].last
    assert last is not None
    assert (last.outcome, last.reason) == (Outcome.FAILED, "refused")
    node.instead = None
    test_health.answer_well(node)
    node.get("/v2/gone", status=404, body=b"")
    await until(lambda: statuses["gone"].last and statuses["gone"].last.outcome is Outcome.UNSUPPORTED)


async def test_readings_past_stale_after_are_taken_away_and_that_is_a_change(start: Start, clock: FakeClock) -> None:
    fleet = start({"a": ledger(collectors={"beat": {"interval": "1h"}})}, beat, clock=clock)
    [status] = fleet.statuses()
    await fleet._due(fleet.targets["a"], status.watch)
    await until(lambda: any(line.startswith("canton_beats") for line in page(fleet)))
    before = fleet.change()
    clock.advance(3 * 3600)
    assert fleet.change() != before
    assert not any(line.startswith("canton_beats") for line in page(fleet))


async def test_every_series_says_which_target_network_and_role(start: Start) -> None:
    fleet = start({"a": ledger(network="testnet", role="observed", labels={"team": "x"})})
    series = [line for line in page(fleet) if not line.startswith("#")]
    assert series
    assert all('network="testnet",role="observed"' in line or 'role="observed"' in line for line in series)
    assert all('target="a"' in line and 'team="x"' in line for line in series)


async def test_a_target_is_shown_without_its_user_password_and_query(start: Start) -> None:
    fleet = start({"a": ledger("http://user:secret@127.0.0.1:9/api?key=secret")})
    [info] = [line for line in page(fleet) if line.startswith("canton_target_info")]
    assert 'url="http://127.0.0.1:9/api"' in info
    assert not any("secret" in line for line in page(fleet))


async def test_the_times_of_a_token_are_told_and_who_renews_it(start: Start) -> None:
    jwt = "e30.eyJpYXQiOjE3OTUyNDAwMDAsImV4cCI6MTc5NTI0MzYwMH0.c2ln"
    fleet = start({"a": ledger(auth={"type": "bearer", "token": jwt})})
    shown = [line for line in page(fleet) if line.startswith("canton_auth_token")]
    assert [line.split("{")[0] + " " + line.split()[1] for line in shown] == [
        "canton_auth_token_expiry_timestamp_seconds 1.7952436e+09",
        "canton_auth_token_issued_timestamp_seconds 1.79524e+09",
    ]
    assert all('renewed_by="nobody"' in line for line in shown)


async def test_a_change_of_state_is_one_log_line_and_a_failure_that_lasts_is_none(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "exporter.scheduling.run_log")
    fleet = start({"a": ledger()}, beat, gone)
    statuses = {status.watch.collector.name: status for status in fleet.statuses()}
    await until(lambda: statuses["gone"].counters.samples()[0].value > 3)
    told = [(record.message, vars(record)["collector"], vars(record)["reason"]) for record in caplog.records]
    refused = "gone failed on a: GET /v2/gone: no connection to 127.0.0.1:9: Connection refused"
    assert sorted(told) == [("beat succeeded on a", "beat", None), (refused, "gone", "unreachable")]


async def test_a_remark_whose_detail_differs_each_time_is_logged_once_and_when_it_is_over(
    start: Start, node: TestNode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "exporter.scheduling.run_log")
    node.answer_everything(status=503, body=b"trace 1")
    health = discover()["health"]
    fleet = start({"a": ledger(node.url, collectors={"health": {"interval": "50ms"}})}, health)
    [status] = fleet.statuses()
    await until(lambda: status.last)
    node.answer_everything(status=503, body=b"trace 2")
    await until(lambda: status.last and "trace 2" in str(status.last.remarks))
    assert [record.message for record in caplog.records] == ["health on a: the node is down: GET /livez: 503: trace 1"]
    node.answer_everything(status=200, body=b"")
    await until(lambda: status.last and status.last.remarks == ())
    assert [record.message for record in caplog.records][1:] == ["health on a: resolved: the node is down"]


@collector(*Kind, interval=timedelta(milliseconds=50), timeout=minutes(1))
async def remarking(node: Node, options: Strict, previous: RunOutput) -> Yields:
    for thing, count in (await node.get("/v2/things", dict[str, int])).items():
        node.remark(f"{thing} is odd", f"{count} times")
    yield BEATS.sample(1)


async def test_a_second_remark_that_appears_later_is_logged_too(
    start: Start, node: TestNode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "exporter.scheduling.run_log")

    def logged() -> list[str]:
        return [record.message for record in caplog.records]

    node.get("/v2/things", answers={"a": 1})
    [status] = start({"a": ledger(node.url)}, remarking).statuses()
    await until(lambda: logged() == ["remarking on a: a is odd: 1 times"])
    node.get("/v2/things", answers={"a": 2, "b": 1})
    await until(lambda: logged()[1:] == ["remarking on a: b is odd: 1 times"])
    node.get("/v2/things", status=503, body=b"")
    await until(lambda: logged()[2:] == ["remarking failed on a: GET /v2/things: 503"])
    node.get("/v2/things", answers={"a": 3, "b": 2})
    await until(lambda: status.last and status.last.outcome is Outcome.OK)
    assert logged()[3:] == ["remarking succeeded again on a"], "what was remarked before the run that failed is known"
    node.get("/v2/things", answers={})
    await until(lambda: logged()[4:] == [f"remarking on a: resolved: {thing} is odd" for thing in "ab"])


@collector(*Kind, interval=timedelta(milliseconds=50), timeout=minutes(1))
async def counting(node: Node, options: Strict, previous: RunOutput) -> Yields:
    node.progress("500 things")
    node.news.append("the things changed")
    await node.get("/v2/things", dict[str, int])
    yield BEATS.sample(0)


async def test_a_long_run_says_how_far_it_has_come(
    start: Start, node: TestNode, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO", "exporter.scheduling.run_log")
    monkeypatch.setattr("exporter.scheduling.run_log.LONG_SECONDS", 0.0)
    node.silent = True
    fleet = start({"a": ledger(node.url)}, counting)
    [status] = fleet.statuses()
    await until(lambda: status.progress)
    assert status.progress == "500 things"
    [record] = caplog.records
    assert record.message == "counting on a is still running: 500 things"
    assert (vars(record)["target"], vars(record)["collector"]) == ("a", "counting")


async def test_news_are_told_each_time_but_not_those_of_a_run_that_failed(
    start: Start, node: TestNode, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "exporter.scheduling.run_log")
    node.answer_everything(status=500, body=b"")
    fleet = start({"a": ledger(node.url)}, counting)
    [status] = fleet.statuses()
    await until(lambda: status.last)
    assert [record.message for record in caplog.records] == ["counting failed on a: GET /v2/things: 500"]
    node.answer_everything(answers={})
    await until(lambda: len(caplog.records) > 3)
    told = [record.message for record in caplog.records][1:4]
    news = "counting on a: the things changed"
    assert told == [news, "counting succeeded again on a", news]


async def test_stopping_ends_every_run_and_closes_every_connection(start: Start) -> None:
    fleet = start({"a": ledger()}, hang)
    await until(lambda: fleet._running)
    await fleet.stop()
    assert not fleet._running
    assert not fleet.scheduler.intervals
    assert not fleet.scheduler._scheduler.running


async def test_the_first_round_ends_when_every_watch_has_run_once(start: Start) -> None:
    fleet = start({"a": ledger()}, beat, hang)
    await until(lambda: any(line.startswith("canton_beats") for line in page(fleet)))
    assert not fleet.first_round.is_set()
    other = start({"a": ledger()}, beat)
    await other.first_round.wait()


def settings_of(targets: dict[str, Any], *collectors: Collector[Any], **top: Any) -> Settings:
    settings, errors = check({"targets": targets, **top}, {collector.name: collector for collector in collectors})
    assert settings is not None, errors
    return settings


async def test_a_reload_leaves_what_is_equal_alone_a_running_run_included(start: Start) -> None:
    fleet = start({"a": ledger(), "b": ledger()}, beat, hang)
    await until(lambda: len(fleet._running) >= 2)
    kept, run = fleet.targets["a"], fleet._running["a/hang"]
    status = kept.statuses["beat"]
    await fleet.apply(settings_of({"a": ledger(), "c": ledger()}, beat, hang))
    assert list(fleet.targets) == ["a", "c"]
    assert fleet.targets["a"] is kept
    assert kept.statuses["beat"] is status
    assert fleet._running["a/hang"] is run
    assert not run.done()
    assert fleet.scheduler.intervals.keys() == {"a/beat", "a/hang", "c/beat", "c/hang"}
    assert not any('target="b"' in line for line in page(fleet))
    await until(lambda: any(line.startswith("canton_beats") and 'target="c"' in line for line in page(fleet)))


class Steps(Strict):
    step: int = 1


@collector(*Kind, interval=timedelta(milliseconds=50), timeout=seconds(5), options=Steps)
async def climb(node: Node, options: Steps, previous: RunOutput) -> Yields:
    yield BEATS.sample(sum(sample.value for sample in previous.of(BEATS)) + options.step)


async def test_a_watch_that_asks_another_question_remembers_nothing(start: Start) -> None:
    fleet = start({"a": ledger()}, climb)
    await until(lambda: fleet.targets["a"].statuses["climb"].series)
    await fleet.apply(settings_of({"a": ledger(collectors={"climb": {"options": {"step": 2}}})}, climb))
    assert fleet.targets["a"].statuses["climb"].previous.samples == ()


async def test_a_watch_whose_node_is_another_by_now_remembers_nothing(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("http://127.0.0.1:9")
    fleet = start({"a": {"kind": "ledger", "url_file": str(file)}}, climb)
    status = fleet.targets["a"].statuses["climb"]

    def count() -> float:
        return sum(sample.value for sample in status.previous.of(BEATS))

    await until(lambda: count() >= 5)
    file.write_text("http://user:word@127.0.0.1:9/?key=a")
    await until(lambda: count() >= 8)
    file.write_text("http://127.0.0.1:8")
    await until(lambda: count() < 5)


async def test_a_watch_that_changed_starts_anew_and_its_counters_count_on(start: Start) -> None:
    fleet = start({"a": ledger()}, beat, hang)
    await until(lambda: any(line.startswith("canton_beats") and line.endswith(" 3.0") for line in page(fleet)))
    target, other = fleet.targets["a"], fleet.targets["a"].statuses["hang"]
    changed = ledger(collectors={"beat": {"interval": "1h"}})
    await fleet.apply(settings_of({"a": changed}, beat, hang))
    assert fleet.targets["a"] is target
    assert target.statuses["hang"] is other
    assert target.statuses["beat"].previous.samples != (), "what it asks is the same"
    [runs] = [line for line in page(fleet) if line.startswith("canton_collector_runs_total") and '"beat"' in line]
    assert float(runs.rpartition(" ")[2]) >= 3
    assert fleet.scheduler.intervals["a/beat"] == timedelta(hours=1)


async def test_a_target_that_changed_gets_new_connections_and_its_runs_end(start: Start) -> None:
    fleet = start({"a": ledger()}, hang)
    await until(lambda: fleet._running)
    before, run = fleet.targets["a"], fleet._running["a/hang"]
    await fleet.apply(settings_of({"a": ledger(timeout="3s")}, hang))
    assert fleet.targets["a"] is not before
    assert run.cancelled()
    assert before.transport._session.closed


async def test_a_collector_that_was_switched_off_takes_its_series_along(start: Start) -> None:
    fleet = start({"a": ledger()}, beat, hang)
    await until(lambda: any(line.startswith("canton_beats") for line in page(fleet)))
    await fleet.apply(settings_of({"a": ledger(collectors={"beat": {"enabled": False}})}, beat, hang))
    assert not any('"beat"' in line or line.startswith("canton_beats") for line in page(fleet))


async def test_a_fleet_can_be_reloaded_many_times_in_a_row(start: Start) -> None:
    fleet = start({"a": ledger()}, beat)
    for index in range(20):
        await fleet.apply(settings_of({"a": ledger(timeout=f"{index + 1}s")}, beat))
    assert len(fleet.scheduler.intervals) == 1
    await until(lambda: any(line.startswith("canton_beats") for line in page(fleet)))


async def test_a_run_that_was_on_its_way_when_its_watch_was_taken_away_does_not_start(start: Start) -> None:
    fleet = start({"a": ledger()}, hang)
    before = fleet.targets["a"]
    await fleet.apply(settings_of({"a": ledger(timeout="3s")}, hang))
    await fleet._due(before, before.statuses["hang"].watch)
    assert before.statuses["hang"].last is None


# Several exporters that share the targets

MANY = [f"participant-{index}" for index in range(12)]


async def test_each_shard_watches_its_own_targets_and_together_they_watch_all(start: Start) -> None:
    fleets = [start({name: ledger() for name in MANY}, beat, shard=Shard(number, 3)) for number in range(3)]
    for number, fleet in enumerate(fleets):
        assert list(fleet.targets) == [name for name in MANY if shard_of(name, 3) == number]
        assert fleet.scheduler.intervals.keys() == {f"{name}/beat" for name in fleet.targets}
        assert list(fleet.configured) == MANY
    assert sorted(name for fleet in fleets for name in fleet.targets) == sorted(MANY)


async def test_a_reload_gives_a_shard_its_part_of_what_is_new_and_leaves_the_rest_alone(start: Start) -> None:
    fleet = start({name: ledger() for name in MANY[:6]}, beat, shard=Shard(1, 3))
    before = dict(fleet.targets)
    await fleet.apply(settings_of({name: ledger() for name in MANY}, beat))
    assert list(fleet.targets) == [name for name in MANY if shard_of(name, 3) == 1]
    assert before
    assert all(fleet.targets[name] is target for name, target in before.items())
    await fleet.apply(settings_of({name: ledger() for name in MANY if name not in before}, beat))
    assert not before.keys() & fleet.targets.keys()


async def test_a_shard_without_targets_has_ended_its_first_round(start: Start) -> None:
    number = 1 - shard_of("a", 2)
    fleet = start({"a": ledger()}, beat, shard=Shard(number, 2))
    assert fleet.first_round.is_set()
    assert fleet.targets == {}
    assert page(fleet) == []
    name = next(name for name in MANY if shard_of(name, 2) == number)
    await fleet.apply(settings_of({"a": ledger(), name: ledger()}, beat))
    await until(lambda: any(line.startswith("canton_beats") for line in page(fleet)))


def at_one_host(node: TestNode, kind: str, count: int) -> dict[str, Any]:
    role = {"role": "own"} if kind == "scan" else {}
    return {f"n{number}": {"kind": kind, "url": node.url, **role} for number in range(count)}


async def reasons(fleet: Fleet) -> set[str | None]:
    """Return why runs of the first round failed."""
    async with asyncio.timeout(60):
        await fleet.first_round.wait()
    return {status.last.reason for status in fleet.statuses() if status.last}


@collector(*Kind, interval=timedelta(milliseconds=50), timeout=seconds(1))
async def six_requests(node: Node, options: Strict, previous: RunOutput) -> Yields:
    for number in range(6):
        await node.get(f"/v2/{number}", dict[str, int])
    yield BEATS.sample(1)


@pytest.mark.parametrize("kind", ["ledger", "validator"])
async def test_thirty_nodes_behind_one_host_do_not_wait_for_each_other(start: Start, node: TestNode, kind: str) -> None:
    node.answer_everything(answers={})
    fleet = start(at_one_host(node, kind, 30), six_requests)
    assert await reasons(fleet) == {None}


async def test_scans_at_one_host_share_its_budget_which_is_a_reason_of_its_own(start: Start, node: TestNode) -> None:
    node.answer_everything(answers={})
    fleet = start(at_one_host(node, "scan", 30), six_requests)
    assert "budget" in (found := await reasons(fleet))
    assert found <= {None, "budget"}


async def test_a_gateway_that_limits_gets_one_budget_for_all_behind_it(start: Start, node: TestNode) -> None:
    node.answer_everything(answers={})
    fleet = start(at_one_host(node, "ledger", 30), six_requests, budget={"per": "host"})
    assert "budget" in (found := await reasons(fleet))
    assert found <= {None, "budget"}
