"""What generated pages have in common: the notice at their top, and tables."""

from collections.abc import Iterable, Sequence

NOTICE = "<!-- Generated from the code by `make docs`; change it there. -->\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
