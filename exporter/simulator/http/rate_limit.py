"""How many requests a client may send: a bucket of tokens for each address, filled as the clock on the wall goes."""

from exporter.simulator.facts import Clock


class RateLimit:
    def __init__(self, now: Clock, most_per_second: float) -> None:
        """As many at once as in a second, and one at least."""
        if not most_per_second > 0:
            raise ValueError("A rate limit is to be greater than 0.")
        self._now = now
        self._rate = most_per_second
        self._burst = max(1.0, most_per_second)
        self._buckets: dict[str, tuple[float, float]] = {}  # what was left, and when

    def allows(self, address: str) -> bool:
        """Whether one more request is within the limit; if it is, it counts."""
        now = self._now()
        left, then = self._buckets.get(address, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        is_allowed = left >= 1
        self._buckets[address] = (left - 1 if is_allowed else left, now)
        return is_allowed
