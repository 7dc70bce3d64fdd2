"""What scan and validator have in common: the operations that every Splice app has, and the form of their errors."""

from collections.abc import Iterator

from aiohttp import web

from exporter.simulator.node import BODILESS, Node, Operation

COMMIT_TIME = "2026-08-18T10:00:00Z"

PLAIN_ERRORS = {
    401: "The resource requires authentication, which was not supplied with the request",
    429: "Too Many Requests: the limit of this client is exceeded.",
}
ERRORS = {
    400: "The request is malformed.",
    403: "Authorization Failed for ledger-api-user",
    500: "An unexpected error occurred.",
    503: "The service is currently unavailable.",
}


class SpliceNode(Node):
    def operations(self) -> Iterator[Operation]:
        if self.dialect.is_network:
            yield Operation("GET", "/livez", self.livez, wants_token=False)
            yield Operation("GET", "/readyz", self.readyz, wants_token=False)
            yield Operation("GET", "/status", self.status, wants_token=False)
            yield Operation("GET", "/version", self.version, wants_token=False)

    async def livez(self, request: web.Request) -> web.Response:
        return web.Response()

    async def readyz(self, request: web.Request) -> web.Response:
        return web.Response()

    async def status(self, request: web.Request) -> web.Response:
        success = {
            "id": f"amulet::{self.kind}-app",
            "uptime": f"PT{int(self.world.now() - self.world.began)}S",
            "ports": {"admin": request.url.port},
            "extra": None,
            "active": True,
        }
        return self.json({"success": success})

    async def version(self, request: web.Request) -> web.Response:
        return self.json({"version": self.dialect.splice, "commit_ts": COMMIT_TIME})

    def refuse(self, status: int, path: str) -> web.Response:
        if status in PLAIN_ERRORS:
            headers = {"WWW-Authenticate": f'Bearer realm="{self.kind}"'} if status == 401 else None
            return web.Response(status=status, text=PLAIN_ERRORS[status], headers=headers)
        if status in BODILESS or (status == 503 and path in ("/livez", "/readyz")):
            return web.Response(status=status)
        missing = f"The requested resource could not be found: {self.base}{path}"
        return self.json({"error": missing if status == 404 else ERRORS.get(status, f"Status {status}.")}, status)
