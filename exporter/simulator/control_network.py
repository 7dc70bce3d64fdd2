"""What the control endpoint does to the time of the network: all of it halts, and goes on."""

from aiohttp import web

from exporter.simulator.facts import moment
from exporter.simulator.world import World


def network_routes(world: World) -> list[web.RouteDef]:
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
