"""The settings in force, and how they are replaced without a restart: whole, or not at all."""

import asyncio
import logging
from collections.abc import Callable, Iterator

from exporter.clock import Clock
from exporter.config.loader import Settings
from exporter.errors import WrongConfiguration
from exporter.metrics import self_metrics
from exporter.metrics.counters import Counters
from exporter.metrics.metric import Sample
from exporter.scheduling.fleet import Fleet

log = logging.getLogger(__name__)


class Reloader:
    """Reads the settings anew and gives them to the fleet, one reload after the other."""

    def __init__(self, settings: Settings, read: Callable[[], Settings], fleet: Fleet, clock: Clock) -> None:
        """Take settings that are checked already, and `read`, which reads them anew or raises WrongConfiguration."""
        self.settings = settings
        """Those in force."""
        self._read = read
        self._fleet = fleet
        self._clock = clock
        self._reloading = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None
        """The reload that has not begun yet."""
        self._is_successful = True
        self._read_at = clock.now()
        self._counters = Counters()
        for result in ("success", "failure"):
            self._counters.add(self_metrics.RELOADS, result, amount=0)

    async def reload(self) -> None:
        """Read the settings anew and put them in force. Raises WrongConfiguration, and then all is as it was.

        However many ask while one is under way, one more follows: it reads what all of them mean.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._reload_next())
            self._next.add_done_callback(asyncio.Task.exception)  # it is logged, even if nobody waits any more
        await asyncio.shield(self._next)

    async def _reload_next(self) -> None:
        async with self._reloading:
            self._next = None  # who asks from now on means a later state of the file
            try:
                settings = await asyncio.to_thread(self._read)  # thousands of targets take seconds
            except WrongConfiguration as error:
                self._is_successful = False
                self._counters.add(self_metrics.RELOADS, "failure")
                # Its errors are the whole report: there is no bug to trace.
                log.error(  # noqa: TRY400
                    "the new configuration has errors; the old one stays in use",
                    extra={"error": "; ".join(error.errors)},
                )
                raise
            else:
                await self._fleet.apply(settings)
                for warning in settings.warnings:
                    if warning not in self.settings.warnings:
                        log.warning(warning)
                self.settings, self._is_successful, self._read_at = settings, True, self._clock.now()
                self._counters.add(self_metrics.RELOADS, "success")
                log.info("the configuration was read again")
            finally:
                self._fleet.changed()

    def samples(self) -> Iterator[Sample]:
        """Return how the reloads went, and when the settings in force were read."""
        yield self_metrics.RELOAD_SUCCESSFUL.sample(self._is_successful)
        yield self_metrics.RELOAD_SUCCESS_TIMESTAMP.sample(self._read_at)
        yield from self._counters.samples()
