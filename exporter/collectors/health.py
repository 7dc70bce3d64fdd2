"""Whether the node is alive and ready; from the same answer, how far its clock is off and its certificate's end.

Asks: GET /livez and /readyz at once; where a node has no /livez, GET /v2/version (ledger) or /version.
Needs: no token. One at hand is sent, since a proxy may want it; nothing is waited for.
Costs: two small requests a run, outside the request budget; under TLS, every ten minutes a new connection for each.
"""

from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial

from exporter.answers import check
from exporter.api import Node
from exporter.collector import Yielded, Yields, collector, seconds
from exporter.errors import Failed, Refused, Unauthorized, Unsupported
from exporter.metric import Metric
from exporter.settings import Kind, Strict
from exporter.transport import Reply

UP = Metric(
    "canton_up",
    "1 if the node is alive, 0 if it says it is not or does not answer; no value on 401, 403 or 429.",
    source="GET /livez, or /v2/version or /version where there is none",
)
READY = Metric(
    "canton_ready", "1 if the node is ready to serve, 0 if not; absent if it does not tell.", source="GET /readyz"
)
CLOCK_OFFSET = Metric(
    "canton_target_clock_offset_seconds",
    "How far the clock of the nearest HTTP hop is ahead of ours, to about half a second; every lag depends on it.",
    source="the Date header of GET /livez",
)
CERTIFICATE_EXPIRY = Metric(
    "canton_target_certificate_expiry_timestamp_seconds",
    "Until when the certificate seen is valid; one renewed is seen within ten minutes.",
    source="the newest TLS handshake before GET /livez is answered",
)


@collector(*Kind, interval=seconds(15), timeout=seconds(5))
async def health(node: Node, options: Strict, previous: Yielded) -> Yields:
    live, ready = await node.together(partial(knock, node, route) for route in ("/livez", "/readyz"))
    asked, up = live, verdict(live)
    if up is None:
        asked = await knock(node, "/v2/version" if node.kind is Kind.LEDGER else "/version")
        up = isinstance(asked, Reply) and asked.status == 200
    yield UP.sample(up)
    serves = verdict(ready)
    if serves is not None:
        yield READY.sample(serves)
    if not up:
        node.remark("the node is down", why(asked))
    elif serves is False:
        node.remark("the node is not ready", why(ready))
    if isinstance(live, Reply):
        if (date := date_of(live)) is not None:
            # Date is cut to whole seconds, so the moment it names was half a second later on average.
            yield CLOCK_OFFSET.sample(date + 0.5 - (live.sent + live.answered) / 2)
        if live.certificate_expiry is not None:
            yield CERTIFICATE_EXPIRY.sample(live.certificate_expiry)


async def knock(node: Node, route: str) -> Reply | Failed:
    """Return the node's answer, or why none came: for these two questions that is an answer too.

    Raises Unauthorized if it could not be asked for want of a header.
    """
    try:
        return await node.knock(route)
    except Unauthorized:
        raise
    except Failed as failure:
        return failure


def verdict(answer: Reply | Failed) -> bool | None:
    """Return what an answer says, None if there is no such route.

    Raises Unauthorized, Limited or Refused for one that says nothing of the node's health.
    """
    if isinstance(answer, Failed) or answer.status >= 500:
        return False
    if answer.status in (404, 405):
        return None
    if answer.status != 200:
        raise Refused(f"{check(answer).asked}: {answer.status} says neither yes nor no", answer.status)
    return True


def why(answer: Reply | Failed) -> str:
    """Say what is wrong with an answer."""
    try:
        return str(answer) if isinstance(answer, Failed) else check(answer).asked
    except (Failed, Unsupported) as failure:
        return str(failure)


def date_of(reply: Reply) -> float | None:
    try:
        date = parsedate_to_datetime(reply.headers["Date"])
        return date.replace(tzinfo=date.tzinfo or UTC).timestamp()  # -0000 is UTC too, only said with less conviction
    except (KeyError, ValueError, OverflowError):
        return None
