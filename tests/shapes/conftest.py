"""What every collector asks of a simulated network, recorded once for each dialect."""

from collections.abc import Awaitable, Callable

import pytest

from exporter.simulator import Dialect
from tests.conftest import Connect, FakeClock
from tests.shapes.recording import Recorder, Recording

RECORDED: dict[Dialect, Recording] = {}
Record = Callable[[Dialect], Awaitable[Recording]]


@pytest.fixture
def record(connect: Connect, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Record:
    async def record(dialect: Dialect) -> Recording:
        if dialect not in RECORDED:
            with monkeypatch.context() as patch:
                RECORDED[dialect] = await Recorder(connect, clock, patch).run(dialect)
        return RECORDED[dialect]

    return record
