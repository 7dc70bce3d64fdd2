"""How many requests a node may get: a budget for each target or host, whatever collectors and reloads ask of it."""

from enum import Flag, auto

from aiolimiter import AsyncLimiter

from exporter.config import models


class Share(Flag):
    """What a request may take of the budget."""

    NONE = 0
    """It passes the budget by: health checks and requests for tokens."""
    WHOLE = auto()
    PAGES = auto()
    HALF = WHOLE | PAGES
    """Requests for page after page, which must leave room for the others."""
    PROBE = auto()
    """Requests of /probe: together at most half, too. Those that pass the budget by have a rate of their own."""


class RateLimit:
    """One budget."""

    def __init__(self, allowed: models.Budget) -> None:
        self._whole = AsyncLimiter(allowed.burst, allowed.burst / allowed.rate)
        half = max(1, allowed.burst // 2)
        self._pages, self._probes = (AsyncLimiter(half, half / (allowed.rate / 2)) for _ in range(2))
        self._health_probes = AsyncLimiter(allowed.burst, allowed.burst / allowed.rate)
        self._back_offs: dict[str, float] = {}

    def back_off(self, node: str, until: float) -> None:
        """Pause the requests to a node of the host, as it asked, until then (monotonic seconds)."""
        self._back_offs[node] = max(until, self._back_offs.get(node, until))

    def back_off_left(self, node: str, now: float) -> float:
        """Return for how many seconds more a node asked to wait."""
        return max(0.0, self._back_offs.get(node, now) - now)

    async def take(self, share: Share) -> None:
        """Wait until one more request may go."""
        if Share.PROBE in share:
            await (self._probes if Share.WHOLE in share else self._health_probes).acquire()
        if Share.PAGES in share:
            await self._pages.acquire()
        if Share.WHOLE in share:
            await self._whole.acquire()


class RateLimits:
    """All budgets, made when first needed; they outlive reloads."""

    def __init__(self) -> None:
        self._by_owner: dict[tuple[str, str | None, models.Budget], RateLimit] = {}

    def of(self, host: str, allowed: models.Budget, target: str | None = None) -> RateLimit:
        """Return the budget of a target at a host; without a target, the one that those share who have none."""
        owner = host, target, allowed
        if owner not in self._by_owner:
            self._by_owner[owner] = RateLimit(allowed)
        return self._by_owner[owner]
