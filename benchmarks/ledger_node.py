"""A participant that answers at once what the default collectors ask, in a process of its own.

`python -m benchmarks.ledger_node`; it prints its port. What it does not know it answers with 404.
"""

import asyncio
import json
from datetime import UTC, datetime

SYNCHRONIZER = "global-domain::1220dd"
PARTICIPANT = "participant::1220pp"


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def answers() -> dict[str, object]:
    """Return what is answered by path, as a ledger of 3.6 has it."""
    times = [{"synchronizerId": SYNCHRONIZER, "recordTime": now()}]
    vetted = {
        "packages": [{"packageId": "9f", "packageName": "splice-amulet", "packageVersion": "0.1.23"}],
        "participantId": PARTICIPANT,
        "synchronizerId": SYNCHRONIZER,
        "topologySerial": 1,
    }
    return {
        "/livez": None,
        "/readyz": None,
        "/v2/version": {"version": "3.6.1", "features": None},
        "/v2/state/ledger-end": {"offset": 184_201, "synchronizerTimes": times},
        "/v2/state/latest-pruned-offsets": {"participantPrunedUpToInclusive": 90_000},
        "/v2/state/connected-synchronizers": {
            "connectedSynchronizers": [{"synchronizerAlias": "global", "synchronizerId": SYNCHRONIZER}]
        },
        "/v2/parties/participant-id": {"participantId": PARTICIPANT},
        "/v2/packages": {"packageIds": ["9f"]},
        "/v2/package-vetting/list": {"vettedPackages": [vetted], "nextPageToken": ""},
    }


def response(status: str, content: object) -> bytes:
    body = b"" if content is None else json.dumps(content).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Node:
    """Keeps what it answers for a second, since the times in it must not grow old."""

    def __init__(self) -> None:
        self._made: dict[bytes, bytes] = {}
        self._until = 0.0

    def answer(self, path: bytes) -> bytes:
        clock = asyncio.get_running_loop().time()
        if clock >= self._until:
            self._made = {name.encode(): response("200 OK", said) for name, said in answers().items()}
            self._until = clock + 1
        return self._made.get(path) or response("404 Not Found", {"error": "The requested resource could not be found"})

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lower = head.lower()
                if (at := lower.find(b"content-length: ")) >= 0:
                    await reader.readexactly(int(lower[at + 16 :].split(b"\r\n")[0]))
                writer.write(self.answer(head.split(b" ", 2)[1].partition(b"?")[0]))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(Node().serve, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
