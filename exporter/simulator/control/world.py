"""What the control endpoint does to the world that all nodes share: votes, and senders that are stuck."""

from typing import Any

from aiohttp import web

from exporter.simulator.control.request import is_seconds, read_json
from exporter.simulator.dialect import Dialect
from exporter.simulator.world.transfers import Sender
from exporter.simulator.world.world import World

VOTE = (
    'A vote is a JSON object of "changes" (dotted paths to values), optionally "due_in" (seconds, up to a year) '
    "and nothing else."
)


def world_routes(world: World) -> list[web.RouteDef]:
    def find(request: web.Request) -> Sender:
        try:
            return world.sender(request.match_info["name"])
        except KeyError as error:
            raise web.HTTPNotFound(text=f"{error.args[0]}\n") from error

    async def vote(request: web.Request) -> web.Response:
        try:
            changes, due_in = read_vote(await read_json(request))
            world.vote(changes, None if due_in is None else world.now() + due_in)
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from error
        return web.json_response(world.rules.contract(Dialect.V0_9))

    async def show_senders(request: web.Request) -> web.Response:
        return web.json_response({"senders": [show(sender) for sender in world.senders.values()]})

    async def stick(request: web.Request) -> web.Response:
        sender = find(request)
        sender.stick()
        return web.json_response(show(sender))

    async def unstick(request: web.Request) -> web.Response:
        sender = find(request)
        sender.unstick()
        return web.json_response(show(sender))

    return [
        web.post("/rules", vote),
        web.get("/transfers", show_senders),
        web.put("/transfers/{name}/stuck", stick),
        web.delete("/transfers/{name}/stuck", unstick),
    ]


def read_vote(given: Any) -> tuple[dict[str, Any], float | None]:
    changes = given.get("changes") if isinstance(given, dict) else None
    if not isinstance(changes, dict) or not given.keys() <= {"changes", "due_in"}:
        raise ValueError(VOTE)
    due_in = given.get("due_in")
    if due_in is not None and not is_seconds(due_in):
        raise ValueError(VOTE)
    return changes, due_in


def show(sender: Sender) -> dict[str, Any]:
    return {"party": sender.party, "next_nonce": sender.next_nonce, "stuck": sender.is_stuck}
