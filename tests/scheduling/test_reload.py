"""Reloads: one after the other, never more than two for however many ask, and without holding up the event loop."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from exporter.clock import Clock
from exporter.config.loader import Settings, check
from exporter.errors import WrongConfiguration
from exporter.node.rate_limit import RateLimits
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.reload import Reloader

SETTINGS, _ = check({"targets": {"a": {"kind": "ledger", "url": "http://127.0.0.1:9"}}}, {})


class File:
    """A configuration whose reading can be held up."""

    def __init__(self) -> None:
        self.reads = 0
        self.may_go_on = threading.Event()
        self.is_wrong = False
        self.warnings: tuple[str, ...] = ()

    def read(self) -> Settings:
        self.reads += 1
        self.may_go_on.wait(30)
        if self.is_wrong:
            raise WrongConfiguration(["it is wrong"])
        assert SETTINGS is not None
        return replace(SETTINGS, warnings=self.warnings)


@pytest.fixture
def file() -> File:
    return File()


@pytest.fixture
async def reloader(file: File) -> AsyncIterator[Reloader]:
    fleet = Fleet({}, RateLimits(), Clock())
    assert SETTINGS is not None
    yield Reloader(SETTINGS, file.read, fleet, Clock())
    file.may_go_on.set()
    await fleet.stop()


def counted(reloader: Reloader) -> dict[str, float]:
    return {"".join(sample.labels): sample.value for sample in reloader.samples() if sample.labels}


async def test_a_thousand_who_ask_at_once_get_two_reloads(reloader: Reloader, file: File) -> None:
    asking = [asyncio.create_task(reloader.reload())]
    while not file.reads:  # noqa: ASYNC110 - a thread reads it
        await asyncio.sleep(0.001)
    asking += [asyncio.create_task(reloader.reload()) for _ in range(999)]
    await asyncio.sleep(0)
    file.may_go_on.set()
    await asyncio.gather(*asking)
    assert file.reads == 2, "the second has read what those who asked meanwhile mean"
    assert counted(reloader) == {"success": 2, "failure": 0}


async def test_everybody_who_asked_learns_what_is_wrong_and_the_next_is_tried_anew(
    reloader: Reloader, file: File
) -> None:
    file.is_wrong = True
    file.may_go_on.set()
    answers = await asyncio.gather(*(reloader.reload() for _ in range(5)), return_exceptions=True)
    assert [str(answer) for answer in answers] == ["it is wrong"] * 5
    file.is_wrong = False
    await reloader.reload()
    assert counted(reloader) == {"success": 1, "failure": 1}


async def test_a_reload_that_nobody_waits_for_any_more_is_done_all_the_same(reloader: Reloader, file: File) -> None:
    asking = asyncio.create_task(reloader.reload())
    while not file.reads:  # noqa: ASYNC110 - a thread reads it
        await asyncio.sleep(0.001)
    asking.cancel()
    file.may_go_on.set()
    while not counted(reloader)["success"]:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.001)


async def test_a_warning_is_logged_by_the_reload_that_brings_it(
    reloader: Reloader, file: File, caplog: pytest.LogCaptureFixture
) -> None:
    file.may_go_on.set()
    file.warnings = ("it is odd",)
    await reloader.reload()
    await reloader.reload()
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == ["it is odd"]
