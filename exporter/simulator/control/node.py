"""What the control endpoint does to a node of any kind: a fault set or cleared, another release."""

from collections.abc import Callable
from typing import Any

from aiohttp import web

from exporter.simulator.control.request import read_json
from exporter.simulator.dialect import Dialect
from exporter.simulator.faults import read_fault, show_fault
from exporter.simulator.node import Node


def node_routes(find: Callable[[web.Request], Node]) -> list[web.RouteDef]:
    async def set_fault(request: web.Request) -> web.Response:
        node = find(request)
        try:
            await node.set_fault(read_fault(await read_json(request)))
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from error
        return web.json_response(show(node))

    async def clear_fault(request: web.Request) -> web.Response:
        node = find(request)
        await node.clear_fault()
        return web.json_response(show(node))

    async def upgrade(request: web.Request) -> web.Response:
        node = find(request)
        try:
            dialect = read_dialect(await read_json(request))
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from error
        await node.upgrade(dialect)
        return web.json_response(show(node))

    return [
        web.put("/nodes/{name}/fault", set_fault),
        web.delete("/nodes/{name}/fault", clear_fault),
        web.put("/nodes/{name}/dialect", upgrade),
    ]


def read_dialect(given: Any) -> Dialect:
    dialect = given.get("dialect") if isinstance(given, dict) and len(given) == 1 else None
    if dialect not in list(Dialect):
        known = ", ".join(Dialect)
        raise ValueError(f'An upgrade takes a JSON object of "dialect" (one of {known}) and nothing else.')
    return Dialect(dialect)


def show(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "kind": node.kind,
        "dialect": node.dialect,
        "url": node.url,
        "listening": node.is_listening,
        "fault": None if node.fault is None else show_fault(node.fault),
    }
