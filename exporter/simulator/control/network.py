"""What the control endpoint does to the time of the network: all of it halts and goes on, or only its snapshots do."""

import math
from typing import Any

from aiohttp import web

from exporter.simulator.control.request import YEAR, read_json
from exporter.simulator.facts import brief_moment, moment
from exporter.simulator.world.world import World

STOP = (
    'To stop snapshots takes no body, or a JSON object of "for" (seconds since when they have stopped, up to a year) '
    "and nothing else."
)


def network_routes(world: World) -> list[web.RouteDef]:
    return [*halt_routes(world), *snapshot_routes(world)]


def halt_routes(world: World) -> list[web.RouteDef]:
    def shown() -> web.Response:
        return web.json_response({"halted": world.is_halted, "network_time": moment(world.now())})

    async def show(request: web.Request) -> web.Response:
        return shown()

    async def halt(request: web.Request) -> web.Response:
        world.halt()
        return shown()

    async def resume(request: web.Request) -> web.Response:
        world.resume()
        return shown()

    return [
        web.get("/network/halted", show),
        web.put("/network/halted", halt),
        web.delete("/network/halted", resume),
    ]


def snapshot_routes(world: World) -> list[web.RouteDef]:
    def shown() -> web.Response:
        newest = world.snapshots.newest(world.migration.id, math.inf)
        time = None if newest is None else brief_moment(newest.time)
        return web.json_response({"stopped": world.snapshots.are_stopped, "newest": time})

    async def show(request: web.Request) -> web.Response:
        return shown()

    async def stop(request: web.Request) -> web.Response:
        try:
            world.stop_snapshots(read_seconds_ago(await read_json(request) if request.can_read_body else {}))
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from error
        return shown()

    async def resume(request: web.Request) -> web.Response:
        world.resume_snapshots()
        return shown()

    return [
        web.get("/snapshots/stopped", show),
        web.put("/snapshots/stopped", stop),
        web.delete("/snapshots/stopped", resume),
    ]


def read_seconds_ago(given: Any) -> float:
    seconds: Any = given.get("for", 0) if isinstance(given, dict) and given.keys() <= {"for"} else None
    if type(seconds) not in (int, float) or not 0 <= seconds <= YEAR:
        raise ValueError(STOP)
    return float(seconds)
