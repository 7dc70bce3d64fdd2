"""What scan and validator have in common: the operations that every Splice app has, and the form of their errors."""

from collections.abc import Iterator

from aiohttp import web

from exporter.simulator.node import BODILESS, Answer, Node, Operation
from exporter.simulator.nodes.splice_request import bad_request, not_found, query_text, query_whole

MOST_NAMES = 1_000
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
            yield public("GET", "/livez", self.livez)
            yield public("GET", "/readyz", self.readyz)
            yield public("GET", "/status", self.status)
            yield public("GET", "/version", self.version)

    async def livez(self, request: web.Request) -> web.Response:
        return web.Response()

    async def readyz(self, request: web.Request) -> web.Response:
        return web.Response()

    async def status(self, request: web.Request) -> web.Response:
        success = {
            "id": f"amulet::{self.kind}-app",
            "uptime": f"PT{int(self.world.wall() - self.world.began)}S",
            "ports": {"admin": request.url.port},
            "extra": None,
            "active": True,
        }
        return self.json({"success": success})

    async def version(self, request: web.Request) -> web.Response:
        return self.json({"version": self.dialect.splice, "commit_ts": COMMIT_TIME})

    async def dso_party_id(self, request: web.Request) -> web.Response:
        return self.json({"dso_party_id": self.world.dso_party})

    async def transfer_command_status(self, request: web.Request) -> web.Response:
        party, nonce = query_text(request.query, "sender"), query_whole(request.query, "nonce")
        sender = self.world.senders.get(party)
        commands = sender.commands(nonce, self.dialect) if sender is not None else {}
        if not commands:
            raise not_found(f"No transfer commands of sender {party} with nonce {nonce} in the last 24h")
        return self.json({"transfer_commands_by_contract_id": commands})

    async def transfer_command_counter(self, request: web.Request) -> web.Response:
        sender = self.world.senders.get(request.match_info["party"])
        if sender is None:
            raise not_found(f"No transfer command counter found for party {request.match_info['party']}")
        counter = {"contract": sender.counter(self.dialect), "domain_id": self.world.synchronizer}
        return self.json({"transfer_command_counter": counter})

    async def ans_entry(self, request: web.Request) -> web.Response:
        party = request.match_info["party"]
        entry = self.world.names.entry(party)
        if entry is None:
            raise not_found(f"No ANS entry found for party: {party}")
        return self.json({"entry": entry})

    def not_acceptable(self, media_type: str) -> web.Response:
        return web.Response(
            status=406, text=f"Resource representation is only available with these types:\n{media_type}"
        )

    async def ans_names(self, request: web.Request) -> web.Response:
        """The names that begin in a way; a list goes no further than its page."""
        most = query_whole(request.query, "page_size")
        if not 1 <= most <= MOST_NAMES:
            told = f"Exceeded limit maximum ({most} > {MOST_NAMES})." if most > 0 else "Limit must be at least 1."
            raise bad_request(told)
        return self.json({"entries": self.world.names.entries(request.query.get("name_prefix", ""), most)})

    def refuse(self, status: int, path: str) -> web.Response:
        if status in PLAIN_ERRORS:
            headers = {"WWW-Authenticate": f'Bearer realm="{self.kind}"'} if status == 401 else None
            return web.Response(status=status, text=PLAIN_ERRORS[status], headers=headers)
        if status in BODILESS or (status == 503 and path in ("/livez", "/readyz")):
            return web.Response(status=status)
        missing = f"The requested resource could not be found: {self.base}{path}"
        return self.json({"error": missing if status == 404 else ERRORS.get(status, f"Status {status}.")}, status)


def public(method: str, path: str, answer: Answer) -> Operation:
    return Operation(method, path, answer, wants_token=False)
