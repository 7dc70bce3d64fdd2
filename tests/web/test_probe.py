"""/probe: what asks one target now says, whatever the target does."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.collectors import test_health, test_ledger_offsets
from tests.nodes import TestNode
from tests.web.test_routes import HAS_THE_PARTICIPANT, HAS_THE_SCAN, Open, open_site  # noqa: F401 - a fixture

TEN = {"X-Prometheus-Scrape-Timeout-Seconds": "11"}


def tell_participant(node: TestNode) -> None:
    test_health.answer_well(node)
    test_ledger_offsets.answer_well(node)


def series(page: str) -> dict[str, float]:
    lines = (line for line in page.splitlines() if not line.startswith("#"))
    return {line.split("{")[0].split()[0]: float(line.rpartition(" ")[2]) for line in lines}


async def ask(client: Any, query: str, **headers: str) -> tuple[int, str]:
    answer = await client.get(f"/probe?{query}", headers=headers)
    return answer.status, await answer.text()


async def test_asks_every_collector_that_ends_in_time(open_site: Open, node: TestNode) -> None:  # noqa: F811
    tell_participant(node)
    client = await open_site()
    status, page = await ask(client, "target=participant", **TEN)
    shown = series(page)
    assert (status, shown["probe_success"], shown["canton_up"], shown["canton_ledger_end_offset"]) == (
        200,
        1,
        1,
        184201,
    )
    assert 'canton_up{network="default",role="own",target="participant"} 1.0' in page


async def test_leaves_out_what_would_take_longer_than_the_scrape(open_site: Open, node: TestNode) -> None:  # noqa: F811
    test_health.answer_well(node)
    client = await open_site()
    _, page = await ask(client, "target=participant", **{"X-Prometheus-Scrape-Timeout-Seconds": "6"})
    assert "canton_up" in series(page)
    assert "canton_ledger_end_offset" not in series(page)


async def test_a_failing_node_is_a_good_answer_that_says_so(open_site: Open, node: TestNode) -> None:  # noqa: F811
    node.answer_everything(status=500, body=b"")
    client = await open_site()
    status, page = await ask(client, "target=participant&collector=ledger_offsets")
    assert (status, series(page)["probe_success"]) == (200, 0)
    assert 'canton_collector_failure_info{collector="ledger_offsets",network="default",reason="refused"' in page


async def test_an_operation_the_node_lacks_is_no_failure(open_site: Open, node: TestNode) -> None:  # noqa: F811
    node.answer_everything(status=404, body=b"")
    client = await open_site()
    _, page = await ask(client, "target=participant&collector=ledger_offsets")
    assert series(page)["probe_success"] == 1
    assert series(page)["canton_collector_success"] == 0


async def test_a_node_that_hangs_is_answered_before_the_scraper_gives_up(open_site: Open, node: TestNode) -> None:  # noqa: F811
    node.silent = True
    client = await open_site()
    status, page = await ask(
        client, "target=participant&collector=ledger_offsets", **{"X-Prometheus-Scrape-Timeout-Seconds": "0.7"}
    )
    assert (status, series(page)["probe_success"]) == (200, 0)
    assert series(page)["probe_duration_seconds"] < 0.6


async def test_equal_probes_share_one_run_and_leave_the_watch_alone(open_site: Open, node: TestNode) -> None:  # noqa: F811
    test_health.answer_well(node)
    client = await open_site()
    await asyncio.gather(*(ask(client, "target=participant&collector=health") for _ in range(8)))
    assert sorted(request.path for request in node.requests) == ["/livez", "/readyz", "/v2/version"]
    assert "canton_up" not in series(await (await client.get("/metrics")).text())


async def test_tells_a_person_what_was_asked_and_answered(open_site: Open, node: TestNode) -> None:  # noqa: F811
    node.get("/livez", status=503, body=b"")
    node.get("/readyz", status=503, body=b"")
    client = await open_site()
    _, text = await ask(client, "target=participant&collector=health&debug=true")
    headline = text.splitlines()[0]
    assert headline.startswith("health: ran in ")
    assert headline.endswith(" s; the node is down"), "ok would read as if the node were"
    assert "  GET /livez: 503 in " in text
    assert "  the node is down: GET /livez: 503\n" in text
    assert "\nprobe_success 0.0\n" in text, "a node that is down is not a success"


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("", 400, "name a configured target: /probe?target=NAME\n"),
        ("target=http://10.0.0.1/", 404, "no target is called http://10.0.0.1/; there are participant, scan\n"),
        ("target=scan&collector=acs", 404, "scan has no collector acs; it has feature_support, health\n"),
        (
            "target=scan&collector=ledger_offsets",
            404,
            "ledger_offsets works only with targets of kind ledger; scan is a scan\n",
        ),
    ],
)
async def test_only_what_is_configured_can_be_asked(
    open_site: Open,  # noqa: F811
    query: str,
    status: int,
    sentence: str,
) -> None:
    client = await open_site()
    assert await ask(client, query) == (status, sentence)


@pytest.mark.parametrize("seconds", ["soon", "0.5", "-3", "nan", "1e999"])
async def test_a_timeout_that_is_none_is_a_bad_request(open_site: Open, seconds: str) -> None:  # noqa: F811
    client = await open_site()
    status, _ = await ask(client, "target=scan", **{"X-Prometheus-Scrape-Timeout-Seconds": seconds})
    assert status == 400


async def test_probes_beyond_the_limit_are_turned_away(open_site: Open, node: TestNode) -> None:  # noqa: F811
    test_health.answer_well(node)
    client = await open_site(most=2)
    asked = (
        client.get("/probe?target=participant", headers={"X-Prometheus-Scrape-Timeout-Seconds": f"6.{index}"})
        for index in range(6)
    )
    assert {answer.status for answer in await asyncio.gather(*asked)} == {200, 503}


@pytest.mark.parametrize("target", ["participant", "scan"])
@pytest.mark.parametrize("scrape", ["2", "10"])
async def test_a_dead_node_is_no_success_however_short_the_scrape(
    open_site: Open,  # noqa: F811
    node: TestNode,
    target: str,
    scrape: str,
) -> None:
    node.answer_everything(status=503, body=b"no healthy upstream")
    client = await open_site()
    status, page = await ask(client, f"target={target}", **{"X-Prometheus-Scrape-Timeout-Seconds": scrape})
    assert (status, series(page)["probe_success"], series(page)["canton_up"]) == (200, 0, 0)


async def test_what_was_left_out_for_time_is_on_the_page(open_site: Open, node: TestNode) -> None:  # noqa: F811
    tell_participant(node)
    client = await open_site()
    short = {"X-Prometheus-Scrape-Timeout-Seconds": "2"}
    _, page = await ask(client, "target=participant", **short)
    assert 'probe_collector_left_out{collector="ledger_offsets"} 1.0' in page
    _, text = await ask(client, "target=participant&debug=true", **short)
    assert "ledger_offsets: not run, as it may take longer than the probe; name it to run it\n" in text
    _, page = await ask(client, "target=participant", **TEN)
    assert "probe_collector_left_out" not in page


async def test_a_run_is_cancelled_when_nobody_waits_for_it_any_more(open_site: Open, node: TestNode) -> None:  # noqa: F811
    node.silent = True
    client = await open_site()
    target = client.fleet.targets["participant"]
    watch = target.statuses["ledger_offsets"].watch
    waiting = [asyncio.create_task(target.probe(watch, timedelta(seconds=60))) for _ in range(3)]
    while not node.requests:  # noqa: ASYNC110 - the node counts, and has no event
        await asyncio.sleep(0.01)
    [run] = [each.task for each in target._probing.values()]
    for task in waiting[:2]:
        task.cancel()
    await asyncio.wait(waiting[:2])
    assert not run.done(), "one still waits"
    waiting[2].cancel()
    await asyncio.wait([*waiting, run])
    assert run.cancelled()
    assert target._probing == {}


async def test_a_probe_joins_the_run_under_way_and_waits_no_longer_than_its_own_limit(
    open_site: Open,  # noqa: F811
    node: TestNode,
) -> None:
    node.silent = True
    client = await open_site()
    target = client.fleet.targets["participant"]
    watch = target.statuses["ledger_offsets"].watch
    long = asyncio.create_task(target.probe(watch, timedelta(seconds=60)))
    while not node.requests:  # noqa: ASYNC110 - the node counts, and has no event
        await asyncio.sleep(0.01)
    run = await target.probe(watch, timedelta(seconds=0.1))
    assert (run.reason, run.error) == ("timeout", "the run that another probe began did not end within 100ms")
    assert len(node.requests) == 1
    long.cancel()
    await asyncio.wait([long])


async def test_a_target_of_another_shard_is_not_here_and_it_is_said_who_has_it(
    open_site: Open,  # noqa: F811
    node: TestNode,
) -> None:
    client = await open_site(shard=HAS_THE_SCAN)
    said = "participant is watched by shard 1, and this is shard 0 of 2; ask that one\n"
    assert await ask(client, "target=participant") == (404, said)
    said = "no target is called participants; there are participant, scan\n"
    assert await ask(client, "target=participants") == (404, said)
    test_health.answer_well(node)
    client = await open_site(shard=HAS_THE_PARTICIPANT)
    status, page = await ask(client, "target=participant&collector=health")
    assert (status, series(page)["probe_success"]) == (200, 1)
