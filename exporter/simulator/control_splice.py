"""What the control endpoint does to what scans and validators tell of the network: an upgrade that is announced."""

from typing import Any

from aiohttp import web

from exporter.simulator.control_world import YEAR, read_json
from exporter.simulator.world import World

UPGRADE = (
    'An upgrade is a JSON object of "upgrade_in" (seconds, up to a year), optionally "freeze_in" (seconds before that) '
    'and "serial" (an integer), and nothing else.'
)


def splice_routes(world: World) -> list[web.RouteDef]:
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


def read_upgrade(given: Any) -> tuple[float, float | None, int | None]:
    if not isinstance(given, dict) or not {"upgrade_in"} <= given.keys() <= {"upgrade_in", "freeze_in", "serial"}:
        raise ValueError(UPGRADE)
    upgrade_in, freeze_in, serial = given["upgrade_in"], given.get("freeze_in"), given.get("serial")
    if not is_seconds(upgrade_in) or not (freeze_in is None or is_seconds(freeze_in)):
        raise ValueError(UPGRADE)
    if serial is not None and type(serial) is not int:
        raise ValueError(UPGRADE)
    return upgrade_in, freeze_in, serial


def is_seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= YEAR
