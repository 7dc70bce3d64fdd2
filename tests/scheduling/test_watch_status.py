"""How a watch stands: what the page shows of it after each kind of run, and for how long."""

import re
from datetime import timedelta

import pytest

from exporter.collector import Collector, Note, Yielded, Yields, collector, minutes, seconds
from exporter.config.models import Kind, Schedule, Strict, Target
from exporter.metrics.counters import Tally
from exporter.metrics.metric import Metric
from exporter.node.client import Node
from exporter.scheduling.runner import Outcome, Run, Watch
from exporter.scheduling.watch_status import Standing
from tests.conftest import NOW, FakeClock

COUNT = Metric("canton_count", "A count.", ("of",))
UP = Metric("canton_up", "Up.")


@collector(Kind.LEDGER, interval=seconds(15), timeout=seconds(10))
async def things(node: Node, options: Strict, previous: Yielded) -> Yields:
    yield UP.sample(1)


def stand(clock: FakeClock, max_series: int = 500, **schedule: timedelta) -> Standing:
    times = {"interval": things.interval, "timeout": things.timeout, **schedule}
    target = Target(kind=Kind.LEDGER, url="http://node", network="mainnet", labels={"team": "a"})
    return Standing(Watch("t", target, things, Schedule(max_series=max_series, **times)), clock, Tally())


def good(clock: FakeClock, *of: str) -> Run:
    return Run(clock.now(), 0.5, Outcome.OK, yielded=Yielded(COUNT.sample(1, of=name) for name in of))


def failed(clock: FakeClock) -> Run:
    return Run(clock.now(), 0.5, Outcome.FAILED, "timeout", "GET /x: no answer within 1 s")


def unsupported(clock: FakeClock) -> Run:
    return Run(clock.now(), 0.5, Outcome.UNSUPPORTED, error="GET /x: 404")


def readings(standing: Standing) -> list[str]:
    return "".join(standing.lines[0].families.values()).splitlines()


def own(standing: Standing) -> dict[str, str]:
    """Return the watch's own series by their short names, the labels all have left out."""
    text = "".join(standing.lines[1].families.values())
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
    standing = stand(clock)
    assert readings(standing) == []
    assert {**own(standing)} == BEFORE


def test_a_good_run_shows_what_it_read(clock: FakeClock) -> None:
    standing = stand(clock)
    standing.take(good(clock, "a"))
    assert readings(standing) == ['canton_count{network="mainnet",of="a",role="own",target="t",team="a"} 1.0']
    assert own(standing) == {
        **BEFORE,
        "duration_seconds": "0.5",
        "last_run_timestamp_seconds": "1.79524e+09",
        "last_success_timestamp_seconds": "1.79524e+09",
        "runs_total": "1.0",
        "success": "1.0",
        "supported": "1.0",
    }


def test_a_failed_run_is_told_at_once_and_the_last_good_values_stay_for_their_grace(clock: FakeClock) -> None:
    standing = stand(clock)
    standing.take(good(clock, "a"))
    clock.advance(15)
    standing.take(failed(clock))
    assert len(readings(standing)) == 1
    assert own(standing) == {
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
    assert (len(readings(standing)), standing.series) == (1, 1)
    clock.advance(0.1)
    assert (readings(standing), standing.series) == ([], 0)


def test_values_come_back_by_themselves_and_the_failure_goes(clock: FakeClock) -> None:
    standing = stand(clock)
    standing.take(failed(clock))
    assert "supported" not in own(standing), "a failure does not tell whether the node has the operation"
    standing.take(good(clock, "a"))
    assert len(readings(standing)) == 1
    assert not any(name.startswith("failure_info") for name in own(standing))


def test_an_unsupported_run_drops_the_values_at_once(clock: FakeClock) -> None:
    standing = stand(clock)
    standing.take(good(clock, "a"))
    standing.take(unsupported(clock))
    assert readings(standing) == []
    shown = own(standing)
    assert (shown["supported"], shown["success"]) == ("0.0", "0.0")
    assert not any("failure_info" in name for name in shown)
    standing.take(failed(clock))
    assert own(standing)["supported"] == "0.0", "as known from the last run that told"


def test_a_watch_is_reminded_of_its_last_good_run_however_old(clock: FakeClock) -> None:
    note = Note[str]()
    standing = stand(clock)
    remembered = Yielded([COUNT.sample(1, of="a"), note.of("seen")])
    standing.take(Run(clock.now(), 0.5, Outcome.OK, yielded=remembered))
    for run in (failed(clock), unsupported(clock), failed(clock)):
        clock.advance(10_000)
        standing.take(run)
    assert standing.previous is remembered
    assert standing.previous.note(note) == "seen"


def test_series_past_the_cap_are_dropped_and_counted_and_the_same_ones_come_back(clock: FakeClock) -> None:
    standing = stand(clock, max_series=2)
    standing.take(good(clock, "a", "b", "c"))
    assert own(standing)["samples_dropped_total"] == "1.0"
    standing.take(unsupported(clock))
    standing.take(good(clock, "c", "b", "a"))
    assert [line.split('of="')[1][0] for line in readings(standing)] == ["b", "a"]
    assert own(standing)["samples_dropped_total"] == "2.0"
    assert len(standing.previous.samples) == 3, "what a collector is reminded of is not capped"


def test_a_run_that_may_outlast_its_interval_is_not_skipped_when_due(clock: FakeClock) -> None:
    standing = stand(clock)
    standing.skip()
    assert own(standing)["runs_skipped_total"] == "1.0"
    counting = stand(clock, interval=minutes(15), timeout=minutes(120))
    counting.skip()
    assert own(counting)["runs_skipped_total"] == "0.0"


@pytest.mark.parametrize(
    ("interval", "timeout", "stale_after", "grace"),
    [(15, 10, None, 45), (15, 10, 20, 20), (900, 7200, None, 8100)],
)
def test_the_grace_is_three_intervals_or_an_interval_and_a_run(
    interval: float, timeout: float, stale_after: float | None, grace: float
) -> None:
    schedule = Schedule(
        interval=seconds(interval),
        timeout=seconds(timeout),
        stale_after=seconds(stale_after) if stale_after else None,
    )
    assert schedule.grace == seconds(grace)


def test_a_reading_is_what_the_page_shows(clock: FakeClock) -> None:
    standing = stand(clock)
    assert standing.reading(UP) is None
    standing.take(Run(NOW, 0.5, Outcome.OK, yielded=Yielded([UP.sample(0)])))
    assert standing.reading(UP) == 0
    clock.advance(45)
    assert standing.reading(UP) is None


def test_a_collector_is_named_for_its_function_and_documented_by_its_module() -> None:
    assert isinstance(things, Collector)
    assert (things.name, things.doc) == ("things", __doc__)


SENT = Metric("canton_sent", "Sent.", ("sender",))


def test_parties_are_written_another_way_at_once_when_that_is_reloaded(clock: FakeClock) -> None:
    standing = stand(clock)
    standing.take(Run(NOW, 0.5, Outcome.OK, yielded=Yielded([SENT.sample(1, sender="alice::1220aabbccdd")])))
    standing.present("short", {})
    assert 'sender="alice::1220aabb"' in readings(standing)[0]
    standing.present("full", {"alice::1220aabbccdd": "treasury"})
    assert 'sender="treasury"' in readings(standing)[0]
