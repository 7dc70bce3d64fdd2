"""One module is one collector, found by its name: there is no list to edit."""

import sys
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from exporter.collector import Collector, Metric


@cache
def discover() -> dict[str, Collector[Any]]:
    """Return every collector by name, in the order of names."""
    names = sorted(module.name for module in iter_modules(__path__))
    return {name: getattr(import_module(f"{__name__}.{name}"), name) for name in names}


def metrics_of(name: str) -> list[Metric]:
    """Return the metrics a collector declares, in their order."""
    module = sys.modules[f"{__name__}.{name}"]
    return [value for value in vars(module).values() if isinstance(value, Metric)]
