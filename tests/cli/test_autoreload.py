"""Auto-reload: a change of what the file holds is seen once, and nothing else is."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from exporter.cli.autoreload import ConfigFile, watch_file
from exporter.config.loader import Settings
from exporter.config.models import Budget
from exporter.errors import WrongConfiguration
from tests.conftest import NOW, FakeClock

SETTINGS = Settings("full", {}, Budget(), {})


class Over(Exception):
    """The end of the time that a test lets pass."""


class Exporter:
    """What reads a file, and is told by auto-reload to read it again; time passes for it as fast as it waits."""

    def __init__(self, path: Path, clock: FakeClock) -> None:
        self.path, self.clock = path, clock
        self.events: dict[int, Callable[[], object]] = {}
        self.reads: list[tuple[int, str]] = []
        """What it read while it ran, after so many seconds."""
        self.file = ConfigFile(path, self._read)

    def _read(self) -> Settings:
        try:
            text = self.path.read_text()
        except OSError:
            text = "gone"
        self.reads.append((round(self.clock.now() - NOW), text))
        if text in ("wrong", "gone"):
            raise WrongConfiguration([text])
        return SETTINGS

    def reload(self) -> None:
        with suppress(WrongConfiguration):  # which who reloads has logged
            self.file.read()

    async def _pause(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.clock.advance(1)
            self.events.pop(round(self.clock.now() - NOW), lambda: None)()
        if not self.events:
            self.events[round(self.clock.now() - NOW) + 100] = self._end

    @staticmethod
    def _end() -> None:
        raise Over

    async def run(self, events: dict[int, Callable[[], object]]) -> list[tuple[int, str]]:
        """Start, let these things happen after so many seconds, and return what was read until all had been seen."""
        self.reload()
        self.reads.clear()
        self.events = events
        with pytest.raises(Over):
            await watch_file(self.file, timedelta(seconds=30), self.reload, self._pause)
        return self.reads


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "exporter.yaml").write_text("first")
    return tmp_path / "exporter.yaml"


@pytest.fixture
def exporter(path: Path, clock: FakeClock) -> Exporter:
    return Exporter(path, clock)


async def test_a_change_is_read_at_the_next_look_and_once(exporter: Exporter, path: Path) -> None:
    assert await exporter.run({45: lambda: path.write_text("second"), 100: lambda: path.write_text("third")}) == [
        (60, "second"),
        (120, "third"),
    ]


async def test_nothing_is_read_while_nothing_changes(exporter: Exporter, path: Path) -> None:
    def touch() -> None:
        path.write_text("first")
        os.utime(path, (NOW, NOW))

    assert await exporter.run({45: touch}) == []


async def test_what_changed_and_changed_back_between_two_looks_has_not_changed(exporter: Exporter, path: Path) -> None:
    assert await exporter.run({35: lambda: path.write_text("other"), 40: lambda: path.write_text("first")}) == []


async def test_what_is_refused_is_read_once_for_each_content(exporter: Exporter, path: Path) -> None:
    assert await exporter.run({45: lambda: path.write_text("wrong"), 200: lambda: path.write_text("first")}) == [
        (60, "wrong"),
        (210, "first"),
    ]


async def test_what_somebody_else_had_read_is_not_read_again(exporter: Exporter, path: Path) -> None:
    def change() -> None:
        path.write_text("second")
        exporter.reload()

    assert await exporter.run({45: change}) == [(45, "second")]


async def test_a_file_that_is_gone_for_a_moment_is_waited_for(exporter: Exporter, path: Path) -> None:
    assert await exporter.run({45: path.unlink, 80: lambda: path.write_text("first")}) == []


async def test_a_file_that_is_replaced_by_way_of_being_gone_is_read(exporter: Exporter, path: Path) -> None:
    assert await exporter.run({45: path.unlink, 80: lambda: path.write_text("second")}) == [(90, "second")]


async def test_a_file_that_stays_away_is_refused_once_and_read_when_it_is_back(exporter: Exporter, path: Path) -> None:
    assert await exporter.run({45: path.unlink, 300: lambda: path.write_text("first")}) == [
        (90, "gone"),
        (300, "first"),
    ]


async def test_a_file_that_cannot_be_read_does_not_end_the_looking(exporter: Exporter, path: Path) -> None:
    def become_a_folder() -> None:
        path.unlink()
        path.mkdir()

    def become_a_file() -> None:
        path.rmdir()
        path.write_text("second")

    assert await exporter.run({45: become_a_folder, 300: become_a_file}) == [(90, "gone"), (300, "second")]


async def test_a_pipe_in_the_place_of_the_file_does_not_hold_up_the_looking(exporter: Exporter, path: Path) -> None:
    def become_a_pipe() -> None:
        path.rename(path.with_name("before"))
        os.mkfifo(path)

    def come_back() -> None:
        path.with_name("before").replace(path)

    assert await exporter.run({45: become_a_pipe, 80: come_back}) == []


async def test_the_file_is_looked_at_beside_the_event_loop(
    exporter: Exporter, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[threading.Thread] = set()
    monkeypatch.setattr(ConfigFile, "has_changed", lambda _: threads.add(threading.current_thread()))
    await exporter.run({45: lambda: None})
    assert threads
    assert threading.main_thread() not in threads


async def test_a_file_that_need_not_be_there_may_come(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "later.yaml"
    exporter = Exporter(path, clock)
    assert await exporter.run({100: lambda: path.write_text("first")}) == [(120, "first")]


def test_what_changes_while_it_is_read_is_seen_at_the_next_look(path: Path) -> None:
    def read() -> Settings:
        path.write_text("second")
        return SETTINGS

    file = ConfigFile(path, read)
    file.read()
    assert file.has_changed()
