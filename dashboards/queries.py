"""How a question to Prometheus is written, so that every selector follows the variables and nothing counts twice.

Two exporters that watch the same node give the same series twice, which an aggregation without job and instance makes
one again.
"""

from dashboards import catalogue

RATE = "$__rate_interval"
VARIABLES = ("job", "instance", "network", "target")


def of(name: str, *matchers: str) -> str:
    """Select the series of a name that the variables leave, as far as it has their labels."""
    chosen = [f'{variable}=~"${variable}"' for variable in VARIABLES if variable in catalogue.labels(name)]
    return f"{name}{{{','.join([*matchers, *chosen])}}}"


def grouping(name: str, by: tuple[str, ...] | None, without: tuple[str, ...] = ()) -> str:
    """Return what tells the readings of a name apart: the node and the metric's own labels, or the exporter."""
    if by is None:
        known = catalogue.labels(name)
        node = tuple(label for label in ("network", "target") if label in known) or catalogue.SCRAPE
        rest = tuple(label for label in known if label not in {*catalogue.TARGET, *catalogue.SCRAPE})
        by = (*node, *rest)
    return ", ".join(label for label in by if label not in without)


def most(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    return f"max by ({grouping(name, by)}) ({of(name, *matchers)})"


def least(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    return f"min by ({grouping(name, by)}) ({of(name, *matchers)})"


def age(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Return how long ago the newest moment of each series was."""
    return f"time() - {most(name, *matchers, by=by)}"


def left(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Return how long it is until the soonest moment of each series."""
    return f"{least(name, *matchers, by=by)} - time()"


def moment(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Return a moment as Grafana wants dates: in milliseconds."""
    return f"{most(name, *matchers, by=by)} * 1000"


def pace(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Return a counter's growth a second, as any exporter saw it."""
    return f"max by ({grouping(name, by)}) (rate({of(name, *matchers)}[{RATE}]))"


def more(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Return how much a counter grew."""
    return f"max by ({grouping(name, by)}) (increase({of(name, *matchers)}[{RATE}]))"


def slope(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Return a gauge's growth a second."""
    return f"max by ({grouping(name, by)}) (deriv({of(name, *matchers)}[{RATE}]))"


def asked(name: str, *matchers: str, by: tuple[str, ...]) -> str:
    """Return what all exporters together did a second: what each asked of a node is its own."""
    return f"sum by ({', '.join(by)}) (rate({of(name, *matchers)}[{RATE}]))"
