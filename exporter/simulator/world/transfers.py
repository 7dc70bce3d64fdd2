"""The transfer commands of a few senders: each is created, and then sent or failed, unless the sender is stuck.

A command is created every interval, with the next nonce. When it ends follows from its nonce, and from when its sender
was stuck: nothing runs in the background.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import DAY, Facts, chance, fingerprint, moment
from exporter.simulator.world.templates import Template, contract_id, contract_json

COMMAND = Template("splice-amulet", "Splice.ExternalPartyAmuletRules:TransferCommand")
COUNTER = Template("splice-amulet", "Splice.ExternalPartyAmuletRules:TransferCommandCounter")

HISTORY_SECONDS = 3 * DAY
SHOWN_SECONDS = DAY
LONGEST_SECONDS = 20.0

# What was piled up while a sender was stuck ends this long after.
CATCHING_UP_SECONDS = 5.0

# One command in so many fails, each time in the next of these ways; and one in so many is there twice.
FAILING = 10
FAILURES = {
    "failed": "ITR_InsufficientFunds(12.5000000000)",
    "expired": "expired before completion",
    "withdrawn": "withdrawn by the sender",
}
TWICE = 25


@dataclass
class Stuck:
    since: float
    until: float | None = None


class Sender:
    def __init__(self, facts: Facts, party: str, interval: float, *, some_fail: bool) -> None:
        self.party = party
        self._some_fail = some_fail
        self._facts = facts
        self._interval = interval
        # Not all senders at the same moment.
        self._first = facts.began - HISTORY_SECONDS + chance(party, "first") * interval
        self._stuck: list[Stuck] = []

    @property
    def is_stuck(self) -> bool:
        return bool(self._stuck) and self._stuck[-1].until is None

    def stick(self) -> None:
        if not self.is_stuck:
            self._stuck.append(Stuck(self._facts.now()))

    def unstick(self) -> None:
        if self.is_stuck:
            self._stuck[-1].until = self._facts.now()

    @property
    def next_nonce(self) -> int:
        """The first nonce whose command has not ended. One ends before the next, so all before it have."""
        now = self._facts.now()
        created = int((now - self._first) // self._interval) + 1
        return bisect_left(range(created), True, key=lambda nonce: not self._has_ended(nonce, now))

    def counter(self, dialect: Dialect) -> dict[str, Any]:
        nonce = self.next_nonce
        payload = {"dso": self._facts.dso_party, "sender": self.party, "nextNonce": str(nonce)}
        identity = contract_id(self._facts.seed, self.party, "counter", nonce)
        return contract_json(COUNTER, identity, payload, self._ended_at(nonce - 1) or self._first, dialect)

    def commands(self, nonce: int, dialect: Dialect) -> dict[str, Any]:
        """The commands of a nonce by their contract ids: none if it was not used yet, or too long ago."""
        created_at = self._created_at(nonce)
        if nonce < 0 or not created_at <= self._facts.now() < created_at + SHOWN_SECONDS:
            return {}
        return dict(self._commands(nonce, dialect))

    def _commands(self, nonce: int, dialect: Dialect) -> Iterator[tuple[str, dict[str, Any]]]:
        for copy in range(1 + (self._some_fail and nonce % TWICE == 0)):
            identity = contract_id(self._facts.seed, self.party, nonce, copy)
            contract = contract_json(COMMAND, identity, self._payload(nonce), self._created_at(nonce), dialect)
            yield identity, {"contract": contract, "status": self._status(nonce, copy)}

    def _payload(self, nonce: int) -> dict[str, Any]:
        # An expired command of a stuck sender stays nevertheless, as nobody takes it away.
        expires_at = self._due_at(nonce) if self._failure(nonce) == "expired" else self._created_at(nonce) + DAY
        return {
            "dso": self._facts.dso_party,
            "sender": self.party,
            "receiver": f"receiver::1220{fingerprint(self.party, 'receiver')}",
            "delegate": f"delegate::1220{fingerprint(self.party, 'delegate')}",
            "amount": f"{1 + nonce % 500}.0000000000",
            "expiresAt": moment(expires_at),
            "nonce": str(nonce),
            "description": None if nonce % 2 else f"Überweisung № {nonce}",
        }

    def _status(self, nonce: int, copy: int) -> dict[str, str]:
        failure = self._failure(nonce)
        if not self._has_ended(nonce, self._facts.now()):
            return {"status": "created"}
        if copy:
            reason = f"ITR_Other(the nonce {nonce} is smaller than current counter {nonce + 1})"
            return {"status": "failed", "failure_kind": "failed", "reason": reason}
        if failure is None:
            return {"status": "sent"}
        return {"status": "failed", "failure_kind": failure, "reason": FAILURES[failure]}

    def _failure(self, nonce: int) -> str | None:
        turn, place = divmod(nonce, FAILING)
        return list(FAILURES)[turn % len(FAILURES)] if self._some_fail and place == FAILING // 2 else None

    def _created_at(self, nonce: int) -> float:
        return self._first + nonce * self._interval

    def _due_at(self, nonce: int) -> float:
        """When a command ends if nothing is in its way: before the next is created."""
        longest = min(LONGEST_SECONDS, self._interval)
        return self._created_at(nonce) + (0.2 + 0.7 * chance(self.party, nonce)) * longest

    def _has_ended(self, nonce: int, now: float) -> bool:
        ended_at = self._ended_at(nonce)
        return ended_at is not None and ended_at <= now

    def _ended_at(self, nonce: int) -> float | None:
        """When a command ends: never, as long as its sender is stuck."""
        ended_at = self._due_at(nonce)
        for stuck in self._stuck:
            if stuck.since <= ended_at:
                if stuck.until is None:
                    return None
                ended_at = max(ended_at, stuck.until + CATCHING_UP_SECONDS)
        return ended_at


def senders(facts: Facts, interval: float, *, some_fail: bool = True) -> dict[str, Sender]:
    parties = [f"{name}::1220{fingerprint(facts.seed, 'sender', name)}" for name in ("alice", "bob")]
    return {party: Sender(facts, party, interval, some_fail=some_fail) for party in parties}
