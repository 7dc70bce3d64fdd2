"""The endpoint by which a running network is told to misbehave, and what to decide."""

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from exporter.simulator.control.ledger import ledger_routes
from exporter.simulator.control.network import network_routes
from exporter.simulator.control.splice import splice_routes
from exporter.simulator.control.world import read_json, world_routes
from exporter.simulator.dialect import Dialect
from exporter.simulator.faults import read_fault, show_fault
from exporter.simulator.node import Node
from exporter.simulator.world.world import World


def control_application(world: World, nodes: Mapping[str, Node]) -> web.Application:
    def find(request: web.Request) -> Node:
        name = request.match_info["name"]
        if name not in nodes:
            raise web.HTTPNotFound(text=f"There is no node {name!r}, only {', '.join(nodes)}.\n")
        return nodes[name]

    async def show_all(request: web.Request) -> web.Response:
        return web.json_response({"nodes": [show(node) for node in nodes.values()]})

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

    app = web.Application()
    app.router.add_get("/", show_all)
    app.router.add_put("/nodes/{name}/fault", set_fault)
    app.router.add_delete("/nodes/{name}/fault", clear_fault)
    app.router.add_put("/nodes/{name}/dialect", upgrade)
    app.router.add_routes(ledger_routes(find))
    app.router.add_routes(network_routes(world))
    app.router.add_routes(world_routes(world))
    app.router.add_routes(splice_routes(world))
    return app


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
