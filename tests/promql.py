"""What a PromQL expression selects: metrics, and the labels that it expects of each."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import promql_parser as promql

SET_OPERATORS = ("and", "or", "unless")


@dataclass(slots=True)
class Selector:
    """A metric an expression selects. `labels` are those it is matched by, and those that on, by and without name."""

    name: str
    labels: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Origin:
    """A selector whose labels an expression still has, as far as they are `kept`; `added` are not the metric's own."""

    selector: Selector
    kept: frozenset[str] | None = None
    added: frozenset[str] = frozenset()

    def demand(self, labels: Iterable[str]) -> None:
        for label in labels:
            if label in self.added:
                continue
            if self.kept is not None and label not in self.kept:
                raise ValueError(f"{label} of {self.selector.name} is asked for where it is aggregated away")
            self.selector.labels.append(label)

    def keep(self, labels: Iterable[str]) -> "Origin":
        return replace(self, kept=frozenset(labels) - self.added, added=self.added & frozenset(labels))


def selectors(expression: str) -> list[Selector]:
    """Return everything an expression selects. Raises ValueError if it asks for a label that it aggregated away."""
    found: list[Selector] = []
    origins(promql.parse(expression), found)
    return found


def result(expression: str) -> list[Origin]:
    """Return whose labels an expression's result has."""
    return origins(promql.parse(expression), [])


def origins(node: promql.Expr, found: list[Selector]) -> list[Origin]:
    """Add a node's selectors to `found`; return those whose labels the node's result has."""
    match node:
        case promql.VectorSelector() | promql.MatrixSelector():
            return [Origin(select(node, found))]
        case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
            return origins(node.expr, found)
        case promql.AggregateExpr():
            return aggregated(node, origins(node.expr, found))
        case promql.Call():
            return called(node, [origin for each in node.args for origin in origins(each, found)])
        case promql.BinaryExpr():
            return joined(node, origins(node.lhs, found), origins(node.rhs, found))
    return []


def select(node: promql.VectorSelector | promql.MatrixSelector, found: list[Selector]) -> Selector:
    vector = node.vector_selector if isinstance(node, promql.MatrixSelector) else node
    found.append(Selector(vector.name or "", [matcher.name for matcher in vector.matchers.matchers]))
    return found[-1]


def aggregated(node: promql.AggregateExpr, inner: list[Origin]) -> list[Origin]:
    labels = node.modifier.labels if node.modifier else []
    for origin in inner:
        origin.demand(labels)
    if node.modifier and node.modifier.type == promql.AggModifierType.Without:
        return inner
    return [origin.keep(labels) for origin in inner]


def called(node: promql.Call, inner: list[Origin]) -> list[Origin]:
    if node.func.name == "label_replace":
        target, source = (str(node.args[index].val) for index in (1, 3))
        for origin in inner:
            origin.demand([source])
        return [replace(origin, added=origin.added | {target}) for origin in inner]
    return [] if node.func.name in ("absent", "absent_over_time", "scalar") else inner


def joined(node: promql.BinaryExpr, left: list[Origin], right: list[Origin]) -> list[Origin]:
    operator, modifier = str(node.op), node.modifier
    matching = modifier.matching if modifier else None
    on = list(matching.labels) if matching and matching.type == promql.LabelModifierType.Include else None
    for origin in [*left, *right]:
        origin.demand(on or [])
    if operator in SET_OPERATORS:
        return [*left, *right] if operator == "or" else left
    if not right or not left:
        return left or right
    if modifier and modifier.card == promql.VectorMatchCardinality.OneToMany:
        return right
    if on is None or (modifier and modifier.card == promql.VectorMatchCardinality.ManyToOne):
        return left
    return [origin.keep(on) for origin in left]
