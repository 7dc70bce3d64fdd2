"""What the control endpoint does to one ledger: a version no longer vetted, a ledger pruned, a participant rebuilt."""

from collections.abc import Callable
from typing import Any

from aiohttp import web

from exporter.simulator.control.request import read_json
from exporter.simulator.node import Node
from exporter.simulator.nodes.ledger import LedgerNode


def ledger_routes(find: Callable[[web.Request], Node]) -> list[web.RouteDef]:
    def find_ledger(request: web.Request) -> LedgerNode:
        node = find(request)
        if not isinstance(node, LedgerNode):
            raise web.HTTPBadRequest(text=f"Only a ledger can do this, and {node.name} is a {node.kind}.\n")
        return node

    async def take(request: web.Request) -> web.Response:
        return change_vetting(request, find_ledger(request).vetting.take)

    async def give_back(request: web.Request) -> web.Response:
        return change_vetting(request, find_ledger(request).vetting.give_back)

    async def prune(request: web.Request) -> web.Response:
        node = find_ledger(request)
        try:
            node.prune(read_offset(await read_json(request)))
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from error
        return show_range(node)

    async def reset(request: web.Request) -> web.Response:
        node = find_ledger(request)
        node.reset()
        return show_range(node)

    return [
        web.post("/nodes/{name}/prune", prune),
        web.post("/nodes/{name}/reset", reset),
        web.delete("/nodes/{name}/vetting/{package}/{version}", take),
        web.put("/nodes/{name}/vetting/{package}/{version}", give_back),
    ]


def change_vetting(request: web.Request, change: Callable[[str, str], None]) -> web.Response:
    package, version = request.match_info["package"], request.match_info["version"]
    try:
        change(package, version)
    except KeyError as error:
        raise web.HTTPNotFound(text=f"{error.args[0]}\n") from error
    return web.json_response({"package": package, "version": version, "is_vetted": request.method == "PUT"})


def read_offset(given: Any) -> int:
    offset = given.get("offset") if isinstance(given, dict) and len(given) == 1 else None
    if type(offset) is not int:
        raise ValueError('To prune takes a JSON object of "offset" (a whole number) and nothing else.')
    return offset


def show_range(node: LedgerNode) -> web.Response:
    """Between which offsets the ledger answers from now on."""
    return web.json_response({"pruned": node.participant.pruned(), "end": node.participant.end().offset})
