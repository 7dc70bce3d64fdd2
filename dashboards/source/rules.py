"""Fills the template of the rules: with the defaults for the file to load, or with times divided for a rehearsal."""

import re
from collections.abc import Mapping
from pathlib import Path

from dashboards.source.thresholds import OFF_BY_DEFAULT, THRESHOLDS, Unit

TEMPLATE = Path(__file__).parent / "rules.template.yaml"
NOTICE = "# Generated from source/rules.template.yaml by `make docs`; change it there.\n"

ALERT = re.compile(r"^ +- alert: (\w+)$", re.MULTILINE)
TOKEN = re.compile(r"@(\w+)@")
# Where a rule says a duration: its `for`, a range, a subquery's step, an offset.
DURATION = re.compile(r"((?:\bfor: |\binterval: |\[|:|offset ))(\d+)([smhd])\b")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def rules(values: Mapping[str, int | float | str] | None = None, *, scale: float = 1, switched_on: bool = False) -> str:
    """Return the rules as YAML. Every duration and threshold in seconds is divided by `scale`.

    Alerts that are off by default are left out unless `switched_on`.
    """
    given = {name: each.default for name, each in THRESHOLDS.items()} | dict(values or {})
    _, start, body = TEMPLATE.read_text().partition("groups:\n")
    kept = "\n\n".join(block for block in body.split("\n\n") if switched_on or not is_off(block))
    text = TOKEN.sub(lambda token: write(token[1], given[token[1]], scale), start + kept)
    return text if scale == 1 else DURATION.sub(lambda found: found[1] + divided(found[2], found[3], scale), text)


def plain() -> str:
    """Return the file that users load: with the template's comments, less the first, which is about filling it."""
    _, _, head = TEMPLATE.read_text().partition("groups:\n")[0].partition("#\n")
    return f"{NOTICE}#\n{head}{rules()}"


def is_off(block: str) -> bool:
    alert = ALERT.search(block)
    return alert is not None and alert[1] in OFF_BY_DEFAULT


def write(name: str, value: float | str, scale: float) -> str:
    threshold = THRESHOLDS[name]
    if threshold.unit is Unit.SECONDS and not threshold.is_wall_clock and not isinstance(value, str):
        value = value / scale if scale != 1 else value
    return str(value)


def divided(number: str, unit: str, scale: float) -> str:
    """Return a duration divided, in whole milliseconds."""
    return f"{max(1, round(int(number) * SECONDS[unit] * 1000 / scale))}ms"
