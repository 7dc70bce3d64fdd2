"""CPU of a request, against a probe of Debian's blackbox_exporter of the same node, in the same minute."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

from benchmarks.processes import cpu_seconds, exporter, fetch, listening, running
from benchmarks.row import Row, Size, Wrong

BLACKBOX = "prometheus-blackbox-exporter"
PORT, BLACKBOX_PORT = 10467, 10468
TARGETS = 50
MODULES = {"modules": {"http": {"prober": "http", "timeout": "5s"}}}


def probing(size: Size) -> Iterator[Row]:
    """Both are asked to look at the node as often, one after the other: by /probe, over one connection."""
    with listening("benchmarks.ledger_node") as url, tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "exporter.yaml"
        off = {name: {"enabled": False} for name in ("ledger_offsets", "ledger_info")}
        node = {"kind": "ledger", "url": url, "collectors": {"health": {"interval": "1h"}, **off}}
        unlimited = {"rate": 1e6, "burst": 10**6}
        config.write_text(json.dumps({"budget": unlimited, "targets": {f"n{i}": node for i in range(TARGETS)}}))
        with running(exporter(config, PORT), f"http://127.0.0.1:{PORT}/-/ready") as process:
            before = requests_of(PORT)
            paths = [f"/probe?target=n{number % TARGETS}&collector=health" for number in range(size.probes)]
            mine = cpu_of(process.pid, PORT, paths) / (requests_of(PORT) - before)
        yield Row("CPU of a request, asked for by /probe", mine * 1000, "ms")
        if shutil.which(BLACKBOX) is None:
            raise Wrong(f"there is nothing to compare with: install Debian's {BLACKBOX}")
        modules = Path(folder) / "blackbox.yml"
        modules.write_text(json.dumps(MODULES))
        listen = f"127.0.0.1:{BLACKBOX_PORT}"
        command = [BLACKBOX, f"--config.file={modules}", f"--web.listen-address={listen}", "--log.level=error"]
        with running(command, f"http://{listen}/metrics") as process:
            paths = [f"/probe?module=http&target={quote(f'{url}/livez')}"] * size.probes
            theirs = cpu_of(process.pid, BLACKBOX_PORT, paths) / size.probes
        yield Row("  against a probe of blackbox_exporter", mine / theirs, "", "<= 0.6", f"{theirs * 1000:.2f} ms")


def cpu_of(pid: int, port: int, paths: list[str]) -> float:
    """Return the CPU seconds that a process takes to answer these, each of which has to succeed."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    before = cpu_seconds(pid)
    for path in paths:
        connection.request("GET", path)
        answer = connection.getresponse().read()
        if b"\nprobe_success 1" not in answer:
            raise Wrong(f"{path} of port {port} does not succeed: {answer[-300:].decode(errors='replace')}")
    connection.close()
    return cpu_seconds(pid) - before


def requests_of(port: int) -> float:
    """Return how many requests the exporter has sent."""
    lines = fetch(f"http://127.0.0.1:{port}/metrics").decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("canton_http_requests_total{"))
