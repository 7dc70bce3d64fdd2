"""What the exporter serves: the page as scrapers negotiate it, the status page, health and readiness."""

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import yaml
from aiohttp.test_utils import TestClient, TestServer

from exporter.clock import Clock
from exporter.collectors import discover
from exporter.config.loader import check
from exporter.errors import WrongConfiguration
from exporter.exposition.page_cache import Pages
from exporter.exposition.text import Format, Lines
from exporter.metrics import self_metrics
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.sharding import Shard
from exporter.web.content_negotiation import choose_format, takes_gzip
from exporter.web.lifecycle import Lifecycle
from exporter.web.probe import Probe
from exporter.web.routes import make_application
from exporter.web.same_site import SameSite
from exporter.web.scrape import Scrape
from exporter.web.status_page import StatusPage
from tests.nodes import TestNode

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1"
)


@pytest.mark.parametrize(
    ("accept", "format_"),
    [
        ("", Format.TEXT_0),
        ("*/*", Format.TEXT_0),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Format.TEXT_0),
        (PROMETHEUS_2, Format.OPENMETRICS),
        (PROMETHEUS_3, Format.OPENMETRICS),
        ("text/plain;version=1.0.0", Format.TEXT_1),
        ("text/plain; version=0.0.4; charset=utf-8", Format.TEXT_0),
        ("application/openmetrics-text;version=2.0.0,text/plain;version=1.0.0;q=0.1", Format.TEXT_1),
        ("application/openmetrics-text;version=1.0.0;q=0", Format.TEXT_0),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.9", Format.TEXT_0),
        ("text/plain;version=banana", Format.TEXT_0),
        ("application/openmetrics-text;version=1.0.0;q=nan", Format.TEXT_0),
        (";;;,,=;q", Format.TEXT_0),
    ],
)
def test_a_scraper_gets_the_format_it_likes_best_of_those_there_are(accept: str, format_: Format) -> None:
    assert choose_format(accept) is format_


@pytest.mark.parametrize(
    ("accept", "takes"),
    [
        ("gzip", True),
        ("", False),
        ("gzip;q=0", False),
        ("*", True),
        ("*;q=0.5, gzip;q=0", False),
        ("br, deflate", False),
    ],
)
def test_a_page_is_packed_only_for_who_can_unpack_it(accept: str, takes: bool) -> None:
    assert takes_gzip(accept) is takes


Open = Callable[..., Any]
HAS_THE_PARTICIPANT, HAS_THE_SCAN = Shard(1, 2), Shard(0, 2)
COLLECTORS = {name: discover()[name] for name in ("feature_support", "health", "ledger_offsets")}


@pytest.fixture
async def open_site(node: TestNode) -> AsyncIterator[Open]:
    """Return a function that serves two targets, or a shard's part of them, and gives a client of it."""
    fleets: list[Fleet] = []
    pages: list[Pages] = []
    clients: list[TestClient[Any, Any]] = []

    async def reload() -> None:
        await reload_takes.wait()
        if wrong:
            raise WrongConfiguration(wrong)

    wrong: list[str] = []
    reload_takes = asyncio.Event()
    reload_takes.set()

    async def open_site(
        prefix: str = "",
        ready: bool = True,
        most: int = 40,
        path: str = "/metrics",
        shard: Shard | None = None,
        overdue: Callable[[], Awaitable[float]] | None = None,
        *,
        has_file: bool = True,
        same_site: SameSite | None = None,
    ) -> Any:
        fleet = Fleet(COLLECTORS, RateLimits(), Clock(), shard)
        fleets.append(fleet)
        secret_url = node.url.replace("//", "//user:hunter2@")
        targets = {
            "participant": {
                "kind": "ledger",
                "url": secret_url,
                "headers": {"X": "hunter2"},
            },
            "scan": {"kind": "scan", "role": "own", "url": node.url},
        }
        settings, errors = check({"targets": targets}, COLLECTORS)
        assert settings is not None, errors
        in_force = [settings]
        await fleet.apply(settings)  # and not started: a watch runs when a test lets it
        page, other_pages = Pages(Clock()), Pages(Clock())
        pages.extend((page, other_pages))
        exporter_lines = Lines([self_metrics.RELOAD_SUCCESSFUL.sample(1)])
        application = make_application(
            Scrape(fleet, page, lambda: exporter_lines),
            StatusPage(fleet, other_pages, Clock(), path, prefix),
            Lifecycle(lambda: in_force[-1], reload if has_file else None, other_pages),
            Probe(fleet, Clock(), timedelta(seconds=0.5)),
            lambda: ready,
            same_site=same_site or SameSite(None, (), lambda: False),
            overdue=overdue or fleet.scheduler.overdue,
            prefix=prefix,
            telemetry_path=path,
            max_requests=most,
        )
        client = TestClient(TestServer(application), auto_decompress=False, skip_auto_headers=["Accept-Encoding"])
        client.in_force = in_force  # type: ignore[attr-defined] # for tests that change the settings
        client.pages = other_pages  # type: ignore[attr-defined] # for tests that count how often one is made
        client.reload_takes = reload_takes  # type: ignore[attr-defined] # for tests in which a reload takes long
        client.wrong = wrong  # type: ignore[attr-defined] # for tests that spoil the configuration
        client.fleet = fleet  # type: ignore[attr-defined] # for tests that let a watch run
        clients.append(client)
        await client.start_server()
        return client

    yield open_site
    for client in clients:
        await client.close()
    for fleet in fleets:
        await fleet.stop()
    for each in pages:
        each.close()


