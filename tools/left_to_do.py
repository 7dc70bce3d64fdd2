"""Lists what is left to do of a collector that was just started: each mark, and which commands come then."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
MARK = "TODO(new collector)"
"""Stands in each place that a skeleton writes, until the real thing does."""
WRITTEN = ("exporter", "tests", "tools", "dashboards/source")
"""The folders with what people write of a collector, beside the changelog."""
NEXT = """
Then:
  make docs
  .venv/bin/python -m pytest -q -n auto {tests} tests/test_every_collector.py tests/shapes \\
    tests/test_conventions.py tests/test_coverage.py tests/test_dashboards.py
"""


def left_to_do() -> Iterator[str]:
    """Give each line with a mark, as `FILE:LINE: what to do`."""
    paths = [path for folder in WRITTEN for path in sorted((ROOT / folder).rglob("*.py"))]
    for path in [*paths, ROOT / "CHANGELOG.md"]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            _, mark, what = line.partition(f"{MARK}: ")
            if mark:
                what = what.rstrip('",)')  # the end of a string
                yield f"{path.relative_to(ROOT)}:{number}: {what}"


def main() -> None:
    lines = [*left_to_do()]
    tests = sorted({line.partition(":")[0] for line in lines if line.startswith("tests/collectors/")})
    print("\n".join(lines) or "Nothing is left to do of a new collector.")
    if lines:
        print(NEXT.format(tests=" ".join(tests)), end="")


if __name__ == "__main__":
    main()
