"""/metrics: the whole page, or what a scraper asks for of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aiohttp import web

from exporter.exposition.page_cache import Pages
from exporter.exposition.text import Lines
from exporter.scheduling.fleet import Fleet
from exporter.web.content_negotiation import choose_format, takes_gzip


class ScrapeFilter(NamedTuple):
    """Which collectors and targets a scraper asks for; empty means all. It is a page's key, so it is kept sorted."""

    collect: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    def takes(self, target: str, collector: str | None) -> bool:
        return (
            (not self.targets or target in self.targets)
            and (not self.collect or collector in self.collect)
            and collector not in self.exclude
        )


def read_filter(request: web.Request, fleet: Fleet) -> ScrapeFilter:
    """Return what the query asks for. Raises HTTPBadRequest for a name that is not there, or both ways at once.

    A scrape's query is the same for every exporter that shares the targets: the names of other shards are valid.
    """
    chosen = {key: tuple(sorted(set(request.query.getall(key, ())))) for key in ("collect[]", "exclude[]", "target[]")}
    if not any(chosen.values()):
        return ScrapeFilter()
    collectors = {name for target in fleet.configured.values() for name in target.collector_configs}
    known = {"collect[]": collectors, "exclude[]": collectors, "target[]": set(fleet.configured)}
    for key, names in chosen.items():
        if unknown := [name for name in names if name not in known[key]]:
            there = ", ".join(sorted(known[key]))
            raise web.HTTPBadRequest(text=f"{key}={unknown[0][:100]}: there is none of this name; there are {there}\n")
    if chosen["collect[]"] and chosen["exclude[]"]:
        raise web.HTTPBadRequest(text="collect[] and exclude[] cannot both be given\n")
    return ScrapeFilter(chosen["collect[]"], chosen["exclude[]"], chosen["target[]"])


@dataclass
class Scrape:
    """The page's handler. A page of chosen collectors or targets lacks the `exporter_lines`."""

    fleet: Fleet
    pages: Pages
    exporter_lines: Callable[[], Lines]

    async def answer(self, request: web.Request) -> web.Response:
        scrape_filter = read_filter(request, self.fleet)
        format_ = choose_format(",".join(request.headers.getall("Accept", ())))
        gzipped = takes_gzip(",".join(request.headers.getall("Accept-Encoding", ())))
        body = await self.pages.get(
            (scrape_filter, format_), self.fleet.change, lambda: self._blocks(scrape_filter), format_, gzipped=gzipped
        )
        headers = {"Content-Type": format_.value, "Vary": "Accept, Accept-Encoding"}
        if gzipped:
            headers["Content-Encoding"] = "gzip"
        return web.Response(body=body, headers=headers)

    def _blocks(self, scrape_filter: ScrapeFilter) -> Sequence[Lines]:
        blocks = [block.lines for block in self.fleet.blocks() if scrape_filter.takes(block.target, block.collector)]
        return blocks if scrape_filter.collect or scrape_filter.targets else [self.exporter_lines(), *blocks]
