"""A ledger: the JSON Ledger API of one participant."""

from collections import Counter
from collections.abc import Collection, Iterator

from aiohttp import web

from exporter.simulator.dialect import Dialect
from exporter.simulator.faults import Disconnected
from exporter.simulator.http import websocket
from exporter.simulator.http.canton_error import CantonError, error_of
from exporter.simulator.ledger.active_contracts import ActiveContractsOperations
from exporter.simulator.ledger.completions import CompletionOperations, completed
from exporter.simulator.ledger.contract_entries import ContractEntries
from exporter.simulator.ledger.packages import PackageOperations
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.ledger.parties import PartyOperations
from exporter.simulator.ledger.request import LedgerOperation
from exporter.simulator.ledger.transactions import USERS
from exporter.simulator.ledger.update_format import Shape
from exporter.simulator.ledger.update_totals import Totals, totals
from exporter.simulator.ledger.updates import UpdateOperations
from exporter.simulator.ledger.updates_json import times_json
from exporter.simulator.ledger.vetting import Vetting
from exporter.simulator.node import BODILESS, Node, Operation
from exporter.simulator.world.world import World

# How long an idle stream waits for the next check for a checkpoint.
IDLE_STREAM_SECONDS = 60.0


class LedgerNode(Node):
    kind = "ledger"

    def __init__(
        self,
        name: str,
        world: World,
        dialect: Dialect,
        port: int,
        token: str | None,
        *,
        left_synchronizer: bool,
        parties: int,
        is_admin: bool,
        list_limit: int,
        active_contracts: int,
    ) -> None:
        super().__init__(name, world, dialect, port, token)
        self.participant = Participant(world, name, left_synchronizer=left_synchronizer, knows=self.knows)
        self.vetting = Vetting(world, self.participant.id, left_synchronizer=left_synchronizer)
        self.parties = PartyOperations(self.participant, parties, is_admin=is_admin)
        self._list_limit = list_limit
        self._token_user = USERS[0] if token else None
        self._active = ContractEntries(self.participant, active_contracts)

    def operations(self) -> Iterator[Operation]:
        if self.dialect.is_network:
            yield Operation("GET", "/livez", self.livez, wants_token=False)
            yield Operation("GET", "/readyz", self.readyz, wants_token=False)
        yield Operation("GET", "/v2/version", self.version, wants_token=False)
        yield Operation("GET", "/v2/state/ledger-end", self.ledger_end)
        yield Operation("GET", "/v2/state/latest-pruned-offsets", self.latest_pruned_offsets)
        yield Operation("GET", "/v2/state/connected-synchronizers", self.connected_synchronizers)
        if self.dialect.is_network:  # the document has none of the websockets
            yield Operation("GET", "/v2/state/active-contracts", self.active_contracts_stream)
        yield from map(self._operation, self._ledger_operations())

    def _ledger_operations(self) -> Iterator[LedgerOperation]:
        """Those that are asked with more than a path, in the dialect of now."""
        participant, dialect, limit = self.participant, self.dialect, self._list_limit
        yield from PackageOperations(self.vetting, dialect).operations()
        yield from self.parties.operations()
        yield from UpdateOperations(participant, dialect, limit).operations()
        yield from CompletionOperations(participant, dialect, limit, self._token_user).operations()
        yield from self._active_contracts().operations()

    def _active_contracts(self) -> ActiveContractsOperations:
        return ActiveContractsOperations(self.participant, self._active, self.dialect, self._list_limit)

    async def active_contracts_stream(self, request: web.Request) -> web.StreamResponse:
        return await websocket.converse(request, self._active_contracts().stream, self.dialect.write)

    def token_of(self, request: web.Request) -> str | None:
        return super().token_of(request) or websocket.token_of(request)

    def _operation(self, ledger_operation: LedgerOperation) -> Operation:
        async def answer(request: web.Request) -> web.Response:
            try:
                return self.json(await ledger_operation.answer(request))
            except CantonError as error:
                return self.json(error.body(), error.status)

        return Operation(ledger_operation.method, ledger_operation.path, answer)

    def negotiates(self, path: str) -> bool:
        return path != "/readyz" or self.dialect.documents_health

    async def livez(self, request: web.Request) -> web.Response:
        return web.Response()

    async def readyz(self, request: web.Request) -> web.Response:
        return web.Response(text="[+] ledger ok (SERVING)\nreadyz check passed\n")

    async def version(self, request: web.Request) -> web.Response:
        if not self.dialect.is_network:
            return self.json({"version": self.dialect.canton})
        delay = self.world.checkpoint_interval + IDLE_STREAM_SECONDS
        seconds, nanos = int(delay), round(delay % 1 * 1e9)
        longest = {"seconds": seconds, "nanos": nanos, "unknownFields": {"fields": {}}}
        features = {
            "experimental": {"staticTime": {"supported": False}, "commandInspectionService": {"supported": True}},
            "userManagement": {"supported": True, "maxRightsPerUser": 1000, "maxUsersPageSize": 1000},
            "partyManagement": {"maxPartiesPageSize": 10000},
            "offsetCheckpoint": {"maxOffsetCheckpointEmissionDelay": longest},
            "packageFeature": {"maxVettedPackagesPageSize": 100},
        }
        return self.json({"version": self.dialect.canton, "features": features})

    async def ledger_end(self, request: web.Request) -> web.Response:
        end = self.participant.end()
        if not self.dialect.ledger_end_has_times:
            return self.json({"offset": end.offset})
        times = times_json(self.participant.synchronizer_times(end))
        return self.json({"offset": end.offset, "synchronizerTimes": times})

    async def latest_pruned_offsets(self, request: web.Request) -> web.Response:
        pruned = self.participant.pruned()
        return self.json({"participantPrunedUpToInclusive": pruned, "allDivulgedContractsPrunedUpToInclusive": 0})

    async def connected_synchronizers(self, request: web.Request) -> web.Response:
        if isinstance(self.fault, Disconnected):
            return self.json({"connectedSynchronizers": []})
        connected = {
            "synchronizerAlias": "global",
            "synchronizerId": self.world.synchronizer,
            "permission": "PARTICIPANT_PERMISSION_UNSPECIFIED",
        }
        return self.json({"connectedSynchronizers": [connected]})

    async def restart(self) -> None:
        """Stop and start, with the cached checkpoint lost."""
        await self.stop()
        self.participant.restart()
        await self.start()

    def prune(self, offset: int) -> None:
        """Forget what is up to an offset; a ValueError if the ledger does not reach that far."""
        self.participant.prune(offset)

    def reset(self) -> None:
        """Be a rebuilt participant, whose offsets begin low again."""
        self.participant.reset()

    def totals(
        self, after: int, until: int, shape: Shape = Shape.ACS_DELTA, parties: Collection[str] | None = None
    ) -> Totals:
        """What there is between two offsets, the first of which is excluded: for some parties, or for all."""
        return totals(self.participant, after, until, shape, parties)

    def completed(
        self, after: int, until: int, user: str | None = None, parties: Collection[str] | None = None
    ) -> Counter[int]:
        """How many commands ended between two offsets, by their gRPC codes."""
        return completed(self.participant, after, until, user, parties)

    def active(self, offset: int, parties: Collection[str] | None = None) -> Counter[tuple[str, str]]:
        """How many contracts there are at an offset, by the kind of their entries and by template."""
        return self._active.totals(offset, parties)

    def refuse(self, status: int, path: str) -> web.Response:
        if status in BODILESS or (status == 503 and path == "/livez"):
            return web.Response(status=status)
        if status == 503 and path == "/readyz":
            return web.Response(status=status, text="[-] ledger failed (NOT_SERVING)\nreadyz check failed")
        if status == 404:
            return web.Response(status=status, text="The requested resource could not be found.")
        if status == 429:
            return web.Response(status=status, text="Too Many Requests: the limit of this client is exceeded.")
        return self.json(error_of(status).body(), status)
