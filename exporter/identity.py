"""Which kind of node answers: each kind has an operation that no other has, and that needs no token."""

from functools import partial
from typing import Any

import msgspec

from exporter.answers import Struct, looks_like_html
from exporter.api import Node
from exporter.errors import Failed, WrongKind
from exporter.scan import Name
from exporter.settings import Kind
from exporter.transport import Reply


class Version(Struct):
    version: Name


class ValidatorUser(Struct):
    party_id: Name


MARKS: dict[Kind, tuple[str, Any]] = {
    Kind.LEDGER: ("/v2/version", Version),
    Kind.SCAN: ("/v0/feature-support", dict[str, msgspec.Raw]),
    Kind.VALIDATOR: ("/v0/validator-user", ValidatorUser),
}
VERSION_ROUTES = {Kind.LEDGER: "/v2/version", Kind.SCAN: "/version", Kind.VALIDATOR: "/version"}


async def check_kind(node: Node, version: str | None) -> None:
    """Raise WrongKind if the node lacks its kind's own operation and has another kind's.

    `version` is what `read_version` found: of a ledger that is the operation. An answer that settles nothing, such as a
    proxy's 401, is not a proof.
    """
    is_seen = version is not None and MARKS[node.kind][0] == VERSION_ROUTES[node.kind]
    if is_seen or await has_mark(node, node.kind) is not False:
        return
    others = [kind for kind in Kind if kind is not node.kind]
    answers = await node.together(partial(has_mark, node, kind) for kind in others)
    for kind, has in zip(others, answers, strict=True):
        if has:
            route, lacking = MARKS[kind][0], MARKS[node.kind][0]
            raise WrongKind(
                f"the node answers like a {kind}: it has GET {route} and not GET {lacking}; set kind: {kind}, "
                f"or the url of a {node.kind}"
            )


async def has_mark(node: Node, kind: Kind) -> bool | None:
    """Return whether the node has the operation of a kind; None if the answer does not tell."""
    route, answer = MARKS[kind]
    try:
        reply = await node.knock(route)
    except Failed:
        return None
    return False if reply.status in (404, 405) else read_json(reply, answer) is not None or None


async def read_version(node: Node) -> str | None:
    """Return the node's release; None if it does not tell."""
    try:
        return version_of(await node.knock(VERSION_ROUTES[node.kind]))
    except Failed:
        return None


def version_of(reply: Reply) -> str | None:
    version = read_json(reply, Version)
    return version.version if isinstance(version, Version) else None


def read_json(reply: Reply, answer: type[Any]) -> object | None:
    """Return what a good answer holds; None if it is another one."""
    if reply.status != 200 or looks_like_html(reply):
        return None
    try:
        found: object = msgspec.json.decode(reply.body, type=answer)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    return found
