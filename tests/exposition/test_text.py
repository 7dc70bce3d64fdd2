"""Samples become lines and pages exactly as prometheus_client would write them."""

import asyncio
import gzip
import threading
from collections.abc import Iterator, Sequence

import pytest
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector

from exporter.exposition.page_cache import Pages
from exporter.exposition.text import Format, Lines, read_registry, write_page
from exporter.metrics.metric import Metric, Sample
from tests.conftest import FakeClock

AWKWARD = ['quote " backslash \\ newline \n end', "percent %s %% {}", "", "ünï ❤ \u2028", "a" * 5000, "\ud800 half"]
GAUGE = Metric("canton_thing_bytes", 'Help with "quotes", a backslash \\ and\na line.', ("zebra", "alpha"))
COUNTER = Metric("canton_things_total", "Counted.", ("network_thing",))
PLAIN = Metric("canton_up", "Up.")
SUMMARY = Metric("canton_wait_seconds", "Waited.", ("route",), type="summary")
COUNT, SUM = SUMMARY.part("_count"), SUMMARY.part("_sum")
VALUES = [0, 1, -1.5, 1e6, 1e7, 123456789.123, 1.7952e9, 1e-9, float("inf"), float("-inf"), 2**63, 0.1]
COMMON = {"target": 'p "1" \\ %s', "network": "mainnet", "role": "own"}
SAMPLES = [
    PLAIN.sample(1),
    *(GAUGE.sample(value, zebra=str(index), alpha=AWKWARD[index % 5]) for index, value in enumerate(VALUES)),
    *(COUNTER.sample(index, network_thing=text) for index, text in enumerate(AWKWARD[:5])),
    *(part.sample(index, route=text) for index, text in enumerate(AWKWARD[:5]) for part in (COUNT, SUM)),
]


class Library(Collector):
    """The same samples, as prometheus_client takes them."""

    def __init__(self, samples: Sequence[Sample], common: dict[str, str]) -> None:
        self._samples = samples
        self._common = common

    def collect(self) -> Iterator[Family]:
        plain = (sample.metric for sample in self._samples if sample.metric.family is None)
        metrics = sorted({*plain, SUMMARY}, key=lambda metric: metric.name)
        for metric in metrics:
            names = [*metric.labels, *self._common]
            if metric is SUMMARY:
                yield self._summary(names)
                continue
            kind = CounterMetricFamily if metric.type == "counter" else GaugeMetricFamily
            family = kind(metric.name, metric.help, labels=names)
            for sample in self._samples:
                if sample.metric is metric:
                    family.add_metric([*sample.labels, *self._common.values()], sample.value)
            yield family

    def _summary(self, names: list[str]) -> Family:
        family = SummaryMetricFamily(SUMMARY.name, SUMMARY.help, labels=names)
        for sample in self._samples:
            if sample.metric is COUNT:
                family.add_metric([*sample.labels, *self._common.values()], int(sample.value), sample.value)
        return family


@pytest.mark.parametrize("common", [COMMON, {}])
def test_a_page_is_what_the_library_would_write(common: dict[str, str]) -> None:
    registry = CollectorRegistry()
    registry.register(Library(SAMPLES, common))
    blocks = [Lines(SAMPLES, common)]
    assert write_page(blocks, Format.TEXT_0) == generate_latest(registry)
    assert write_page(blocks, Format.TEXT_1) == generate_latest(registry)
    assert write_page(blocks, Format.OPENMETRICS) == generate_openmetrics(registry)


def test_what_the_library_says_of_this_process_is_passed_on_unchanged() -> None:
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    ours = write_page([Lines(read_registry(registry))], Format.TEXT_0).decode()
    theirs = generate_latest(registry).decode()

    def names(page: str) -> list[str]:
        return sorted(line.rpartition(" ")[0] for line in page.splitlines())

    assert names(ours) == names(theirs)


def test_a_label_that_is_half_a_character_does_not_take_the_page_away() -> None:
    page = write_page([Lines([GAUGE.sample(1, zebra="\ud800", alpha="")])], Format.TEXT_0)
    assert page.endswith(b'canton_thing_bytes{alpha="",zebra="?"} 1.0\n')


def test_a_metric_stands_once_whatever_number_of_watches_has_it() -> None:
    blocks = [Lines([PLAIN.sample(index)], {"target": str(index)}) for index in range(3)]
    assert write_page(blocks, Format.TEXT_0).decode().splitlines() == [
        "# HELP canton_up Up.",
        "# TYPE canton_up gauge",
        'canton_up{target="0"} 0.0',
        'canton_up{target="1"} 1.0',
        'canton_up{target="2"} 2.0',
    ]


