"""What the rules of a configuration allow and what is hardly meant: the exporter runs all the same."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel
from yarl import URL

from exporter.config.collector_models import ConfiguredTarget
from exporter.config.models import BearerAuth, Budget, IsParty, Kind
from exporter.config.origins import Place
from exporter.config.validation_errors import ConfigError

NO_NAMESPACE = "is not the whole id of a party; write it as NAME::NAMESPACE"
BEARER = 'begins with "Bearer "; write the token alone, as the exporter adds the word'
NO_PATH = "has no path; the API of a super validator's scan usually begins at /api/scan"
PUBLIC_SCAN = r"scan\..+|.+\.(sync\.global|canton\.network)"
"""Hosts of scans that super validators publish."""
API_PATH = r"v[0-9]|livez|readyz"
UNCOUNTED = "health"
"""The collector whose requests pass the budget by."""


def target_warnings(targets: Mapping[str, ConfiguredTarget]) -> Iterator[ConfigError]:
    """Give what each target says that it hardly means."""
    seen: dict[object, str] = {}
    for name, target in targets.items():
        place = ("targets", name)
        token = target.auth.token if isinstance(target.auth, BearerAuth) else None
        if token is not None and token.get_secret_value().lower().startswith("bearer "):
            yield (*place, "auth", "token"), BEARER
        if target.url is not None:
            yield from (((*place, "url"), text) for text in url_warnings(target.kind, URL(target.url)))
            first = seen.setdefault(identity(target, URL(target.url)), name)
            if first != name:
                yield (*place, "url"), f"is also the url of the target {first}; each series of the node is there twice"
        for collector, config in target.collector_configs.items():
            yield from party_warnings(config.options, (*place, "collectors", collector, "options"))


def url_warnings(kind: Kind, url: URL) -> Iterator[str]:
    api = next((part for part in url.path.split("/") if re.fullmatch(API_PATH, part)), None)
    if api is not None:
        yield f"contains /{api}, where a path of the API begins; end the url before it"
    if kind is Kind.SCAN and url.path.strip("/") == "" and re.fullmatch(PUBLIC_SCAN, url.host or ""):
        yield NO_PATH


def identity(target: ConfiguredTarget, url: URL) -> object:
    """Return what is equal for two targets that are the same node: behind one url a gateway may look at the host."""
    hosts = [value.get_secret_value() for name, value in target.headers.items() if name.lower() == "host"]
    return target.kind, str(url.with_user(None)).rstrip("/"), *hosts


def party_warnings(options: BaseModel, place: Place) -> Iterator[ConfigError]:
    for name in type(options).model_fields:
        is_party = name in party_options(type(options))
        value = getattr(options, name)
        for step, each in enumerate(value) if isinstance(value, list | tuple) else [(None, value)]:
            inside = (*place, name) if step is None else (*place, name, str(step))
            if isinstance(each, BaseModel):
                yield from party_warnings(each, inside)
            elif is_party and isinstance(each, str) and not re.fullmatch(".+::.+", each):
                yield inside, NO_NAMESPACE


@cache
def party_options(options: type[BaseModel]) -> frozenset[str]:
    """Return the names of the options that hold a party, or a list of them."""

    def has_mark(part: Any) -> bool:
        return isinstance(part, IsParty) or any(map(has_mark, (*get_args(part), *getattr(part, "__metadata__", ()))))

    fields = options.model_fields.items()
    return frozenset(name for name, field in fields if any(map(has_mark, (field.annotation, *field.metadata))))


def demand_warnings(
    targets: Mapping[str, ConfiguredTarget], budget: Budget, is_here: Callable[[str], bool]
) -> Iterator[ConfigError]:
    """Give the budgets that cannot do even if each run makes only one request; `is_here` are this shard's targets."""
    shares: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, target in targets.items():
        is_shared = budget.is_shared(target.kind) and target.url is not None
        owner = f"the targets at {URL(target.url or '').host}" if is_shared else f"the target {name}"
        shares[owner][name] = sum(
            1 / config.interval.total_seconds()
            for collector, config in target.collector_configs.items()
            if collector != UNCOUNTED
        )
    for owner, demands in shares.items():
        if sum(demands.values()) <= budget.rate:  # shards are worked out only for who asks too much
            continue
        demand = sum(requests for name, requests in demands.items() if is_here(name))
        if demand > budget.rate:
            text = f"allows {budget.rate:g} requests a second, and the collectors of {owner} make at least {demand:.3g}"
            yield ("budget", "rate"), f"{text}; raise it, or their intervals"
