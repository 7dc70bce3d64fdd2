"""What all nodes of one pretend network share: its clock, its synchronizer, its parties, and what it has on record."""

from collections.abc import Sequence

from exporter.simulator.facts import DAY, ELSEWHERE, Clock, Facts, fingerprint
from exporter.simulator.world.acs_contracts import Contracts
from exporter.simulator.world.acs_snapshots import Snapshots
from exporter.simulator.world.ans_names import Name, Names
from exporter.simulator.world.rewards import Rewards
from exporter.simulator.world.rounds import Rounds
from exporter.simulator.world.rules import Rules
from exporter.simulator.world.rules_config import Changes
from exporter.simulator.world.super_validators import svs
from exporter.simulator.world.synchronizer_upgrades import Upgrades
from exporter.simulator.world.traffic import members
from exporter.simulator.world.transfers import Sender, senders
from exporter.simulator.world.updates_by_hash import Hashes


class World(Facts):
    def __init__(
        self,
        clock: Clock,
        seed: int,
        checkpoint_interval: float,
        *,
        contracts: int = 3_000,
        snapshot_interval: float = 3 * 3600,
        snapshot_delay: float = 60.0,
        rules_interval: float = 3600.0,
        transfer_interval: float = 60.0,
        failing_transfers: bool = True,
        round_interval: float = 600.0,
        reward_providers: int = 40,
        participants: Sequence[str] = (),
    ) -> None:
        super().__init__(clock, seed)
        self.checkpoint_interval = checkpoint_interval
        self.snapshots = Snapshots(self, contracts, snapshot_interval, snapshot_delay)
        self.contracts = Contracts(self, self.snapshots)
        self.rules = Rules(self, rules_interval)
        self.senders = senders(self, transfer_interval, some_fail=failing_transfers)
        self.rounds = Rounds(self, round_interval)
        self.upgrades = Upgrades(self)
        self.members = members(self, participants or ELSEWHERE)
        self.svs = svs(self)
        self.rewards = Rewards(self, self.rounds, reward_providers)
        self.hashes = Hashes(self)
        # Of the senders the first has time to renew its name, and the last is about to.
        alice, *_, bob = self.senders
        self.shop = f"shop::1220{fingerprint(self.seed, 'shop')}"
        days = [(alice, "alice", 40), (bob, "bob", 10), (self.shop, "shop", 60), (self.shop, "shop-eu", 45)]
        names = [Name(party, label, self.began + count * DAY) for party, label, count in days]
        self.names = Names(self, names, list(self.svs))
        self.synchronizer_prefix = self.synchronizer.partition("::")[0]

    def vote(self, changes: Changes, due: float | None = None) -> None:
        """Replace the rules by some in which values at dotted paths are others, at once or from a Unix time on."""
        self.rules.vote(changes, due)

    def sender(self, name: str) -> Sender:
        """Who sends transfer commands, by the whole party or what it has before its colons; a KeyError if nobody."""
        for party, sender in self.senders.items():
            if name in (party, party.partition("::")[0]):
                return sender
        raise KeyError(f"There is no sender {name!r}, only {', '.join(self.senders)}.")

    def stick(self, name: str) -> None:
        """Let a sender's commands pile up from now on, none of which ends."""
        self.sender(name).stick()

    def unstick(self, name: str) -> None:
        """Let what has piled up end, a few seconds from now."""
        self.sender(name).unstick()

    def announce_upgrade(
        self, upgrade_time: float, freeze_time: float | None = None, serial: int | None = None
    ) -> None:
        """Let the synchronizer be followed by another at a Unix time, and topology be frozen at an earlier one."""
        self.upgrades.announce(upgrade_time, freeze_time, serial)

    def withdraw_upgrade(self) -> None:
        self.upgrades.withdraw()

    def stop_snapshots(self, seconds_ago: float = 0.0) -> None:
        """Let no snapshot of the active contracts be taken from now on, or since so many seconds ago."""
        self.snapshots.stop(seconds_ago)

    def resume_snapshots(self) -> None:
        self.snapshots.resume()

    def expire_name(self, name: str, seconds: float) -> None:
        """Let what a party is called in the name service expire so many seconds from now."""
        self.names.expire(name, seconds)

    def renew_name(self, name: str) -> None:
        self.names.renew(name)