async def test_the_page_is_served_in_each_format_packed_or_not(open_site: Open) -> None:
    client = await open_site()
    for format_ in Format:
        accept = {"Accept": format_.value}
        plain = await client.get("/metrics", headers=accept)
        gzipped = await client.get("/metrics", headers={**accept, "Accept-Encoding": "gzip"})
        assert plain.headers["Content-Type"] == gzipped.headers["Content-Type"] == format_.value
        assert gzipped.headers["Content-Encoding"] == "gzip"
        assert "Content-Encoding" not in plain.headers
        assert gzip.decompress(await gzipped.read()) == await plain.read()
        assert (await plain.read()).endswith(b"# EOF\n") is (format_ is Format.OPENMETRICS)


async def test_head_answers_like_get_without_a_body(open_site: Open) -> None:
    client = await open_site()
    answer = await client.head("/metrics")
    assert (answer.status, await answer.read()) == (200, b"")
    assert int(answer.headers["Content-Length"]) > 1000


def targets_and_collectors(page: str) -> set[tuple[str, str]]:
    series = [line for line in page.splitlines() if line.startswith("canton_collector_interval")]
    return {(line.split('target="')[1].split('"')[0], line.split('collector="')[1].split('"')[0]) for line in series}


@pytest.mark.parametrize(
    ("query", "shown", "own_too"),
    [
        ("collect[]=health", {("participant", "health"), ("scan", "health")}, False),
        (
            "collect[]=health&collect[]=feature_support&target[]=scan",
            {("scan", "health"), ("scan", "feature_support")},
            False,
        ),
        ("exclude[]=health", {("participant", "ledger_offsets"), ("scan", "feature_support")}, True),
        ("target[]=participant", {("participant", "health"), ("participant", "ledger_offsets")}, False),
    ],
)
async def test_a_scraper_may_ask_for_a_part(
    open_site: Open, query: str, shown: set[tuple[str, str]], own_too: bool
) -> None:
    client = await open_site()
    page = await (await client.get(f"/metrics?{query}")).text()
    assert targets_and_collectors(page) == shown
    assert ("canton_exporter_config_last_reload_successful" in page) is own_too
    assert ("canton_target_info" in page) is ("collect" not in query)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            "collect[]=helth",
            "collect[]=helth: there is none of this name; there are feature_support, health, ledger_offsets\n",
        ),
        ("target[]=<script>", "target[]=<script>: there is none of this name; there are participant, scan\n"),
        ("collect[]=health&exclude[]=health", "collect[] and exclude[] cannot both be given\n"),
    ],
)
async def test_a_part_that_is_not_there_is_a_bad_request(open_site: Open, query: str, sentence: str) -> None:
    client = await open_site()
    answer = await client.get(f"/metrics?{query}")
    assert (answer.status, await answer.text()) == (400, sentence)
    assert answer.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", {("participant", "health"), ("participant", "ledger_offsets")}),
        ("collect[]=feature_support", set()),
        ("collect[]=feature_support&collect[]=health", {("participant", "health")}),
        ("target[]=scan", set()),
    ],
)
async def test_a_scrape_that_asks_all_shards_the_same_fails_on_none(
    open_site: Open, query: str, shown: set[tuple[str, str]]
) -> None:
    client = await open_site(shard=HAS_THE_PARTICIPANT)
    answer = await client.get(f"/metrics?{query}")
    assert answer.status == 200
    assert targets_and_collectors(await answer.text()) == shown
    assert (await client.get("/metrics?target[]=scam")).status == 400


