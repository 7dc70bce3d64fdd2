"""Samples become lines once, lines a page when somebody asks, and a page stays until something changes."""

import asyncio
import gzip
import sys
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from types import MappingProxyType

from prometheus_client import CollectorRegistry
from prometheus_client.utils import floatToGoString

from exporter.clock import Clock
from exporter.metrics.metric import Metric, Sample

Families = Mapping[Metric, str]
"""Rendered lines by metric; those of a summary's parts by the summary."""


class Lines:
    """The lines of samples that all get the `common` labels, rendered once: by the first page that shows them."""

    def __init__(self, samples: Iterable[Sample] = (), common: Mapping[str, str] = MappingProxyType({})) -> None:
        self._samples = samples
        self._common = common

    @cached_property
    def families(self) -> Families:
        return render(self._samples, self._common)


class Format(Enum):
    """A text format, by the Content-Type it is served under."""

    TEXT_0 = "text/plain; version=0.0.4; charset=utf-8"
    TEXT_1 = "text/plain; version=1.0.0; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def render(samples: Iterable[Sample], common: Mapping[str, str]) -> Families:
    """Return the lines of samples, which all get the `common` labels, by metric; labels are in the order of names.

    The parts of a summary are written in the order of samples: those of one series have to stand together.
    """
    families: dict[Metric, list[str]] = {}
    templates: dict[Metric, tuple[str, list[int]]] = {}
    for metric, labels, value in samples:
        if metric not in templates:
            templates[metric] = template(metric, common)
        text, order = templates[metric]
        families.setdefault(metric.family or metric, []).append(
            f"{text % tuple(escape(labels[index]) for index in order)} {floatToGoString(value)}\n"
        )
    return {metric: "".join(lines) for metric, lines in families.items()}


def template(metric: Metric, common: Mapping[str, str]) -> tuple[str, list[int]]:
    """Return a line's beginning with `%s` for each of the metric's own labels, and which of them each stands for."""
    own = {name: index for index, name in enumerate(metric.labels)}
    names = sorted({**own, **common})
    parts = [f'{name}="{"%s" if name in own else escape(common[name]).replace("%", "%%")}"' for name in names]
    return f"{metric.name}{{{','.join(parts)}}}" if parts else metric.name, [own[name] for name in names if name in own]


def escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def header(metric: Metric, format_: Format) -> str:
    name, text = metric.name, metric.help.replace("\\", r"\\").replace("\n", r"\n")
    if format_ is Format.OPENMETRICS:  # which names a family without its samples' suffix
        name, text = name.removesuffix("_total"), text.replace('"', r"\"")
    return f"# HELP {name} {text}\n# TYPE {name} {metric.type}\n"


def write_page(blocks: Sequence[Lines], format_: Format) -> bytes:
    """Join blocks into a page: each metric once, in the order of names."""
    families: dict[Metric, list[str]] = {}
    for block in blocks:
        for metric, lines in block.families.items():
            families.setdefault(metric, []).append(lines)
    parts = []
    for metric in sorted(families, key=lambda metric: metric.name):
        parts += [header(metric, format_), *families[metric]]
    if format_ is Format.OPENMETRICS:
        parts.append("# EOF\n")
    # A node can say half a character; one such label must not take the page away.
    return "".join(parts).encode("utf-8", errors="replace")


def read_registry(registry: CollectorRegistry) -> list[Sample]:
    """Return what the library's own collectors say of this process."""
    samples = []
    for family in registry.collect():
        declared: dict[str, Metric] = {}
        for sample in family.samples:
            metric = declared.setdefault(sample.name, Metric(sample.name, family.documentation, tuple(sample.labels)))
            samples.append(metric.sample(sample.value, **sample.labels))
    return samples


@dataclass(slots=True)
class Page:
    """A page's bytes, and of when they are."""

    change: object
    made: float
    plain: bytes
    packed: bytes | None = None


class Pages:
    """Keeps each page until something changes, and makes it anew off the event loop, once for all who wait for it."""

    KEPT = 8
    OLDEST_SECONDS = 15.0
    """The process's own figures are read when a page is made, so a page ages even if no node says anything."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pages: OrderedDict[object, Page] = OrderedDict()
        self._making: dict[object, asyncio.Task[None]] = {}
        # A thread of its own, for name resolution may have taken all of the others.
        self._thread = ThreadPoolExecutor(1, "page")
        # While it computes, the event loop gets the interpreter back after this long, and not after 5 ms.
        sys.setswitchinterval(0.0005)
        self.rendered = 0

    async def get(
        self,
        key: object,
        change: Callable[[], object],
        blocks: Callable[[], Sequence[Lines]],
        format_: Format,
        *,
        packed: bool,
    ) -> bytes:
        """Return a page that is no older than this call, or than the last change.

        `key` names the page, `change` is another whenever the page would be, `blocks` gathers what it is made of.
        """
        called = self._clock.monotonic()
        while (page := self._held(key, change(), called)) is None:
            await self._once(key, lambda: self._make(key, change(), blocks(), format_))
        while packed and page.packed is None:
            await self._once(id(page), lambda: self._pack(page))
        return page.packed if packed and page.packed else page.plain

    def _held(self, key: object, change: object, called: float) -> Page | None:
        page = self._pages.get(key)
        if page is None or page.made >= called:
            return page
        return page if page.change == change and called - page.made < self.OLDEST_SECONDS else None

    async def _once(self, key: object, make: Callable[[], Coroutine[None, None, None]]) -> None:
        """Wait for what is being made, or begin it; it goes on for the others if whoever began it goes away."""
        making = self._making.get(key)
        # One that is done and still here, since its callback is yet to run, would be awaited without a pause for ever.
        if making is None or making.done():
            making = self._making[key] = asyncio.create_task(make())
            making.add_done_callback(lambda done: self._making.pop(key) if self._making.get(key) is done else None)
        await asyncio.shield(making)

    async def _make(self, key: object, change: object, blocks: Sequence[Lines], format_: Format) -> None:
        made = self._clock.monotonic()
        self.rendered += 1
        self._pages[key] = Page(change, made, await self._in_thread(write_page, blocks, format_))
        self._pages.move_to_end(key)
        while len(self._pages) > self.KEPT:
            self._pages.popitem(last=False)

    async def _pack(self, page: Page) -> None:
        page.packed = await self._in_thread(gzip.compress, page.plain, 6)

    async def _in_thread(self, function: Callable[..., bytes], *arguments: object) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
