"""What the control endpoint does to what scans and validators tell of the network: its next upgrade, and names."""

from typing import Any

from aiohttp import web

from exporter.simulator.control.request import is_seconds, read_json
from exporter.simulator.world.ans_names import Name
from exporter.simulator.world.world import World

UPGRADE = (
    'An upgrade is a JSON object of "upgrade_in" (seconds, up to a year), optionally "freeze_in" (seconds before that) '
    'and "serial" (an integer), and nothing else.'
)

EXPIRY = 'An expiry is a JSON object of "expires_in" (seconds, up to a year) and nothing else.'


def splice_routes(world: World) -> list[web.RouteDef]:
    return [*upgrade_routes(world), *name_routes(world)]


def upgrade_routes(world: World) -> list[web.RouteDef]:
    def shown() -> web.Response:
        return web.json_response({"serial": world.upgrades.serial, "lsu": world.upgrades.json()})

    async def show_upgrade(request: web.Request) -> web.Response:
        return shown()

    async def announce(request: web.Request) -> web.Response:
        try:
            upgrade_in, freeze_in, serial = read_upgrade(await read_json(request))
            now = world.now()
            world.announce_upgrade(now + upgrade_in, None if freeze_in is None else now + freeze_in, serial)
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from error
        return shown()

    async def withdraw(request: web.Request) -> web.Response:
        world.withdraw_upgrade()
        return shown()

    return [
        web.get("/upgrade", show_upgrade),
        web.put("/upgrade", announce),
        web.delete("/upgrade", withdraw),
    ]


def name_routes(world: World) -> list[web.RouteDef]:
    def find(request: web.Request) -> Name:
        try:
            return world.names.name(request.match_info["name"])
        except KeyError as error:
            raise web.HTTPNotFound(text=f"{error.args[0]}\n") from error

    async def expire(request: web.Request) -> web.Response:
        name, given = find(request), await read_json(request)
        if not isinstance(given, dict) or given.keys() != {"expires_in"} or not is_seconds(given["expires_in"]):
            raise web.HTTPBadRequest(text=f"{EXPIRY}\n")
        world.expire_name(name.label, given["expires_in"])
        return web.json_response(world.names.show(name))

    async def renew(request: web.Request) -> web.Response:
        name = find(request)
        world.renew_name(name.label)
        return web.json_response(world.names.show(name))

    return [
        web.put("/names/{name}/expiry", expire),
        web.delete("/names/{name}/expiry", renew),
    ]


def read_upgrade(given: Any) -> tuple[float, float | None, int | None]:
    if not isinstance(given, dict) or not {"upgrade_in"} <= given.keys() <= {"upgrade_in", "freeze_in", "serial"}:
        raise ValueError(UPGRADE)
    upgrade_in, freeze_in, serial = given["upgrade_in"], given.get("freeze_in"), given.get("serial")
    if not is_seconds(upgrade_in) or not (freeze_in is None or is_seconds(freeze_in)):
        raise ValueError(UPGRADE)
    if serial is not None and type(serial) is not int:
        raise ValueError(UPGRADE)
    return upgrade_in, freeze_in, serial
