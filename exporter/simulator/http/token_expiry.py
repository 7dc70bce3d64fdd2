"""Until when a token is good, by its own word."""

import base64
import json
import math
from typing import Any


def expiry(token: str) -> float:
    """The `exp` of a JWT, in Unix time; what is no JWT, or does not say, is good for ever."""
    parts = token.split(".")
    if len(parts) != 3:
        return math.inf
    try:
        claims: Any = json.loads(base64.urlsafe_b64decode(parts[1] + "=="))
    except ValueError:
        return math.inf
    seconds: Any = claims.get("exp") if isinstance(claims, dict) else None
    return float(seconds) if type(seconds) in (int, float) else math.inf
