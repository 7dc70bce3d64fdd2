"""One target in use: what its watches share, and what is known of the target itself."""

from yarl import URL

from exporter import own
from exporter.auth import make_auth
from exporter.budget import Budgets
from exporter.clock import Clock
from exporter.collectors.health import UP, health
from exporter.exposition import Lines
from exporter.settings import Budget, Target
from exporter.standing import Standing
from exporter.tally import Tally
from exporter.transport import Transport


class Connection:
    """A target in use: its session, its token, its counters, and how its watches stand."""

    def __init__(self, name: str, target: Target, budgets: Budgets, allowed: Budget, clock: Clock) -> None:
        self.target = target
        self.allowed = allowed
        self.tally = Tally([own.THROTTLED, own.BUDGET_WAIT])
        self.standings: dict[str, Standing] = {}
        """By collector."""
        self.auth = make_auth(target.auth)
        self.transport = Transport(target, budgets.of(URL(target.url).host or "", allowed), self.tally, clock)
        self._common = target.series_labels(name)

    def is_up(self) -> bool | None:
        """Tell whether the node is up, None if that is not known."""
        standing = self.standings.get(health.name)
        reading = standing.reading(UP) if standing else None
        return None if reading is None else reading == 1

    def lines(self) -> Lines:
        """Return what is known of the target itself."""
        samples = [own.TARGET_INFO.sample(1, kind=self.target.kind, url=self.target.public_url), *self.tally.samples()]
        token = self.auth.at_hand()
        if token is not None and token.issued is not None:
            samples.append(own.TOKEN_ISSUED.sample(token.issued, renewed_by=self.auth.renewed_by))
        if token is not None and token.expiry is not None:
            samples.append(own.TOKEN_EXPIRY.sample(token.expiry, renewed_by=self.auth.renewed_by))
        return Lines(samples, self._common)
