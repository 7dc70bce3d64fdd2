"""Whose password is right. Hashing is slow by intent, so guesses wait for it in a fair queue, and right ones do not."""

import asyncio
import hmac
import secrets
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

import bcrypt
from pydantic import SecretStr

MOST_WAITING = 200
"""How many passwords may wait to be hashed. It is less than half of the connections that there may be."""
MOST_OF_ADDRESS = 100
"""How many of them from one address: as many as are hashed in some seconds, as all may come through one proxy."""
HASHED_BYTES = 72
"""bcrypt never looked at more; the Python package has them cut off by its caller."""


class TooManyGuesses(Exception):
    """Too many passwords wait to be hashed."""


class Guess(NamedTuple):
    """A password that waits, and the hash that it is to have."""

    password: bytes
    expected: bytes
    is_right: asyncio.Future[bool]


class Users:
    """The users and their hashes.

    Once a user has logged in, no guess of that user's password is hashed any more: a digest decides.
    """

    def __init__(self) -> None:
        self._hashes: dict[bytes, bytes] = {}
        self._secret = secrets.token_bytes(32)
        self._right: dict[bytes, bytes] = {}
        """Each user's right password, once known, as a digest that only this process can make."""
        self._queue = FairQueue()

    def replace(self, hashes: Mapping[str, SecretStr]) -> None:
        changed = {name.encode(): text.get_secret_value().encode() for name, text in hashes.items()}
        if changed != self._hashes:
            self._hashes = changed
            self._right.clear()

    def knows(self, name: bytes, password: bytes) -> bool:
        """Return whether a password was right before."""
        return hmac.compare_digest(self._right.get(name, b""), self._digest(name, password))

    async def admit(self, name: bytes, password: bytes, address: str | None) -> bool:
        """Return whether a password is right. Raises TooManyGuesses."""
        if self.knows(name, password):
            return True
        expected = self._hashes.get(name)
        # An unknown name must cost what a known one does: it is treated as somebody's, always the same one's.
        names = [*self._hashes]
        owner = names[int.from_bytes(self._digest(name, b"")) % len(names)] if expected is None else name
        if owner in self._right:
            return False
        right = await self._queue.check(password[:HASHED_BYTES], self._hashes[owner], address)
        if not right or expected is None or self._hashes.get(name) != expected:  # the users may have changed meanwhile
            return False
        self._right[name] = self._digest(name, password)
        return True

    def close(self) -> None:
        self._queue.close()

    def _digest(self, name: bytes, password: bytes) -> bytes:
        return blake2b(name + b":" + password[:HASHED_BYTES], key=self._secret).digest()


class FairQueue:
    """Hashes one password at a time in a thread of its own, of each address in turn."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "passwords")
        self._is_busy = False
        self._waiting: dict[str, deque[Guess]] = {}
        """By address, the next one first."""

    async def check(self, password: bytes, expected: bytes, address: str | None) -> bool:
        """Return whether a password has a hash, when its turn has come. Raises TooManyGuesses."""
        group = group_of(address)
        if len(self._waiting.get(group, ())) >= MOST_OF_ADDRESS:
            raise TooManyGuesses
        if sum(map(len, self._waiting.values())) >= MOST_WAITING:
            self._make_room(group)
        guess = Guess(password, expected, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(group, deque()).append(guess)
        self._go_on()
        try:
            return await guess.is_right
        except asyncio.CancelledError:  # the client went away
            with suppress(KeyError, ValueError):
                self._waiting[group].remove(guess)
            raise

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _make_room(self, group: str) -> None:
        """Turn away the last guess of the address that has the most, unless that is the newcomer's."""
        fullest = max(self._waiting, key=lambda each: len(self._waiting[each]))
        if len(self._waiting[fullest]) <= len(self._waiting.get(group, ())) + 1:
            raise TooManyGuesses
        last = self._waiting[fullest].pop()
        if not last.is_right.done():
            last.is_right.set_exception(TooManyGuesses())

    def _go_on(self) -> None:
        while self._waiting and not self._is_busy:
            group = next(iter(self._waiting))
            guesses = self._waiting.pop(group)
            if not guesses:
                continue
            guess = guesses.popleft()
            if guesses:
                self._waiting[group] = guesses  # behind the other addresses
            if guess.is_right.done():  # the client went away
                continue
            self._is_busy = True
            hashing = asyncio.get_running_loop().run_in_executor(
                self._thread, bcrypt.checkpw, guess.password, guess.expected
            )
            hashing.add_done_callback(partial(self._take, guess))

    def _take(self, guess: Guess, hashing: asyncio.Future[bool]) -> None:
        self._is_busy = False
        if hashing.cancelled():  # at the end
            guess.is_right.cancel()
            return
        error = hashing.exception()
        if not guess.is_right.done():
            if error:
                guess.is_right.set_exception(error)
            else:
                guess.is_right.set_result(hashing.result())
        self._go_on()


def group_of(address: str | None) -> str:
    """Return what counts as one address: of IPv6 the network, as every machine has 2^64 addresses in it."""
    try:
        ip = ip_address(address or "")
    except ValueError:
        return ""
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is None:
        return ip.packed[:8].hex()
    return str(ip)
