"""How transfer commands fare: how many of a sender's are in which status, how old the oldest is, how many failed.

Asks: GET /v0/scan-proxy/transfer-command/status of a validator or /v0/transfer-command/status of a scan; to follow a
sender also GET .../transfer-command-counter/{party}.
Needs: of a validator a token for its audience, without rights; of a scan nothing.
Costs: a small request a run for each command, twelve for each sender that is followed. One
that sends more than five commands between two runs may have one fail unseen.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Annotated, NamedTuple, Self

import msgspec
from pydantic import Field, model_validator

from exporter.api.scan import prefix
from exporter.collector import (
    Kind,
    Memo,
    Metric,
    Moment,
    Name,
    Node,
    PartyId,
    RunOutput,
    Sample,
    Strict,
    Struct,
    Whole,
    Yields,
    collector,
    one_line,
    seconds,
)

SOURCE = "GET /v0/scan-proxy/transfer-command/status or /v0/transfer-command/status"
COMMANDS = Metric(
    "canton_transfer_commands",
    "Number of transfer commands of the last 24 h in this status; the label nonce is empty if all commands of a sender "
    "are followed.",
    ("sender", "nonce", "status"),
    source=SOURCE,
)
OLDEST = Metric(
    "canton_transfer_command_oldest_timestamp_seconds",
    "Unix time in seconds when the oldest transfer command in this status was created; absent if there is none.",
    ("sender", "nonce", "status"),
    source=SOURCE,
)
FAILED = Metric(
    "canton_transfer_commands_failed_total",
    "Transfer commands that failed since the exporter started, by kind of failure.",
    ("sender", "failure_kind"),
    source=SOURCE,
)
FAILED_REASON = Metric(
    "canton_transfer_commands_failed_reason_total",
    "Transfer commands that failed since the exporter started, by reason; other if the reason is not known.",
    ("sender", "reason"),
    source=SOURCE,
)

FAILURE_KINDS = ("failed", "expired", "withdrawn")
STATUSES = ("created", "sent", *FAILURE_KINDS, "unknown")
REASONS = {
    "ITR_InsufficientFunds": "insufficient_funds",
    "ITR_UnknownSynchronizer": "unknown_synchronizer",
    "ITR_InsufficientTopupAmount": "insufficient_topup_amount",
    "No TransferPreapproval": "no_transfer_preapproval",
    "smaller than current counter": "nonce_used",
    "maximum number of inputs": "too_many_inputs",
    "maximum number of outputs": "too_many_outputs",
}
"""What is in the text of a failure where the network's contracts give one of their own reasons, and our word for it."""
REASON_WORDS = (*REASONS.values(), "expired", "withdrawn", "other")
LONGEST_REASON = 1_000
MOST_NEWS = 5
"""How many failures of one run are logged each by itself."""
AROUND = 5
"""How far below and above a sender's next nonce to look: commands under way lie at or above it."""
REMEMBERED_SECONDS = 25 * 3600.0
"""For how long a failure is known again; a node forgets a command after 24 hours."""
MOST_REMEMBERED = 10_000
MOST_COMMANDS = 1_000
"""Of one nonce; a node gives at most a hundred."""


class Followed(Strict):
    sender: PartyId
    """The sender's party id."""
    nonce: int | None = Field(default=None, ge=0, lt=2**63)
    """Of which command; without it the sender is followed, from command to command."""


class Options(Strict):
    commands: list[Followed] = Field(min_length=1)
    """Whose commands to watch: `{sender, nonce}` for one command, `{sender}` to follow all of a sender's."""

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.commands)) < len(self.commands):
            raise ValueError("has a command twice")
        return self


class Contract(Struct):
    created_at: Moment | None = None


class Status(Struct):
    status: str | None = None
    failure_kind: str | None = None
    reason: str | None = None


class Command(Struct):
    contract: Contract | None = None
    status: Status | None = None


class Commands(Struct):
    by_contract_id: Annotated[dict[Name, Command], msgspec.Meta(max_length=MOST_COMMANDS)] = msgspec.field(
        name="transfer_commands_by_contract_id"
    )


class Failure(NamedTuple):
    sender: str
    nonce: int
    kind: str
    reason: str
    text: str
    """The node's reason, in one line."""


class Payload(Struct):
    next_nonce: Whole = msgspec.field(name="nextNonce")


class CounterContract(Struct):
    payload: Payload


class WithState(Struct):
    contract: CounterContract


class CommandCounter(Struct):
    counter: WithState = msgspec.field(name="transfer_command_counter")


FAILURES = Memo[dict[str, float]]()
"""When each failed command was last seen, by contract id."""


