"""A Prometheus of the demo's own, which scrapes one exporter and evaluates rules for as long as it is wanted."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from exporter.cli.healthcheck import status_of

PROGRAM = "prometheus"
END_SECONDS = 10.0
"""How long an orderly end may take."""
START_SECONDS, TRY_SECONDS, PAUSE = 10.0, 1.0, 0.1
"""How long to wait for its first answer, for the answer of one try, and between two tries."""


def is_here() -> bool:
    """Whether this machine has a Prometheus."""
    return shutil.which(PROGRAM) is not None


@asynccontextmanager
async def running(log: Path, *command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a command whose output goes to a file, and end it."""
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
            try:
                async with asyncio.timeout(END_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


@asynccontextmanager
async def prometheus(
    folder: Path, page: str, rules: Path, *, listen: str, every: str = "5s", lookback: str = "5m"
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run Prometheus on `listen`; it scrapes the exporter's `page` so often. All paths are absolute."""
    exporter = urlsplit(page)
    job = {
        "job_name": "canton",
        "scheme": exporter.scheme,
        "metrics_path": f"{exporter.path.rstrip('/')}/metrics",
        "static_configs": [{"targets": [exporter.netloc]}],
    }
    configuration = {
        "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
        "rule_files": [str(rules)],
        "scrape_configs": [job],
    }
    file = folder / "prometheus.yml"
    file.write_text(json.dumps(configuration))  # which is YAML too
    command = [
        PROGRAM,
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={listen}",
        f"--query.lookback-delta={lookback}",
    ]
    async with running(folder / "prometheus.log", *command) as process:
        yield process


async def alerts_page(process: asyncio.subprocess.Process, listen: str) -> str | None:
    """Return where its alerts are in a browser, None if it has not begun to answer in time.

    Debian's package has no new pages, only the classic ones below another path.
    """
    for _ in range(round(START_SECONDS / PAUSE)):
        with suppress(OSError, HTTPException):
            status = await asyncio.to_thread(status_of, HTTPConnection(listen, timeout=TRY_SECONDS), "/alerts")
            return f"http://{listen}{'/classic' if status == 404 else ''}/alerts"
        if process.returncode is not None:
            break
        await asyncio.sleep(PAUSE)
    return None
