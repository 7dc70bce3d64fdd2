"""Packages the Helm chart into dist/, the same bytes for the same files: whoever has the clone can check a package."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import helm_python as helm

from tools.chart import CHART

DIST = CHART.parent.parent / "dist"


def package(chart: Path, folder: Path, seconds: int) -> Path:
    """Package a chart into a folder, every file as of one time, in seconds of Unix; return the package."""
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / chart.name
        shutil.copytree(chart, copy)
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (seconds, seconds))
        return Path(helm.package(copy, destination=folder))


def last_change() -> int:
    """Return when the chart was last changed, as its builder says or else the last commit."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    git = ["git", "-C", str(CHART), "log", "-1", "--format=%ct", "--", "."]
    return int(said or subprocess.run(git, capture_output=True, text=True, check=True).stdout)  # noqa: S603


def main() -> int:
    DIST.mkdir(exist_ok=True)
    made = package(CHART, DIST, last_change())
    print(f"{made.relative_to(DIST.parent)} {helm.digest(made)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
