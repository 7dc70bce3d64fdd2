"""A Prometheus of the demo's own, which scrapes one exporter and evaluates rules for as long as it is wanted."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

PROGRAM = "prometheus"
END_SECONDS = 10.0
"""How long an orderly end may take."""


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