@collector(Kind.VALIDATOR, Kind.SCAN, interval=seconds(60), timeout=seconds(30), options=Options)
async def transfer_commands(node: Node, options: Options, previous: RunOutput) -> Yields:
    known = previous.memo(FAILURES)
    failures: dict[str, Failure] = {}
    for followed in options.commands:
        sender, nonce = followed.sender, followed.nonce
        nonces = await around_next(node, sender) if nonce is None else [nonce]
        answers = await node.for_each(nonces, partial(ask, node, sender))
        commands = [command for answer in answers.values() for command in answer.values()]
        counts = Counter(map(status_of, commands))
        oldest = oldest_of(commands)
        for status in STATUSES:
            labels = {"sender": sender, "nonce": "" if nonce is None else str(nonce), "status": status}
            yield COMMANDS.sample(counts[status], **labels)
            if status in oldest:
                yield OLDEST.sample(oldest[status], **labels)
        for each, answer in answers.items():
            failures |= {id_: found for id_, command in answer.items() if (found := failure_of(sender, each, command))}

    newly = [failure for id_, failure in failures.items() if known is not None and id_ not in known]
    senders = [followed.sender for followed in options.commands]
    for sample in count_on(FAILED, previous, product(senders, FAILURE_KINDS), ((f.sender, f.kind) for f in newly)):
        yield sample
    by_reason = ((failure.sender, failure.reason) for failure in newly)
    for sample in count_on(FAILED_REASON, previous, product(senders, REASON_WORDS), by_reason):
        yield sample
    node.news += describe_failures(newly)
    yield FAILURES.of(remember(known or {}, failures, node.now()))


async def around_next(node: Node, sender: str) -> Iterable[int]:
    """Return the nonces around the sender's next one; a sender without a counter begins at 0."""
    route = f"{prefix(node)}/transfer-command-counter/{{party}}"
    found = await node.find(route, CommandCounter, party=sender)
    next_nonce = int(found.counter.contract.payload.next_nonce) if found else 0
    return range(max(0, next_nonce - AROUND), next_nonce + AROUND + 1)


async def ask(node: Node, sender: str, nonce: int) -> Mapping[str, Command]:
    """Return a sender's commands of a nonce by contract id; empty if the node answers that it has none."""
    route = f"{prefix(node)}/transfer-command/status"
    query = {"sender": sender, "nonce": str(nonce)}
    found = await node.find(route, Commands, query=query)
    return found.by_contract_id if found else {}


def status_of(command: Command) -> str:
    status = command.status.status if command.status else None
    return kind_of(command) or (status if status in ("created", "sent") else "unknown")


def kind_of(command: Command) -> str | None:
    """Return how a command failed, None if it did not."""
    if command.status is None or command.status.status != "failed":
        return None
    kind = command.status.failure_kind or "failed"
    return kind if kind in FAILURE_KINDS else "unknown"


def failure_of(sender: str, nonce: int, command: Command) -> Failure | None:
    kind = kind_of(command)
    if kind is None or command.status is None:
        return None
    text = (command.status.reason or "")[:LONGEST_REASON]
    known = next((word for found, word in REASONS.items() if found in text), "other")
    return Failure(sender, nonce, kind, kind if kind in REASON_WORDS else known, one_line(text))


def count_on(
    metric: Metric, previous: RunOutput, begin: Iterable[tuple[str, str]], newly: Iterable[tuple[str, str]]
) -> Iterator[Sample]:
    """Give a counter by sender and one more label, on from the last run; what it may count begins at 0."""
    totals = Counter(dict.fromkeys(begin, 0))
    totals.update({(sample.labels[0], sample.labels[1]): int(sample.value) for sample in previous.of(metric)})
    totals.update(newly)
    for labels, total in totals.items():
        yield metric.sample(total, **dict(zip(metric.labels, labels, strict=True)))


def describe_failures(newly: Collection[Failure]) -> Iterator[str]:
    """Give a line for each of the first failures, and one with the number of all others."""
    for failure in list(newly)[:MOST_NEWS]:
        yield f"command {failure.nonce} of {failure.sender} has failed ({failure.kind}): {failure.text or 'no reason'}"
    if len(newly) > MOST_NEWS:
        yield f"{len(newly) - MOST_NEWS} more commands have failed"


def oldest_of(commands: Iterable[Command]) -> dict[str, float]:
    """Return when the oldest command in each status was created, in Unix seconds."""
    oldest: dict[str, float] = {}
    for command in commands:
        if command.contract and command.contract.created_at:
            created, status = command.contract.created_at.timestamp(), status_of(command)
            oldest[status] = min(created, oldest.get(status, created))
    return oldest


def remember(known: Mapping[str, float], failures: Collection[str], now: float) -> dict[str, float]:
    """Return when each failure was last seen: all that are there, and the newest of those that a node hides now."""
    seen = {**known, **dict.fromkeys(failures, now)}
    kept = sorted((item for item in seen.items() if now - item[1] < REMEMBERED_SECONDS), key=lambda item: item[1])
    return dict(kept[-max(MOST_REMEMBERED, len(failures)) :])
