"""What time it is; tests bring a clock of their own and advance it."""

import time


class Clock:
    """The wall clock for what is shown, the monotonic one for how long something took; both in seconds."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()
