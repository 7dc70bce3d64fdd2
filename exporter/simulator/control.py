"""The endpoint by which a running network is told to misbehave."""

import json
import math
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from exporter.simulator.dialect import Dialect
from exporter.simulator.faults import read_fault, show_fault
from exporter.simulator.node import Node
from exporter.simulator.world import World

VOTE = 'A vote is a JSON object of "changes" (dotted paths to values), optionally "due_in" (seconds) and nothing else.'


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

    async def vote(request: web.Request) -> web.Response:
        try:
            changes, due_in = read_vote(await read_json(request))
            world.vote(changes, None if due_in is None else world.now() + due_in)
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from error
        return web.json_response(world.rules.contract(Dialect.V0_9))

    app = web.Application()
    app.router.add_get("/", show_all)
    app.router.add_put("/nodes/{name}/fault", set_fault)
    app.router.add_delete("/nodes/{name}/fault", clear_fault)
    app.router.add_post("/rules", vote)
    return app


async def read_json(request: web.Request) -> Any:
    try:
        return json.loads(await request.read())
    except ValueError:
        return None  # which is nothing that anybody asks for, and refused with the same sentence


def read_vote(given: Any) -> tuple[dict[str, Any], float | None]:
    changes = given.get("changes") if isinstance(given, dict) else None
    if not isinstance(changes, dict) or not given.keys() <= {"changes", "due_in"}:
        raise ValueError(VOTE)
    due_in = given.get("due_in")
    if due_in is not None and (type(due_in) not in (int, float) or not 0 < due_in < math.inf):
        raise ValueError(VOTE)
    return changes, due_in


def show(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "kind": node.kind,
        "dialect": node.dialect,
        "url": node.url,
        "listening": node.is_listening,
        "fault": None if node.fault is None else show_fault(node.fault),
    }
