"""The operations of a ledger that tell who it is and which parties it knows."""

from collections.abc import Iterator
from typing import Any

from aiohttp import web

from exporter.simulator.facts import fingerprint
from exporter.simulator.http.canton_error import CantonError, error_of
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.request import LedgerOperation, page_size, page_token, read_page_token, read_query

MOST_PARTIES = 10_000
# Of so many parties without a name, one is hosted elsewhere.
REMOTE_EVERY = 3


class PartyOperations:
    """`count` parties: the DSO's, those that the participant's contracts are of, and others without a name."""

    def __init__(self, participant: Participant, count: int, *, is_admin: bool) -> None:
        self._participant = participant
        self._count = count
        self._is_admin = is_admin

    def operations(self) -> Iterator[LedgerOperation]:
        yield LedgerOperation("GET", "/v2/parties", self.parties)
        yield LedgerOperation("GET", "/v2/parties/participant-id", self.participant_id)

    async def participant_id(self, request: web.Request) -> Any:
        return {"participantId": self._participant.id}

    async def parties(self, request: web.Request) -> Any:
        size = page_size(read_query(request.query, "pageSize"), MOST_PARTIES)
        prefix = request.query.get("filter-party", "")
        [begin] = read_page_token(request.query.get("pageToken")) or [0]
        if not self._is_admin:
            raise redacted()
        page: list[dict[str, Any]] = []
        for number in range(begin, self._count):
            party, is_local = self.party(number)
            if not party.startswith(prefix):
                continue
            if len(page) == size:
                return {"partyDetails": page, "nextPageToken": page_token(number)}
            page.append(party_json(party, is_local))
        return {"partyDetails": page, "nextPageToken": ""}

    def party(self, number: int) -> tuple[str, bool]:
        """A party by its number, and whether it is local; they are numbered in the order of their names."""
        named = [(self._participant.world.dso_party, False), *((party, True) for party in self._participant.parties)]
        if number < len(named):
            return named[number]
        is_local = number % REMOTE_EVERY != 0
        namespace = self._participant.namespace if is_local else f"1220{fingerprint('elsewhere', number)}"
        return f"party-{number:07}::{namespace}", is_local


def redacted() -> CantonError:
    """The refusal of a token that is good, but not for this."""
    return error_of(403)


def party_json(party: str, is_local: bool) -> dict[str, Any]:
    return {
        "party": party,
        "isLocal": is_local,
        "localMetadata": {"resourceVersion": "0", "annotations": {}} if is_local else None,
        "identityProviderId": "",
    }
