"""What became of the commands that some parties submitted, followed from run to run and counted.

Asks: GET /v2/state/ledger-end and /v2/state/latest-pruned-offsets; POST /v2/commands/completions, or where that is off,
as it is by default from Canton 3.6 on, /v2/commands/command-completions.
Needs: a token that may read as the parties, and is the user's whose commands are counted or names it.
Costs: some ten small requests a run; the last waits until two seconds are silent. It begins at the ledger's end; what
happens while the exporter does not run is not counted.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import msgspec
from pydantic import Field

from exporter.answers import Int64, Struct
from exporter.api import Node
from exporter.collector import Note, Yielded, Yields, collector, seconds
from exporter.errors import Malformed, TooLarge
from exporter.following import Position, check_order, follow, go_on
from exporter.ledger import CheckpointValue
from exporter.metric import Metric
from exporter.scan import Name
from exporter.settings import Kind, PartyId, Strict

SOURCE = "POST /v2/commands/completions or /v2/commands/command-completions"
COMPLETIONS = Metric(
    "canton_ledger_completions_total",
    "Completions seen, by gRPC status code; 0 is a command that was accepted.",
    ("user", "code"),
    source=SOURCE,
)

IDLE_SECONDS = 2.0
MOST_SERIES = 10_000


class Options(Strict):
    parties: Annotated[list[PartyId], Field(min_length=1, max_length=1000)]
    """Whose commands to count."""
    user: str | None = Field(default=None, min_length=1)
    """Which user's commands; by default those of the token's user, from Canton 3.6 on those of all users."""


class Status(Struct):
    code: Int64 | None = None  # 0, accepted, may be left out


class Completion(Struct):
    offset: Int64
    user: Name | None = msgspec.field(name="userId", default=None)
    status: Status | None = None


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
POSITION = Note[Position]()
ROUTE = Note[str]()
"""Which of the two the node has."""


@collector(Kind.LEDGER, interval=seconds(15), timeout=seconds(12), options=Options)
async def ledger_completions(node: Node, options: Options, previous: Yielded) -> Yields:
    start = await go_on(node, previous.note(POSITION))
    if start.gap:
        node.news.append(f"completions may have been missed up to offset {start.position.offset}: {start.gap}")
    counts = Counter({(options.user, "0"): 0} if options.user else {})
    counts.update({(sample.labels[0], sample.labels[1]): int(sample.value) for sample in previous.of(COMPLETIONS)})

    at_once, route = 1, previous.note(ROUTE) or COMPLETIONS_ROUTE

    async def ask(asked: str, begin: int, query: Mapping[str, str]) -> tuple[Element, ...]:
        nonlocal route
        body: dict[str, Any] = {"parties": options.parties, "beginExclusive": begin}
        if options.user is not None and asked == COMPLETIONS_ROUTE:  # the other tells of all users
            body["userId"] = options.user
        answer = await node.post(asked, tuple[Element, ...], body, query=query)
        route = asked
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
        of_user = (each for each in completions if options.user is None or each.user in (None, options.user))
        for each in of_user:
            counts[(each.user or options.user or "", str((each.status and each.status.code) or 0))] += 1
        checkpoints = (each.checkpoint.value.offset for each in responses if each.checkpoint)
        reached = max((position.offset, *(each.offset for each in completions), *checkpoints))
        if reached == position.offset and limit == len(answer) < position.limit:
            # A stream may begin with the checkpoint of where it begins, and nothing more fitted.
            return await read(position, upto)
        return reached

    position = await follow(node, start, read)
    if len(counts) > MOST_SERIES:
        raise TooLarge(f"{SOURCE}: more than {MOST_SERIES} users and codes")
    yield POSITION.of(position)
    yield ROUTE.of(route)
    for (user, code), count in counts.items():
        yield COMPLETIONS.sample(count, user=user, code=code)