@pytest.mark.parametrize(
    ("shard", "said"),
    [
        (Shard(1, 2), "shard 1 of 2: 1 of 2 targets &middot; 2 watches: 2 waiting"),
        (Shard(2, 3), "shard 2 of 3: 0 of 2 targets &middot; 0 watches</p>"),
    ],
)
async def test_the_status_page_says_which_shard_this_is(open_site: Open, shard: Shard, said: str) -> None:
    client = await open_site(shard=shard)
    assert said in await (await client.get("/")).text()
    client = await open_site()
    assert "shard" not in await (await client.get("/")).text()


async def test_every_shard_shows_the_whole_configuration(open_site: Open) -> None:
    client = await open_site(shard=HAS_THE_PARTICIPANT)
    shown = yaml.safe_load(await (await client.get("/config")).text())
    assert list(shown["targets"]) == ["participant", "scan"]


async def test_scrapes_beyond_the_limit_are_turned_away_and_the_others_are_answered(open_site: Open) -> None:
    client = await open_site(most=2)
    answers = await asyncio.gather(*(client.get("/metrics") for _ in range(10)))
    assert {answer.status for answer in answers} == {200, 503}
    assert (await client.get("/metrics")).status == 200


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/config"), ("POST", "/-/reload")])
async def test_pages_and_reloads_beyond_the_limit_are_turned_away_too(open_site: Open, method: str, path: str) -> None:
    client = await open_site(most=2)
    client.reload_takes.clear()
    with occupied(client.pages):
        asked = [asyncio.create_task(client.request(method, path)) for _ in range(10)]
        refused, waiting = set[Any](), {*asked}
        while len(refused) < 8:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            refused |= done
        assert {task.result().status for task in refused} == {503}
        assert (await client.get("/-/healthy")).status == 200
    client.reload_takes.set()
    assert {answer.status for answer in await asyncio.gather(*waiting)} == {200}
    assert (await client.request(method, path)).status == 200


@contextmanager
def occupied(pages: Pages) -> Iterator[None]:
    """Keep the thread that makes pages busy, and with it whatever waits for a page."""
    go_on = threading.Event()
    pages._thread.submit(go_on.wait, 60)
    yield
    go_on.set()


@pytest.mark.parametrize("path", ["/", "/config"])
async def test_a_page_is_made_once_for_all_who_ask_until_something_changes(open_site: Open, path: str) -> None:
    client = await open_site()
    with occupied(client.pages):
        asked = [asyncio.create_task(client.get(path)) for _ in range(10)]
        assert (await client.get("/metrics")).status == 200, "the event loop goes on, and scrapes do"
    assert {answer.status for answer in await asyncio.gather(*asked)} == {200}
    made = client.pages.rendered
    assert made <= 2, "one more for those who asked after it was begun"
    assert (await client.get(path)).status == 200
    assert client.pages.rendered == made
    client.fleet.changed()
    client.in_force.append(replace(client.in_force[-1], party_labels="short"))
    assert (await client.get(path)).status == 200
    assert client.pages.rendered == made + 1
    if path == "/config":
        assert "party_labels: short\n" in await (await client.get(path)).text()


async def test_other_paths_and_methods_are_not_there(open_site: Open) -> None:
    client = await open_site()
    assert (await client.get("/metrics/")).status == 404
    assert (await client.get("/-/other")).status == 404
    assert (await client.post("/metrics")).status == 405


@pytest.mark.parametrize(("seconds", "status"), [(0.0, 200), (60.0, 200), (75.2, 503)])
async def test_it_is_healthy_unless_runs_that_are_due_are_not_started(
    open_site: Open, seconds: float, status: int
) -> None:
    async def overdue() -> float:
        return seconds

    answer = await (await open_site(overdue=overdue)).get("/-/healthy")
    text = "no collector has been started for 75 s although one was due; restart the exporter\n"
    assert (answer.status, await answer.text()) == (status, text if status == 503 else "healthy\n")


async def test_it_is_healthy_at_once_and_ready_when_it_is(open_site: Open) -> None:
    client = await open_site(ready=False)
    healthy, ready = await client.get("/-/healthy"), await client.get("/-/ready")
    assert (healthy.status, await healthy.text()) == (200, "healthy\n")
    assert (ready.status, await ready.text()) == (503, "not every collector has run once yet\n")


async def test_everything_stands_below_the_prefix(open_site: Open) -> None:
    client = await open_site(prefix="/canton", path="/numbers")
    assert (await client.get("/canton/numbers")).status == 200
    assert (await client.get("/canton/-/ready")).status == 200
    assert (await client.get("/metrics")).status == 404
    landing = await client.get("/")
    assert (landing.status, landing.url.path) == (200, "/canton/")
    assert 'href="/canton/numbers"' in await landing.text()


