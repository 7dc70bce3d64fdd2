"""What a scan tells of the past: how its synchronizer was set up, and an update by its hash."""

import re
from collections.abc import Iterator

from aiohttp import web

from exporter.simulator.node import Operation
from exporter.simulator.nodes.splice import SpliceNode, public
from exporter.simulator.nodes.splice_request import bad_request, not_found
from exporter.simulator.world.synchronizer_bootstrapping import bootstrapping

COMPACT, VERBOSE = "compact_json", "protobuf_json"


class HistoryOperations(SpliceNode):
    def operations(self) -> Iterator[Operation]:
        yield from super().operations()
        if self.dialect.tells_bootstrapping:
            path = "/v0/synchronizer-bootstrapping-transactions/{domain_id_prefix}"
            yield public("GET", path, self.bootstrapping)
        if self.dialect.finds_hashes:
            yield public("GET", "/v2/updates/hash/{hash}", self.update_by_hash)

    async def bootstrapping(self, request: web.Request) -> web.Response:
        prefix = request.match_info["domain_id_prefix"]
        if prefix != self.world.synchronizer_prefix:
            raise not_found(f"No synchronizer with the prefix {prefix} found")
        return self.json(bootstrapping(self.world))

    async def update_by_hash(self, request: web.Request) -> web.Response:
        name, parameter = request.match_info["hash"], self.dialect.encoding_parameter
        encoding = request.query.get(parameter, COMPACT)
        if encoding not in (COMPACT, VERBOSE):
            raise bad_request(
                f"The query parameter '{parameter}' was malformed: {encoding} is neither {COMPACT} nor {VERBOSE}"
            )
        if not re.fullmatch("([0-9a-fA-F]{2})+", name):
            raise bad_request(f"The hash {name} is no hex string")
        is_verbose = encoding == VERBOSE
        update = self.world.hashes.find(name.lower(), self.name, is_verbose=is_verbose, dialect=self.dialect)
        if update is None:
            raise not_found(f"Transaction with hash {name} not found")
        return self.json(update)
