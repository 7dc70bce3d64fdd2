"""How a watch stands: what the page shows of it after each kind of run, and for how long."""

import re
from datetime import timedelta

import pytest

from exporter.collector import Collector, Memo, RunOutput, Yields, collector, minutes, seconds
from exporter.config.models import CollectorConfig, Kind, Strict, TargetConfig
from exporter.metrics.counters import Counters
from exporter.metrics.metric import Metric
from exporter.node.client import Node
from exporter.scheduling.watch import Outcome, Run, Watch
from exporter.scheduling.watch_status import WatchStatus
from tests.conftest import NOW, FakeClock

COUNT = Metric("canton_count", "A count.", ("of",))
UP = Metric("canton_up", "Up.")


@collector(Kind.LEDGER, interval=seconds(15), timeout=seconds(10))
async def things(node: Node, options: Strict, previous: RunOutput) -> Yields:
    yield UP.sample(1)


def stand(clock: FakeClock, max_series: int = 500, **config: timedelta) -> WatchStatus:
    times = {"interval": things.interval, "timeout": things.timeout, **config}
    target = TargetConfig(kind=Kind.LEDGER, url="http://node", network="mainnet", labels={"team": "a"})
    return WatchStatus(Watch("t", target, things, CollectorConfig(max_series=max_series, **times)), clock, Counters())


def good(clock: FakeClock, *of: str) -> Run:
    return Run(clock.now(), 0.5, Outcome.OK, yielded=RunOutput(COUNT.sample(1, of=name) for name in of))


def failed(clock: FakeClock) -> Run:
    return Run(clock.now(), 0.5, Outcome.FAILED, "timeout", "GET /x: no answer within 1 s")


def unsupported(clock: FakeClock) -> Run:
    return Run(clock.now(), 0.5, Outcome.UNSUPPORTED, error="GET /x: 404")


def readings(status: WatchStatus) -> list[str]:
    return "".join(status.lines[0].families.values()).splitlines()


def own(status: WatchStatus) -> dict[str, str]:
    """Return the watch's own series by their short names, the labels all have left out."""
    text = "".join(status.lines[1].families.values())
    text = re.sub(r'(collector|network|role|target|team)="[^"]*",?', "", text)
    return dict(
        line.removeprefix("canton_collector_").rsplit(" ", 1)
        for line in text.replace(",}", "}").replace("{}", "").splitlines()
    )


BEFORE = {
    'failures_total{reason="refused"}': "0.0",
    'failures_total{reason="timeout"}': "0.0",
    "interval_seconds": "15.0",
    "last_success_timestamp_seconds": "0.0",
    "runs_skipped_total": "0.0",
    "runs_total": "0.0",
    "samples_dropped_total": "0.0",
}


def test_before_its_first_run_a_watch_says_only_what_is_known(clock: FakeClock) -> None:
    status = stand(clock)
    assert readings(status) == []
    assert {**own(status)} == BEFORE


def test_a_good_run_shows_what_it_read(clock: FakeClock) -> None:
    status = stand(clock)
    status.take(good(clock, "a"))
    assert readings(status) == ['canton_count{network="mainnet",of="a",role="own",target="t",team="a"} 1.0']
    assert own(status) == {
        **BEFORE,
        "duration_seconds": "0.5",
        "last_run_timestamp_seconds": "1.79524e+09",
        "last_success_timestamp_seconds": "1.79524e+09",
        "runs_total": "1.0",
        "success": "1.0",
        "supported": "1.0",
    }


def test_a_failed_run_is_told_at_once_and_the_last_good_values_stay_until_stale_after(clock: FakeClock) -> None:
    status = stand(clock)
    status.take(good(clock, "a"))
    clock.advance(15)
    status.take(failed(clock))
    assert len(readings(status)) == 1
    assert own(status) == {
        **BEFORE,
        "duration_seconds": "0.5",
        'failure_info{reason="timeout"}': "1.0",
        'failures_total{reason="timeout"}': "1.0",
        "last_run_timestamp_seconds": "1.795240015e+09",
        "last_success_timestamp_seconds": "1.79524e+09",
        "runs_total": "2.0",
        "success": "0.0",
        "supported": "1.0",
    }
    clock.advance(29.9)
    assert (len(readings(status)), status.series) == (1, 1)
    clock.advance(0.1)
    assert (readings(status), status.series) == ([], 0)