async def test_the_status_page_shows_each_watch_and_lets_nothing_run(open_site: Open) -> None:
    client = await open_site()
    answer = await client.get("/")
    page = await answer.text()
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    for word in (
        "participant",
        "scan",
        "health",
        "ledger_offsets",
        "feature_support",
        "waiting",
        "4 watches: 4 waiting",
    ):
        assert word in page


async def test_a_run_that_found_a_node_down_is_not_called_ok_on_the_status_page(
    open_site: Open, node: TestNode
) -> None:
    client = await open_site()
    node.answer_everything(status=500)
    status = client.fleet.targets["scan"].statuses["health"]
    await client.fleet._due(client.fleet.targets["scan"], status.watch)
    page = await (await client.get("/")).text()
    assert "4 watches: 3 waiting, 1 remark" in page or "4 watches: 1 remark, 3 waiting" in page
    assert '<span class="remark">remark</span>' in page
    assert "the node is down: GET /livez: 500" in page
    assert ">ok<" not in page


async def test_what_a_node_says_is_text_on_the_status_page(open_site: Open, node: TestNode) -> None:
    client = await open_site()
    node.answer_everything(status=500, answers={"error": "<script>alert('owned')</script>"})
    for target in client.fleet.targets.values():
        for status in target.statuses.values():
            await client.fleet._due(target, status.watch)
    page = await (await client.get("/")).text()
    assert "&lt;script&gt;alert(&#x27;owned&#x27;)&lt;/script&gt;" in page
    assert "<script" not in page


async def test_the_configuration_in_force_is_shown_without_its_secrets(open_site: Open, node: TestNode) -> None:
    client = await open_site()
    answer = await client.get("/config")
    text = await answer.text()
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.headers["Cache-Control"] == "no-store"
    assert "hunter2" not in text
    shown = yaml.safe_load(text)
    participant = shown["targets"]["participant"]
    assert participant["url"] == node.url
    assert participant["headers"] == {"X": "**********"}
    assert participant["collectors"]["ledger_offsets"] == {
        "enabled": True,
        "interval": "15s",
        "timeout": "9s",
        "max_series": 500,
        "options": {"lookback": 10000},
    }


@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_a_reload_is_asked_for_and_a_wrong_configuration_is_refused_with_its_faults(
    open_site: Open, method: str
) -> None:
    client = await open_site()
    answer = await client.request(method, "/-/reload")
    assert (answer.status, await answer.text()) == (200, "the configuration was read again\n")
    client.wrong.append("exporter.yaml: targets.a.url: is missing; write url or url_file")
    answer = await client.request(method, "/-/reload")
    assert answer.status == 500
    assert await answer.text() == (
        "the new configuration has errors; the old one stays in use:\n"
        "exporter.yaml: targets.a.url: is missing; write url or url_file\n"
    )


async def test_without_a_configuration_file_there_is_no_reload(open_site: Open) -> None:
    client = await open_site(has_file=False)
    answer = await client.post("/-/reload")
    assert answer.status == 403
    assert await answer.text() == "the demo has no configuration file, so there is nothing to reload\n"


async def test_a_reload_is_not_asked_for_by_looking(open_site: Open) -> None:
    client = await open_site()
    assert (await client.get("/-/reload")).status == 405


async def test_every_response_forbids_browsers_to_guess_its_type_and_to_run_anything(open_site: Open) -> None:
    client = await open_site()
    for path in ("/metrics", "/", "/none", "/config"):
        headers = (await client.get(path)).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")


async def test_an_answer_does_not_tell_what_the_exporter_is_made_of(open_site: Open) -> None:
    client = await open_site()
    for path in ("/", "/metrics", "/nothing"):
        assert (await client.get(path)).headers["Server"] == "canton-exporter"


@pytest.mark.parametrize("prefix", ["", "/canton"])
async def test_under_an_unknown_name_there_are_only_metrics_probes_and_health(open_site: Open, prefix: str) -> None:
    client = await open_site(prefix=prefix, path="/numbers")
    for path, status in {
        "/numbers": 200,
        "/-/healthy": 200,
        "/-/ready": 200,
        "/probe": 400,
        "/": 421,
        "/config": 421,
        "/none": 421,
    }.items():
        answer = await client.get(f"{prefix}{path}", headers={"Host": "rebound.example"}, allow_redirects=False)
        assert (path, answer.status) == (path, status)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert (await client.post(f"{prefix}/-/reload", headers={"Host": "rebound.example"})).status == 421
    assert (await client.post(f"{prefix}/-/reload", headers={"Origin": "http://evil.example"})).status == 403
