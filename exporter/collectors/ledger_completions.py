"""What became of the commands that some parties submitted, and what they cost, followed from run to run and counted.

Asks: GET /v2/state/ledger-end and /v2/state/latest-pruned-offsets; POST /v2/commands/completions, or where that is off,
as it is by default from Canton 3.6 on, /v2/commands/command-completions.
Needs: a token that may read as the parties, and is the user's whose commands are counted or names it.
Costs: some ten small requests a run; the last waits until two seconds are silent. It begins at the ledger's end; what
happens while the exporter does not run is not counted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Annotated, Any

import msgspec
from pydantic import Field

from exporter.api.ledger import CheckpointValue
from exporter.api.stream_cursor import Position, check_order, follow, go_on
from exporter.collector import (
    Int64,
    Kind,
    Malformed,
    Memo,
    Metric,
    Name,
    Node,
    NotNegative,
    PartyId,
    RunOutput,
    Strict,
    Struct,
    Yields,
    collector,
    limits,
    seconds,
)

SOURCE = "POST /v2/commands/completions or /v2/commands/command-completions"
COMPLETIONS = Metric(
    "canton_ledger_completions_total",
    "Completed commands by user and gRPC status code; code 0 is an accepted command.",
    ("user", "code"),
    source=SOURCE,
)
REJECTED = Metric(
    "canton_ledger_completions_rejected_total",
    "Rejected commands by user and Canton error code.",
    ("user", "error"),
    source=SOURCE,
)
COST = Metric(
    "canton_ledger_completions_traffic_cost_bytes_total",
    "Traffic in bytes that the participant paid for commands, including rejected ones.",
    ("user",),
    source=SOURCE,
)

IDLE_SECONDS = 2.0
MOST_USERS = 1_000
"""Those past it are counted as one, called other; name a user to count only that one."""
MOST_ERRORS = 100
"""How many error codes there may be; beyond them each is `other`. Canton knows some hundreds, a ledger meets a few."""
ERROR = re.compile(r"([A-Z][A-Z0-9_]{0,62})\([0-9]{1,3},")
"""How a message begins: error code, category, and after a comma what to find it by in the node's log."""


class Options(Strict):
    parties: Annotated[list[PartyId], Field(min_length=1, max_length=1000)]
    """Whose commands to count."""
    user: str | None = Field(default=None, min_length=1)
    """Which user's commands; by default those of the token's user, from Canton 3.6 on those of all users."""


class Status(Struct):
    code: Int64 | None = None  # 0, accepted, may be left out
    message: str | None = None

    @property
    def error(self) -> str | None:
        """Return Canton's error code; None if the message gives none, as where the user may not see it."""
        found = ERROR.match(self.message or "")
        return found and found[1]


class Completion(Struct):
    offset: Int64
    user: Name | None = msgspec.field(name="userId", default=None)
    status: Status | None = None
    cost: NotNegative | None = msgspec.field(name="paidTrafficCost", default=None)


class CompletionValue(Struct):
    value: Completion


class Response(Struct):
    completion: CompletionValue | None = msgspec.field(name="Completion", default=None)
    checkpoint: CheckpointValue | None = msgspec.field(name="OffsetCheckpoint", default=None)


class Element(Struct):
    response: Response | None = msgspec.field(name="completionResponse", default=None)


COMPLETIONS_ROUTE, COMMAND_COMPLETIONS_ROUTE = ROUTES = (
    "/v2/commands/completions",
    "/v2/commands/command-completions",
)


class Totals:
    """The counters, on from where the last good run left them; by metric and label values."""

    def __init__(self, previous: RunOutput, user: str | None) -> None:
        begin = [(COMPLETIONS, (user, "0")), (REJECTED, (user, "other")), (COST, (user,))] if user else []
        self.counts: Counter[tuple[Metric, tuple[str, ...]]] = Counter(dict.fromkeys(begin, 0))
        self.counts.update({sample[:2]: int(sample.value) for sample in previous.samples})
        self._errors = {labels[1] for metric, labels in self.counts if metric is REJECTED}
        self._users = {labels[0] for _, labels in self.counts}
        self._user = user or ""

    def take(self, completions: Iterable[Completion]) -> None:
        for completion in completions:
            if not self._user or completion.user in (None, self._user):
                self._count(completion)

    def _count(self, completion: Completion) -> None:
        status, user = completion.status or Status(), self._known(completion.user or self._user)
        self.counts[(COMPLETIONS, (user, str(status.code or 0)))] += 1
        self.counts[(COST, (user,))] += completion.cost or 0
        if status.code:
            self.counts[(REJECTED, (user, self._bounded(status.error)))] += 1

    def _known(self, user: str) -> str:
        if user not in self._users and len(self._users) >= MOST_USERS:
            return "other"
        self._users.add(user)
        return user

    def _bounded(self, error: str | None) -> str:
        if error is None or (error not in self._errors and len(self._errors) >= MOST_ERRORS):
            return "other"
        self._errors.add(error)
        return error


POSITION = Memo[Position]()
ROUTE = Memo[str]()
"""Which of the two the node has."""


@collector(Kind.LEDGER, interval=seconds(15), timeout=seconds(12), options=Options)
async def ledger_completions(node: Node, options: Options, previous: RunOutput) -> Yields:
    start = await go_on(node, previous.memo(POSITION))
    if start.gap:
        node.news.append(f"completions may have been missed up to offset {start.position.offset}: {start.gap}")
    totals = Totals(previous, options.user)
    at_once, route = 1, previous.memo(ROUTE) or COMPLETIONS_ROUTE

    async def ask(operation: str, begin: int, query: Mapping[str, str]) -> tuple[Element, ...]:
        nonlocal route
        body: dict[str, Any] = {"parties": options.parties, "beginExclusive": begin}
        if operation == COMPLETIONS_ROUTE:  # the other returns those of all users
            body["userId"] = options.user or ""  # before 3.4.12 it may be empty, but not absent
        answer = await node.post(operation, tuple[Element, ...], body, query=query, most_bytes=limits.PAGE_BYTES)
        route = operation
        return answer

    async def read(position: Position, upto: int) -> int:
        # The stream has no end: an answer is over when it is full, or after a silence, which on a busy node does not
        # come before the request's own end. So it begins with small ones: what they held is counted by then.
        nonlocal at_once
        limit, at_once = min(at_once, position.limit), 2 * at_once
        query = {"limit": str(limit), "stream_idle_timeout_ms": str(round(IDLE_SECONDS * 1000))}
        routes = dict.fromkeys((route, *ROUTES))
        answer = await node.first(*(partial(ask, each, position.offset, query) for each in routes))
        if len(answer) > limit:
            raise Malformed(f"{SOURCE}: {len(answer)} completions, where {limit} were asked for")
        responses = [each.response for each in answer if each.response]
        completions = [each.completion.value for each in responses if each.completion]
        check_order((each.offset for each in completions), position.offset, 2**63, SOURCE)
        totals.take(completions)
        checkpoints = (each.checkpoint.value.offset for each in responses if each.checkpoint)
        reached = max((position.offset, *(each.offset for each in completions), *checkpoints))
        if reached == position.offset and limit == len(answer) < position.limit:
            # A stream may begin with the checkpoint of where it begins, and nothing more fitted.
            return await read(position, upto)
        return reached

    position = await follow(node, start, read)
    yield POSITION.of(position)
    yield ROUTE.of(route)
    for (metric, labels), count in totals.counts.items():
        yield metric.sample(count, **dict(zip(metric.labels, labels, strict=True)))
