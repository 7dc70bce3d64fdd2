"""A scan that only sends: pages of a snapshot as fast as they can be taken, in a process of its own.

`python -m benchmarks.node PAGES THINK_SECONDS`; it prints its port. Who asks for templates gets an eighth of the pages,
who accepts gzip gets that.
"""

import asyncio
import gzip
import json
import re
import sys
from functools import cache
from hashlib import sha256

CONTRACTS = 1_000
TAKEN = "2026-11-21T00:00:00Z"


def digits(number: int, of: str) -> str:
    """Return what no compression makes shorter by more than half."""
    return sha256(f"{of} {number}".encode()).hexdigest()


def party(number: int) -> str:
    return f"user-{number}::1220{digits(number, 'party')}"


@cache
def contracts() -> str:
    """Return a page's contracts, about 1.1 MB of them, as real ones are: nested, of a dozen templates."""
    history = [{"round": {"number": str(number)}, "rate": "0.0000190259"} for number in range(8)]
    return json.dumps(
        [
            {
                "created_in_update_id": f"1220{digits(number, 'update')}",
                "contract_id": f"00{digits(number, 'contract')}ca121220{digits(number, 'suffix')}",
                "template_id": f"{'f' * 64}:Splice.Amulet:Amulet{number % 12}",
                "package_name": "splice-amulet",
                "create_arguments": {"owner": party(number), "provider": party(-number), "history": history},
                "created_at": f"2026-11-20T23:{number % 60:02}:01.523456Z",
                "signatories": ["DSO::1220" + "d" * 64],
                "observers": [],
            }
            for number in range(CONTRACTS)
        ]
    )


def page(number: int, last: int) -> bytes:
    token = f'"{number}"' if number < last else "null"
    head = f'{{"next_page_token": {token}, "record_time": "{TAKEN}", "migration_id": 4, "created_events": '
    return f"{head}{contracts()}}}".encode()


@cache
def packed(number: int, last: int) -> bytes:
    return gzip.compress(page(number, last), 6)


def answer(request: bytes, body: bytes, pages: int) -> tuple[bytes, bytes]:
    """Return more header lines and the body."""
    if b"state/acs" not in request.split(b" ")[1] or b"timestamp" in request.split(b" ")[1]:
        return b"", json.dumps({"migration_id": 4, "record_time": TAKEN}).encode()
    after = re.search(rb'"after":\s*"(\d+)"', body)
    number, last = int(after[1]) + 1 if after else 1, pages // 8 if b"templates" in body else pages
    if b"gzip" in request:
        return b"Content-Encoding: gzip\r\n", packed(number, last)
    return b"", page(number, last)


async def main(pages: int, think: float) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"(?i)content-length: (\d+)", request)
                body = await reader.readexactly(int(length[1])) if length else b""
                headers, said = answer(request, body, pages)
                await asyncio.sleep(think)
                ok = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                writer.writelines([ok, headers, b"Content-Length: %d\r\n\r\n" % len(said), said])
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    contracts()
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
