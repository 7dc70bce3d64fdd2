"""What all requests to the control endpoint have in common: a JSON body, and times in seconds."""

import json
from typing import Any

from aiohttp import web

YEAR = 366 * 86_400


async def read_json(request: web.Request) -> Any:
    try:
        return json.loads(await request.read())
    except ValueError:
        return None  # which is nothing that anybody asks for, and refused with the same sentence


def is_seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= YEAR