class Changing:
    """Something to make pages of, that counts how often it was looked at, and by which threads."""

    def __init__(self) -> None:
        self.changes = 0
        self.threads: set[str] = set()

    def change(self) -> int:
        return self.changes

    def blocks(self) -> Sequence[Lines]:
        return [Lines(Watched([PLAIN.sample(self.changes)], self.threads))]


class Watched(list[Sample]):
    """Samples that note which thread renders them."""

    def __init__(self, samples: Sequence[Sample], threads: set[str]) -> None:
        super().__init__(samples)
        self._threads = threads

    def __iter__(self) -> Iterator[Sample]:
        self._threads.add(threading.current_thread().name)
        return super().__iter__()


@pytest.fixture
def pages(clock: FakeClock) -> Iterator[Pages]:
    pages = Pages(clock)
    yield pages
    pages.close()


async def get(pages: Pages, of: Changing, gzipped: bool = False, key: object = "page") -> bytes:
    return await pages.get(key, of.change, of.blocks, Format.TEXT_0, gzipped=gzipped)


async def test_a_page_is_made_once_between_two_changes(pages: Pages, clock: FakeClock) -> None:
    of = Changing()
    for _ in range(20):
        clock.advance(0.01)
        await get(pages, of)
    assert pages.rendered == 1
    of.changes += 1
    clock.advance(0.01)
    assert b"canton_up 1.0" in await get(pages, of)
    assert pages.rendered == 2


async def test_a_page_is_made_once_for_all_who_wait_for_it(pages: Pages) -> None:
    of = Changing()
    got = await asyncio.gather(*(get(pages, of, gzipped=index % 2 == 0) for index in range(16)))
    assert pages.rendered == 1
    assert {gzip.decompress(page) if index % 2 == 0 else page for index, page in enumerate(got)} == {got[1]}


async def test_a_page_that_was_just_made_and_is_too_old_already_does_not_stop_the_loop(
    pages: Pages, clock: FakeClock
) -> None:
    async def end() -> None: ...

    made = asyncio.create_task(end())
    await made
    pages._making["page"] = made  # as between its end and the callback that takes it away
    clock.advance(1)
    assert await get(pages, Changing())
    assert pages.rendered == 1


async def test_a_page_is_made_for_the_others_if_whoever_asked_first_goes_away(pages: Pages) -> None:
    of = Changing()
    first, second = asyncio.create_task(get(pages, of)), asyncio.create_task(get(pages, of))
    await asyncio.sleep(0)
    first.cancel()
    assert b"canton_up" in await second
    assert pages.rendered == 1


async def test_a_page_that_cannot_be_made_is_an_error_for_all_who_wait_and_the_next_one_is_made(pages: Pages) -> None:
    of = Changing()
    of.blocks = lambda: [None]  # type: ignore[method-assign,list-item]
    for failed in await asyncio.gather(get(pages, of), get(pages, of), return_exceptions=True):
        assert isinstance(failed, AttributeError)
    assert b"canton_up" in await get(pages, Changing())


async def test_a_page_is_made_off_the_event_loop(pages: Pages) -> None:
    of = Changing()
    await get(pages, of)
    assert of.threads == {"page_0"}


async def test_lines_are_rendered_once_however_many_pages_show_them(pages: Pages) -> None:
    of = Changing()
    lines = of.blocks()
    await pages.get("a", lambda: 0, lambda: lines, Format.TEXT_0, gzipped=False)
    of.threads.clear()
    await pages.get("b", lambda: 0, lambda: lines, Format.OPENMETRICS, gzipped=False)
    assert not of.threads


async def test_a_page_ages_even_if_nothing_changes(pages: Pages, clock: FakeClock) -> None:
    of = Changing()
    await get(pages, of)
    clock.advance(Pages.OLDEST_SECONDS)
    await get(pages, of)
    assert pages.rendered == 2


async def test_only_so_many_pages_are_kept(pages: Pages, clock: FakeClock) -> None:
    of = Changing()
    for key in range(Pages.KEPT + 1):
        await get(pages, of, key=key)
    clock.advance(0.01)
    await get(pages, of, key=Pages.KEPT)
    assert pages.rendered == Pages.KEPT + 1
    await get(pages, of, key=0)
    assert pages.rendered == Pages.KEPT + 2
