"""The endpoint by which a running network is told to misbehave, and what to decide."""

from collections.abc import Mapping

from aiohttp import web

from exporter.simulator.control.ledger import ledger_routes
from exporter.simulator.control.network import network_routes
from exporter.simulator.control.node import node_routes, show
from exporter.simulator.control.splice import splice_routes
from exporter.simulator.control.world import world_routes
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

    app = web.Application()
    app.router.add_get("/", show_all)
    app.router.add_routes(node_routes(find))
    app.router.add_routes(ledger_routes(find))
    app.router.add_routes(network_routes(world))
    app.router.add_routes(world_routes(world))
    app.router.add_routes(splice_routes(world))
    return app