def test_values_come_back_by_themselves_and_the_failure_goes(clock: FakeClock) -> None:
    status = stand(clock)
    status.take(failed(clock))
    assert "supported" not in own(status), "a failure does not tell whether the node has the operation"
    status.take(good(clock, "a"))
    assert len(readings(status)) == 1
    assert not any(name.startswith("failure_info") for name in own(status))


def test_an_unsupported_run_drops_the_values_at_once(clock: FakeClock) -> None:
    status = stand(clock)
    status.take(good(clock, "a"))
    status.take(unsupported(clock))
    assert readings(status) == []
    shown = own(status)
    assert (shown["supported"], shown["success"]) == ("0.0", "0.0")
    assert not any("failure_info" in name for name in shown)
    status.take(failed(clock))
    assert own(status)["supported"] == "0.0", "as known from the last run that told"


def test_a_watch_is_reminded_of_its_last_good_run_however_old(clock: FakeClock) -> None:
    note = Memo[str]()
    status = stand(clock)
    remembered = RunOutput([COUNT.sample(1, of="a"), note.of("seen")])
    status.take(Run(clock.now(), 0.5, Outcome.OK, yielded=remembered))
    for run in (failed(clock), unsupported(clock), failed(clock)):
        clock.advance(10_000)
        status.take(run)
    assert status.previous is remembered
    assert status.previous.memo(note) == "seen"


def test_series_past_the_cap_are_dropped_and_counted_and_the_same_ones_come_back(clock: FakeClock) -> None:
    status = stand(clock, max_series=2)
    status.take(good(clock, "a", "b", "c"))
    assert own(status)["samples_dropped_total"] == "1.0"
    status.take(unsupported(clock))
    status.take(good(clock, "c", "b", "a"))
    assert [line.split('of="')[1][0] for line in readings(status)] == ["b", "a"]
    assert own(status)["samples_dropped_total"] == "2.0"
    assert len(status.previous.samples) == 3, "what a collector is reminded of is not capped"


def test_a_run_that_may_outlast_its_interval_is_not_skipped_when_due(clock: FakeClock) -> None:
    status = stand(clock)
    status.skip()
    assert own(status)["runs_skipped_total"] == "1.0"
    counting = stand(clock, interval=minutes(15), timeout=minutes(120))
    counting.skip()
    assert own(counting)["runs_skipped_total"] == "0.0"


@pytest.mark.parametrize(
    ("interval", "timeout", "stale_after", "shown_for"),
    [(15, 10, None, 45), (15, 10, 20, 20), (900, 7200, None, 8100)],
)
def test_values_are_shown_for_three_intervals_or_an_interval_and_a_run(
    interval: float, timeout: float, stale_after: float | None, shown_for: float
) -> None:
    config = CollectorConfig(
        interval=seconds(interval),
        timeout=seconds(timeout),
        stale_after=seconds(stale_after) if stale_after else None,
    )
    assert config.shown_for == seconds(shown_for)


def test_a_reading_is_what_the_page_shows(clock: FakeClock) -> None:
    status = stand(clock)
    assert status.reading(UP) is None
    status.take(Run(NOW, 0.5, Outcome.OK, yielded=RunOutput([UP.sample(0)])))
    assert status.reading(UP) == 0
    clock.advance(45)
    assert status.reading(UP) is None


def test_a_collector_is_named_for_its_function_and_documented_by_its_module() -> None:
    assert isinstance(things, Collector)
    assert (things.name, things.doc) == ("things", __doc__)


SENT = Metric("canton_sent", "Sent.", ("sender",))


def test_parties_are_written_another_way_at_once_when_that_is_reloaded(clock: FakeClock) -> None:
    status = stand(clock)
    status.take(Run(NOW, 0.5, Outcome.OK, yielded=RunOutput([SENT.sample(1, sender="alice::1220aabbccdd")])))
    status.present("short", {})
    assert 'sender="alice::1220aabb"' in readings(status)[0]
    status.present("full", {"alice::1220aabbccdd": "treasury"})
    assert 'sender="treasury"' in readings(status)[0]
