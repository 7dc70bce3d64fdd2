"""A scan: what a super validator lets everybody read."""

from collections.abc import Iterator

from aiohttp import web

from exporter.simulator.dialect import Dialect
from exporter.simulator.node import Operation
from exporter.simulator.splice import SpliceNode


class ScanNode(SpliceNode):
    kind = "scan"
    base = "/api/scan"

    def operations(self) -> Iterator[Operation]:
        yield from super().operations()
        if self.dialect is Dialect.DOCUMENT:
            yield Operation("GET", "/livez", self.livez, wants_token=False)
        yield Operation("GET", "/v0/feature-support", self.feature_support, wants_token=False)

    async def feature_support(self, request: web.Request) -> web.Response:
        if self.dialect is Dialect.DOCUMENT:
            return self.json({"dummy": True})
        if self.dialect is Dialect.V0_5:
            return self.json({"no_holding_fees_on_transfers": False})
        return self.json({"dummy": None})
