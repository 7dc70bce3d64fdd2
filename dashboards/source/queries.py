"""How a question to Prometheus is written, so that every selector follows the variables and nothing counts twice.

Two exporters that watch the same node give the same series twice, which an aggregation without job and instance makes
one again.
"""

from dashboards.source import catalogue

RATE = "$__rate_interval"
VARIABLES = ("job", "instance", "network", "target")
MOST_LINES = 20
"""So many lines a graph can have and still be read."""

OF_THE_NETWORK = {"canton_coin_rules_required_package_info"}
"""What scans tell of their network, and is of interest beside what ledgers tell of themselves."""


def of(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Select the series of a name that the variables leave, as far as it has their labels.

    What is said `by` network is not of the target that is chosen: a choice is kept from one dashboard to the next, and
    with a ledger chosen the facts that a scan tells would vanish.
    """
    is_of_network = name in OF_THE_NETWORK or (by is not None and "network" in by and "target" not in by)
    known = set(catalogue.labels(name)) - ({"target"} if is_of_network else set())
    chosen = [f'{variable}=~"${variable}"' for variable in VARIABLES if variable in known]
    return f"{name}{{{','.join([*matchers, *chosen])}}}"


def everywhere(expression: str) -> str:
    """Return an expression for every target, whichever is chosen."""
    return expression.replace(',target=~"$target"', "")


def grouping(name: str, by: tuple[str, ...] | None, without: tuple[str, ...] = ()) -> str:
    """Return what tells the readings of a name apart: the node and the metric's own labels, or the exporter."""
    if by is None:
        known = catalogue.labels(name)
        node = tuple(label for label in catalogue.NODE if label in known) or catalogue.SCRAPE
        rest = tuple(label for label in known if label not in {*catalogue.TARGET, *catalogue.SCRAPE})
        by = (*node, *rest)
    return ", ".join(label for label in by if label not in without)


def most(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    return f"max by ({grouping(name, by)}) ({of(name, *matchers, by=by)})"


def least(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    return f"min by ({grouping(name, by)}) ({of(name, *matchers, by=by)})"


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
    return f"max by ({grouping(name, by)}) (rate({of(name, *matchers, by=by)}[{RATE}]))"


def more(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Return how much a counter grew."""
    return f"max by ({grouping(name, by)}) (increase({of(name, *matchers, by=by)}[{RATE}]))"


def slope(name: str, *matchers: str, by: tuple[str, ...] | None = None) -> str:
    """Return a gauge's growth a second."""
    return f"max by ({grouping(name, by)}) (deriv({of(name, *matchers, by=by)}[{RATE}]))"


def asked(name: str, *matchers: str, by: tuple[str, ...]) -> str:
    """Return what all exporters together did a second: what each asked of a node is its own."""
    return f"sum by ({', '.join(by)}) (rate({of(name, *matchers, by=by)}[{RATE}]))"


def top(expression: str) -> str:
    """Return the largest of what has a line for each target and more, so that fifty targets can be read."""
    return f"topk({MOST_LINES}, {expression})"
