"""What of a pretend network never changes, what time it is there, and how all of it draws by lot and writes a time."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

Clock = Callable[[], float]

GOLDEN = 0x9E3779B97F4A7C15

# Participants of the network that are no nodes of it here.
ELSEWHERE = ("exchange", "sv-1")

DAY = 86_400.0
FIRST_MIGRATION_SECONDS = 400 * DAY
LAST_MIGRATION_SECONDS = 120 * DAY
MIGRATING_SECONDS = 900.0


def fingerprint(*of: object) -> str:
    """64 hex characters, always the same for the same arguments."""
    return hashlib.sha256("/".join(map(str, of)).encode()).hexdigest()


def chance(*of: object) -> float:
    """A number from 0 to below 1, always the same for the same arguments."""
    return int(fingerprint(*of)[:12], 16) / 16**12


def scatter(number: int) -> int:
    """32 bits for a number: not drawn by lot, though they look like it, but far cheaper than a fingerprint."""
    scattered: int = (number * GOLDEN % 2**64) >> 32
    return scattered


def moment(seconds: float) -> str:
    """A time as the APIs write it, for example 2026-11-21T02:00:09.100000Z."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def brief_moment(seconds: float) -> str:
    """The same, without a fraction of zero: 2026-11-21T03:00:00Z."""
    return moment(seconds).replace(".000000Z", "Z")


@dataclass(frozen=True)
class Migration:
    id: int
    previous: int | None
    began: float
    ended: float | None


class Facts:
    def __init__(self, clock: Clock, seed: int) -> None:
        self.wall = clock
        self.began = clock()
        self._halted_at: float | None = None
        self.seed = seed
        self.synchronizer = f"global-domain::1220{fingerprint(seed, 'synchronizer')}"
        self.old_synchronizer = f"old-domain::1220{fingerprint(seed, 'old synchronizer')}"
        self.dso_party = f"DSO::1220{fingerprint(seed, 'DSO')}"
        ended = self.began - LAST_MIGRATION_SECONDS
        self.migrations = {
            3: Migration(3, None, self.began - FIRST_MIGRATION_SECONDS, ended),
            4: Migration(4, 3, ended + MIGRATING_SECONDS, None),
        }
        self.migration = self.migrations[4]

    @property
    def is_halted(self) -> bool:
        return self._halted_at is not None

    def now(self) -> float:
        """The time of the network, which stands while it is halted; that of clocks on walls, `wall`, does not."""
        return self.wall() if self._halted_at is None else self._halted_at

    def participant_id(self, name: str) -> str:
        """How a ledger calls its participant, and others do too."""
        return f"{name}::1220{fingerprint(self.seed, name)}"

    def halt(self) -> None:
        """Let nothing happen on the network from now on, while its nodes go on to answer."""
        self._halted_at = self.now()

    def resume(self) -> None:
        """Let the network be where it would be, had it not been halted."""
        self._halted_at = None
