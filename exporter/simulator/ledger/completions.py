"""The operation of a ledger that tells what became of commands, and the truth about them."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import moment
from exporter.simulator.http.canton_error import CantonError
from exporter.simulator.ledger.indexed_events import Event, Sort
from exporter.simulator.ledger.limits import check_length, check_not_negative, check_range, read_limits
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.request import LedgerOperation, disabled, read_body, read_field, read_strings, require
from exporter.simulator.ledger.stream import Stream
from exporter.simulator.ledger.transactions import Submission
from exporter.simulator.ledger.updates_json import checkpoint_json, cost_json

# What becomes of a command that is rejected: a gRPC code, and what is said with it.
REJECTIONS = (
    (10, "LOCAL_VERDICT_LOCKED_CONTRACTS(2,77aa): Rejected transaction is referring to locked contracts"),
    (5, "CONTRACT_NOT_FOUND(11,77aa): Contract could not be found"),
    (10, "MEDIATOR_SAYS_TX_TIMED_OUT(2,77aa): Rejected transaction due to a participant determined timeout"),
    (9, "DAML_FAILURE(9,77aa): The quantity is not enough"),
)
DEDUPLICATION = {"DeduplicationDuration": {"value": {"seconds": 30, "nanos": 0, "unknownFields": {"fields": {}}}}}


@dataclass(frozen=True)
class CompletionsRequest:
    parties: frozenset[str]
    user: str | None  # of all users without one
    begin: int


class CompletionOperations:
    """`token_user` is whose completions are told to who does not say; without one, it is to be said."""

    def __init__(self, participant: Participant, dialect: Dialect, list_limit: int, token_user: str | None) -> None:
        self._participant = participant
        self._dialect = dialect
        self._list_limit = list_limit
        self._token_user = token_user

    def operations(self) -> Iterator[LedgerOperation]:
        answer = disabled if self._dialect.legacy_is_disabled else self.completions
        yield LedgerOperation("POST", "/v2/commands/completions", answer)
        if self._dialect.has_command_completions:
            yield LedgerOperation("POST", "/v2/commands/command-completions", self.command_completions)

    async def completions(self, request: web.Request) -> Any:
        return await self._stream(request, self._read(await request.read()))

    async def command_completions(self, request: web.Request) -> Any:
        """The same since Canton 3.5, of all users."""
        body = read_body(await request.read())
        parties = read_strings(body, "parties") or self._participant.parties
        begin = read_field(body, "beginExclusive", int) or 0
        check_not_negative(begin)
        return await self._stream(request, CompletionsRequest(frozenset(parties), None, begin))

    async def _stream(self, request: web.Request, asked: CompletionsRequest) -> Any:
        rows, idle_seconds = read_limits(request.query, self._list_limit)
        check_range(self._participant, asked.begin, None)

        def show(event: Event) -> dict[str, Any] | None:
            submission = self._participant.contents.submission(event)
            if submission is None or asked.user not in (None, submission.user) or submission.party not in asked.parties:
                return None
            completion = completion_json(self._participant, event, submission, self._dialect)
            return {"completionResponse": {"Completion": {"value": completion}}}

        def show_checkpoint(event: Event) -> dict[str, Any]:
            return {"completionResponse": checkpoint_json(event, self._participant)}

        early = self._dialect.checks_early_for_a_checkpoint
        stream = Stream(self._participant, asked.begin, show, show_checkpoint, checks_early=early)
        found = await stream.until_idle(rows, idle_seconds)
        check_length(len(found), self._list_limit)
        return found

    def _read(self, content: bytes) -> CompletionsRequest:
        body = read_body(content)
        require(read_field(body, "parties", list), "parties")
        parties = read_strings(body, "parties")
        user = read_field(body, "userId", str) or self._token_user
        begin = read_field(body, "beginExclusive", int) or 0
        for name, given in (("user_id", user), ("parties", parties)):
            if not given:
                raise CantonError(400, "MISSING_FIELD", f"Missing mandatory field: {name}", category=8, grpc=3)
        check_not_negative(begin)
        return CompletionsRequest(frozenset(parties), user or "", begin)


def status_of(participant: Participant, event: Event) -> tuple[int, str]:
    if event.sort is not Sort.REJECTION:
        return 0, ""
    return REJECTIONS[participant.contents.number(event, "rejection", len(REJECTIONS))]


def completion_json(participant: Participant, event: Event, submission: Submission, dialect: Dialect) -> dict[str, Any]:
    code, message = status_of(participant, event)
    contents = participant.contents
    return {
        "commandId": submission.command_id,
        "status": {"code": code, "message": message, "details": []},
        "updateId": None if code else contents.update_id(event),
        "userId": submission.user,
        "actAs": [submission.party],
        "submissionId": f"submission-{event.offset}",
        "deduplicationPeriod": DEDUPLICATION,
        "traceContext": None,
        "offset": event.offset,
        "synchronizerTime": {
            "synchronizerId": participant.world.synchronizer,
            "recordTime": moment(event.record_time),
        },
        **cost_json(submission.cost, dialect),
    }


def completed(
    participant: Participant, after: int, until: int, user: str | None, parties: Collection[str] | None
) -> Counter[int]:
    """How many commands ended with which code, of a user or of all, and of some parties or of all."""
    codes: Counter[int] = Counter()
    for event in participant.between(after, until):
        submission = participant.contents.submission(event)
        if submission is None or user not in (None, submission.user):
            continue
        if parties is None or submission.party in parties:
            codes[status_of(participant, event)[0]] += 1
    return codes
