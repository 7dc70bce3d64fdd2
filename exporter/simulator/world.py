"""What all nodes of one pretend network share: its clock, its synchronizer, its parties."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]


def fingerprint(*of: object) -> str:
    """64 hex characters, always the same for the same arguments."""
    return hashlib.sha256("/".join(map(str, of)).encode()).hexdigest()


def moment(seconds: float) -> str:
    """A time as the APIs write it, for example 2026-11-21T02:00:09.100000Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class World:
    def __init__(self, clock: Clock, seed: int, checkpoint_interval: float) -> None:
        self.now = clock
        self.began = clock()
        self.seed = seed
        self.checkpoint_interval = checkpoint_interval
        self.synchronizer = f"global-domain::1220{fingerprint(seed, 'synchronizer')}"
        self.old_synchronizer = f"old-domain::1220{fingerprint(seed, 'old synchronizer')}"
        self.dso_party = f"DSO::1220{fingerprint(seed, 'DSO')}"
