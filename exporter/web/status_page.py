"""The first page: every watch, its state and its last message, for anybody who opens the port in a browser."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import NamedTuple

from aiohttp import web

from exporter import __version__
from exporter.clock import Clock
from exporter.config.durations import write_duration
from exporter.exposition.page_cache import Pages
from exporter.scheduling.fleet import Fleet
from exporter.scheduling.watch import Outcome
from exporter.scheduling.watch_status import WatchStatus

OLDEST_SECONDS = 5.0
"""How old the page may be if no run has ended: it shows how long ago each did, and how far those under way are."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>canton-exporter</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="15">
<style>
:root {{ color-scheme: light dark; --line: #8884; --ok: #1a7f37; --remark: #bf8700; --failed: #cf222e;
  --quiet: #768390; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; margin-bottom: 0; }} h2 {{ font-size: 1.1rem; margin: 2rem 0 .3rem; }}
p {{ margin: .2rem 0; }} .quiet {{ color: var(--quiet); }} nav a {{ margin-right: 1rem; }}
table {{ border-collapse: collapse; width: 100%; table-layout: fixed; }}
th {{ width: 6%; }} th:nth-child(1), th:nth-child(2) {{ width: 16%; }} th:nth-child(3) {{ width: 8%; }}
th:last-child {{ width: auto; }}
th, td {{ text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }}
th, td {{ padding: .25rem .8rem .25rem 0; }}
th {{ font-weight: 600; }} td.number {{ font-variant-numeric: tabular-nums; white-space: nowrap; }}
td.error {{ overflow-wrap: anywhere; }}
td span::before, h2 span:not([class=""])::before {{ content: "\\25cf\\00a0"; }} h2 span {{ font-weight: 400; }}
.ok::before, .up::before {{ color: var(--ok); }} .remark::before {{ color: var(--remark); }}
.failed, .down {{ color: var(--failed); }} .unsupported, .waiting {{ color: var(--quiet); }}
@media (max-width: 45rem) {{ table {{ display: block; overflow-x: auto; table-layout: auto; white-space: nowrap; }} }}
</style></head><body>
<h1>canton-exporter</h1><p class="quiet">version {version} &middot; {part}{summary}</p>
<nav><a href="{prefix}{metrics}">Metrics</a>
<a href="{prefix}/config">Configuration</a>
<a href="{prefix}/-/healthy">Healthy</a> <a href="{prefix}/-/ready">Ready</a></nav>
{targets}
</body></html>
"""

TARGET = """<h2>{name} <span class="{state}">{state}</span></h2><p class="quiet">{about}</p>
<table><thead><tr><th>Collector</th><th>State</th><th>Last run</th><th>Took</th>
<th>Every</th><th>Series</th><th>Message</th></tr></thead>
<tbody>{rows}</tbody></table>
"""


class ShownTarget(NamedTuple):
    """What the page shows of a target."""

    name: str
    state: str
    about: tuple[str, ...]
    statuses: Sequence[WatchStatus]


@dataclass
class StatusPage:
    """The status page's handler."""

    fleet: Fleet
    pages: Pages
    clock: Clock
    telemetry_path: str
    prefix: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        body = await self.pages.get_made("/", self.fleet.change, self._prepare, oldest_seconds=OLDEST_SECONDS)
        return web.Response(body=body, content_type="text/html", charset="utf-8")

    def _prepare(self) -> Callable[[], bytes]:
        """Gather on the event loop what changes there, and return what makes the page of it."""
        shard = self.fleet.shard
        part = f"{shard}: {len(self.fleet.targets)} of {len(self.fleet.configured)} targets &middot; "
        return partial(self._write, part if shard.total > 1 else "", list(self._targets()))

    def _targets(self) -> Iterator[ShownTarget]:
        for name, target in self.fleet.targets.items():
            config, url = target.config, target.transport.destination.public_url
            state = {True: "up", False: "down", None: ""}[target.is_up()]
            about = (config.kind, url, config.network, config.role)
            yield ShownTarget(name, state, about, list(target.statuses.values()))

    def _write(self, part: str, targets: Sequence[ShownTarget]) -> bytes:
        states = Counter(state_of(status) for target in targets for status in target.statuses)
        counts = ", ".join(f"{count} {state}" for state, count in states.items())
        text = PAGE.format(
            version=escape(__version__),
            part=part,
            summary=f"{states.total()} watches{': ' if counts else ''}{counts}",
            prefix=escape(self.prefix),
            metrics=escape(self.telemetry_path),
            targets="".join(
                TARGET.format(
                    name=escape(target.name),
                    state=target.state,
                    about=" &middot; ".join(map(escape, target.about)),
                    rows="".join(map(self._row, target.statuses)),
                )
                for target in targets
            ),
        )
        return text.encode(errors="replace")

    def _row(self, status: WatchStatus) -> str:
        run, collector_config, state = status.last, status.watch.collector_config, state_of(status)
        cells = [
            f"<td>{escape(status.watch.collector.name)}</td>",
            f'<td><span class="{state}">{state}{escape(f": {run.reason}") if run and run.reason else ""}</span></td>',
            f'<td class="number">{f"{max(0, self.clock.now() - run.ended):.0f} s ago" if run else ""}</td>',
            f'<td class="number">{f"{run.seconds:.3f} s" if run else ""}</td>',
            f'<td class="number">{write_duration(collector_config.interval)}</td>',
            f'<td class="number">{status.series}</td>',
            f'<td class="error">{escape(details(status))}</td>',
        ]
        return f"<tr>{''.join(cells)}</tr>\n"


def state_of(status: WatchStatus) -> str:
    """Return how the last run went. With a remark it is not called ok, which would be read as the node's state."""
    run = status.last
    if run is None:
        return "waiting"
    return "remark" if run.outcome is Outcome.OK and run.remarks else run.outcome.value


def details(status: WatchStatus) -> str:
    """Return a watch's message: how far its run is, and what is the matter or what happened."""
    run = status.last
    parts = [f"under way: {status.progress}"] if status.progress else []
    parts += [str(part) for part in (run.error, *run.remarks, *run.news) if part] if run else []
    return "; ".join(parts)
