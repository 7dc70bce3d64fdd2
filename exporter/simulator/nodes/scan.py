"""A scan: what a super validator lets everybody read."""

from collections.abc import Iterator

from aiohttp import web
from aiohttp.typedefs import Handler

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import brief_moment, moment
from exporter.simulator.http.rate_limit import RateLimit
from exporter.simulator.ledger.participant import Participant
from exporter.simulator.node import Answer, Operation
from exporter.simulator.nodes.scan_acs import AcsPages
from exporter.simulator.nodes.scan_acs_request import read_request
from exporter.simulator.nodes.scan_history import HistoryOperations
from exporter.simulator.nodes.scan_network import NetworkOperations
from exporter.simulator.nodes.scan_rewards import RewardOperations
from exporter.simulator.nodes.splice import public
from exporter.simulator.nodes.splice_request import (
    INT64,
    not_found,
    query_text,
    query_whole,
    read_body,
    read_field,
    read_time,
    read_whole,
    require,
)
from exporter.simulator.world.world import World


class ScanNode(NetworkOperations, RewardOperations, HistoryOperations):
    kind = "scan"
    base = "/api/scan"

    def __init__(
        self, name: str, world: World, dialect: Dialect, port: int, token: str | None, *, most_per_second: float | None
    ) -> None:
        super().__init__(name, world, dialect, port, token)
        self._acs = AcsPages(world)
        self._participant = Participant(world, name, knows=self.knows)
        self._limit = None if most_per_second is None else RateLimit(world.wall, most_per_second)

    def operations(self) -> Iterator[Operation]:
        yield from super().operations()
        if self.dialect is Dialect.DOCUMENT:
            yield public("GET", "/livez", self.livez)
        else:
            yield public("GET", "/v0/state/acs/snapshot-timestamp", self.snapshot_timestamp)
            yield public("POST", "/v0/backfilling/migration-info", self.migration_info)
            yield public("GET", "/v0/transfer-command/status", self.transfer_command_status)
            yield public("GET", "/v0/transfer-command-counter/{party}", self.transfer_command_counter)
        yield public("GET", "/v0/feature-support", self.feature_support)
        if self.dialect.names_last_migration:
            yield public("GET", "/v0/migrations/last", self.last_migration)
        if self.dialect.tells_the_newest_record_time:
            yield public("GET", "/v0/events/latest-record-time", self.newest_record_time)
        yield public("POST", f"/v0/{self.dialect.rules.replace('_', '-')}", self.rules)
        for version in self.dialect.acs_versions:
            yield public("POST", f"/v{version}/state/acs", self.acs(version))

    def _application(self) -> web.Application:
        app = super()._application()
        app.middlewares.insert(0, self._limited)
        return app

    @web.middleware
    async def _limited(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse whoever asks too much, whatever it asks: health checks count too."""
        if self._limit is not None and not self._limit.allows(request.remote or ""):
            return self.refuse(429, self._path(request))
        return await handler(request)

    async def feature_support(self, request: web.Request) -> web.Response:
        if self.dialect is Dialect.DOCUMENT:
            return self.json({"dummy": True})
        if self.dialect.is_canton_3_4:
            return self.json({"no_holding_fees_on_transfers": False})
        return self.json({"dummy": None})

    def acs(self, version: int) -> Answer:
        async def answer(request: web.Request) -> web.Response:
            asked = read_request(await request.read(), version, self.dialect)
            return self.json(await self._acs.page(asked, version, self.dialect))

        return answer

    async def snapshot_timestamp(self, request: web.Request) -> web.Response:
        """The newest snapshot before a time, or at it, whatever the parameter is called."""
        before, migration_id = query_text(request.query, "before"), query_whole(request.query, "migration_id")
        snapshot = self.world.snapshots.newest(migration_id, read_time(before, "before"))
        if snapshot is None:
            raise not_found(f"No snapshots found before {before}")
        return self.json({"record_time": brief_moment(snapshot.time)})

    async def last_migration(self, request: web.Request) -> web.Response:
        return self.json({"migration_id": self.world.migration.id})

    async def newest_record_time(self, request: web.Request) -> web.Response:
        return self.json({"record_time": moment(self._participant.end().record_time)})

    async def migration_info(self, request: web.Request) -> web.Response:
        asked = require(read_whole(read_body(await request.read()), "migration_id", INT64), "migration_id")
        migration = self.world.migrations.get(asked)
        if migration is None:
            raise not_found(f"No data for migration {asked}")
        newest = self._participant.end().record_time if migration.ended is None else migration.ended
        times = {
            "synchronizer_id": self.world.synchronizer,
            "min": moment(migration.began),
            "max": moment(newest),
        }
        info = {
            "previous_migration_id": migration.previous,
            "record_time_range": [times],
            "last_import_update_id": None,
            "complete": True,
            "import_updates_complete": True,
        }
        return self.json(info)

    async def rules(self, request: web.Request) -> web.Response:
        """The rules, unless the caller has the contract already; of the domain it says, nothing depends on that."""
        name, body = self.dialect.rules, read_body(await request.read())
        read_field(body, f"cached_{name}_domain_id", str)
        is_known = read_field(body, f"cached_{name}_contract_id", str) == self.world.rules.contract_id
        contract = None if is_known else self.world.rules.contract(self.dialect)
        return self.json({f"{name}_update": {"contract": contract, "domain_id": self.world.synchronizer}})
