"""Which kind of node answers: each kind has an operation that no other has, and that needs no token."""

from functools import partial
from typing import Any

import msgspec

from exporter.collector import Failed, Kind, Name, Node, Response, Struct, WrongKind, looks_like_html


class Version(Struct):
    version: Name


class ValidatorUser(Struct):
    party_id: Name


MARKS: dict[Kind, tuple[str, Any]] = {
    Kind.LEDGER: ("/v2/version", Version),
    Kind.SCAN: ("/v0/feature-support", dict[str, msgspec.Raw]),
    Kind.VALIDATOR: ("/v0/validator-user", ValidatorUser),
}
DISTINCT_KINDS = (Kind.LEDGER, Kind.VALIDATOR)
"""Whose operation answers what no other kind would; a scan's may be an empty object."""
VERSION_ROUTES = {Kind.LEDGER: "/v2/version", Kind.SCAN: "/version", Kind.VALIDATOR: "/version"}


async def check_kind(node: Node) -> bool:
    """Return whether the node is known to be of its kind; False if no answer shows it.

    Raises WrongKind if it has another kind's own operation and not its own. What every proxy could answer, such as 401
    or an empty object, is not a proof unless its own kind's operation is surely not there.
    """
    own = await mark(node, node.kind)
    if own is True:
        return True
    others = [kind for kind in Kind if kind is not node.kind]
    answers = await node.gather(partial(mark, node, kind) for kind in others)
    seen = [kind for kind, has in zip(others, answers, strict=True) if has and (own is False or kind in DISTINCT_KINDS)]
    if len(seen) == 1:
        route, lacking = MARKS[seen[0]][0], MARKS[node.kind][0]
        raise WrongKind(
            f"the node answers like a {seen[0]}: it has GET {route} and not GET {lacking}; set kind: {seen[0]}, "
            f"or the url of a {node.kind}"
        )
    return False


async def mark(node: Node, kind: Kind) -> bool | None:
    """Return whether the node has the operation of a kind; None if the answer does not show it."""
    route, answer = MARKS[kind]
    try:
        response = await node.fetch(route)
    except Failed:
        return None
    return False if response.status in (404, 405) else read_json(response, answer) is not None or None


def version_of(response: Response) -> str | None:
    version = read_json(response, Version)
    return version.version if isinstance(version, Version) else None


def read_json(response: Response, answer: type[Any]) -> object | None:
    """Return what a good answer holds; None for any other answer."""
    if response.status != 200 or looks_like_html(response):
        return None
    try:
        found: object = msgspec.json.decode(response.body, type=answer)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    return found
