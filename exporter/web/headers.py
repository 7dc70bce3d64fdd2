"""The headers of every response, errors too."""

from aiohttp import web

SERVER = "canton-exporter"
"""aiohttp would send its version, and Python's."""
SECURITY = {
    "X-Content-Type-Options": "nosniff",
    # Pages show texts from nodes: even if an escape were forgotten, nothing of it may run.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
}


def add_headers(response: web.StreamResponse) -> None:
    response.headers["Server"] = SERVER
    for name, value in SECURITY.items():
        response.headers.setdefault(name, value)
