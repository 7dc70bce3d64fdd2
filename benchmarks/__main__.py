"""Runs the benchmarks: `python -m benchmarks [--smoke] [--json FILE] [NAME ...]`."""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.counting import counting
from benchmarks.probing import probing
from benchmarks.rendering import rendering, scraping, stalling
from benchmarks.row import SMOKE, Row, Size, Wrong
from benchmarks.starting import starting
from benchmarks.targets import targets
from benchmarks.watches import watches
from exporter.cli.commands import raise_file_limit

BENCHMARKS: dict[str, Callable[[Size], Iterator[Row]]] = {
    each.__name__: each for each in (rendering, stalling, scraping, watches, probing, counting, starting, targets)
}


def main() -> int:
    """Print each row as soon as there is one; return 1 if the subject of any benchmark failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(BENCHMARKS)}")
    parser.add_argument("--smoke", action="store_true", help="measure little: it shows that they work, not figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    logging.getLogger("exporter").setLevel(logging.ERROR)
    raise_file_limit()
    rows, failures = run(arguments.names or list(BENCHMARKS), SMOKE if arguments.smoke else Size())
    if arguments.json:
        found = {"rows": [row._asdict() for row in rows], "failures": failures}
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if failures else 0


def run(names: list[str], size: Size) -> tuple[list[Row], dict[str, str]]:
    rows: list[Row] = []
    failures: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name}", file=sys.stderr, flush=True)
        started = time.monotonic()
        try:
            for row in BENCHMARKS[name](size):
                rows.append(row)
                print(row._replace(target="") if size is SMOKE else row, flush=True)
        except Wrong as error:
            failures[name] = str(error)
            print(f"{name} FAILED: {error}", flush=True)
        print(f"  {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return rows, failures


if __name__ == "__main__":
    sys.exit(main())
