"""Whether the node is up and ready; from the same answer, how far its clock is off and its certificate's end.

Asks: GET /livez and /readyz at once; where there is no /livez, /readyz or GET /v2/version (ledger) or /version shows
whether it is up. At first and every five minutes also the operation that only one kind of node has: GET /v2/version
(ledger), /v0/feature-support (scan) or /v0/validator-user (validator).
Needs: no token. An available one is sent, since a proxy may want it; nothing is waited for.
Costs: two small requests a run, and one more at first and every five minutes, all outside the request budget; under
TLS, every ten minutes a new connection for each.
"""

from collections.abc import Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from typing import NamedTuple

from exporter.api.node_kind import VERSION_ROUTES, check_kind, version_of
from exporter.collector import (
    Failed,
    Kind,
    Memo,
    Metric,
    Node,
    NotHttp,
    OutOfTime,
    Refused,
    Response,
    RunOutput,
    Sample,
    Strict,
    TimedOut,
    Unauthorized,
    Unreachable,
    Unsupported,
    Yields,
    collector,
    looks_like_html,
    means_no_entry,
    raise_for_status,
    seconds,
)

UP = Metric(
    "canton_up",
    "1 if the node is up, 0 if it is down; absent if the response does not show it, such as status 401, 403 or 429.",
    source="GET /livez, or /readyz, /v2/version or /version where there is none",
)
DOWN_INFO = Metric(
    "canton_down_info",
    "1 while the node is down, with the cause: dns, connect, tls, timeout, html, redirect, http_5xx or not_found.",
    ("cause",),
    source="GET /livez, or /readyz, /v2/version or /version where there is none",
)
READY = Metric("canton_ready", "1 if the node is ready, 0 if not; absent if it is not reported.", source="GET /readyz")
CLOCK_OFFSET = Metric(
    "canton_target_clock_offset_seconds",
    "Seconds that the clock of the node, or of a proxy before it, is ahead of ours; accurate to half a second.",
    source="the Date header of GET /livez",
)
CERTIFICATE_EXPIRY = Metric(
    "canton_target_certificate_expiry_timestamp_seconds",
    "Unix time in seconds when the TLS certificate of the node expires; a renewed one is seen within ten minutes.",
    source="the newest TLS handshake before GET /livez is answered",
)

IS_UP, IS_ABSENT = "up", "absent"
DOCUMENTED = "/v0/scan-proxy/ans-entries/by-party/{party}"
"""By the letter of the document a validator has neither health nor version, but it knows who has a name."""
SETTLED_SECONDS, UNSETTLED_SECONDS = 300.0, 60.0
"""How long the node's kind is taken for what it was, and how long to wait to check again if no answer showed it."""

Answer = Response | Failed
Answers = tuple[Answer, Answer | None]


class Known(NamedTuple):
    """Whether the node is known to be of its kind, and when that was checked (Unix seconds)."""

    is_settled: bool
    seen: float


KNOWN = Memo[Known]()


@collector(*Kind, interval=seconds(15), timeout=seconds(5))
async def health(node: Node, options: Strict, previous: RunOutput) -> Yields:
    (live, version), (ready, _) = await node.gather((partial(ask_live, node), partial(ask_ready, node)))
    answer, verdict = await find_out(node, live, ready, version)
    if verdict == IS_UP:
        yield KNOWN.of(await check(node, previous.memo(KNOWN)))
        yield UP.sample(1)
    elif verdict is not None:
        yield UP.sample(0)
        yield DOWN_INFO.sample(1, cause=verdict)
        node.remark("the node is down", why(answer))
    serves = is_ready(ready)
    if serves is not None:
        yield READY.sample(serves)
    if serves is False and verdict in (IS_UP, None):
        node.remark("the node is not ready", why(ready))
    for sample in side_effects(live):
        yield sample


def is_up(found: RunOutput) -> bool | None:
    """Return what a run found: whether the node is up, None if that is not known."""
    return next((sample.value == 1 for sample in found.of(UP)), None)


async def check(node: Node, known: Known | None) -> Known:
    """Return when the node's kind was last checked. Raises WrongKind if it is a different one.

    It is checked when nothing is known, as after the node was down, and again from time to time, since a different
    node may stand behind the url by then.
    """
    now = node.now()
    if known and abs(now - known.seen) < (SETTLED_SECONDS if known.is_settled else UNSETTLED_SECONDS):
        return known
    return Known(await check_kind(node), now)


async def ask_live(node: Node) -> Answers:
    """Return the answer of /livez, and where there is none the version's, for which a slow /readyz is not waited."""
    live = await fetch(node, "/livez")
    return live, await fetch(node, VERSION_ROUTES[node.kind]) if judge(live) == IS_ABSENT else None


async def ask_ready(node: Node) -> Answers:
    return await fetch(node, "/readyz"), None


async def find_out(node: Node, live: Answer, ready: Answer, version: Answer | None) -> tuple[Answer, str | None]:
    """Return the answer that shows whether the node is up, and its verdict: IS_UP, a cause, or None if unknown."""
    if (verdict := judge(live)) != IS_ABSENT or version is None:
        return live, verdict
    if is_ready(ready):
        return ready, IS_UP
    verdict = judge(version)
    if verdict == IS_UP and isinstance(version, Response) and version_of(version) is None:
        verdict = IS_ABSENT  # a page that has nothing to do with us
    if verdict != IS_ABSENT:
        return version, verdict
    if node.kind is Kind.VALIDATOR and is_documented(named := await fetch(node, DOCUMENTED, party="health")):
        return named, IS_UP
    if isinstance(ready, Response) and ready.status == 503:
        return ready, None
    return (ready, verdict) if (verdict := judge(ready)) != IS_ABSENT else (version, "not_found")


async def fetch(node: Node, route: str, **fill: str) -> Answer:
    """Return the node's answer, or why none came: here that is an answer too.

    Raises Unauthorized or Unreachable if nothing could be sent for want of a header or url that a file should hold.
    """
    try:
        return await node.fetch(route, **fill)
    except (Unauthorized, OutOfTime):
        raise
    except Failed as failure:
        if isinstance(failure, Unreachable) and failure.cause is None:
            raise
        return failure


def judge(answer: Answer) -> str:
    """Return what an answer means for the node: IS_UP, IS_ABSENT if there is no such route, or the cause it is down by.

    Raises Unauthorized, Limited, Refused or Malformed for an answer that does not show it.
    """
    if isinstance(answer, Failed):
        return cause_of(answer)
    if answer.status >= 500:
        return "http_5xx"
    if answer.status in (404, 405):
        return IS_ABSENT
    if 300 <= answer.status < 400:
        return "redirect"
    if not answer.is_success:
        raise Refused(f"{raise_for_status(answer).operation}: {answer.status} means neither up nor down", answer.status)
    return "html" if looks_like_html(answer) else IS_UP


def cause_of(failure: Failed) -> str:
    """Return by which cause a node is down that did not answer. Raises the failure if it does not show that."""
    match failure:
        case TimedOut():
            return "timeout"
        case Unreachable():
            return failure.cause or "connect"
        case NotHttp():
            return "connect"
    raise failure


def is_ready(answer: Answer) -> bool | None:
    """Return whether an answer to /readyz means ready; None if it does not show it."""
    try:
        verdict = judge(answer)
    except Failed:
        return None
    return None if verdict in (IS_ABSENT, "html", "redirect") else verdict == IS_UP


def is_documented(answer: Answer) -> bool:
    """Return whether an answer is a validator's own: an entry, that there is none, or that it wants a token first."""
    if isinstance(answer, Failed):
        return False
    return (judge(answer) == IS_UP) or means_no_entry(answer)


def why(answer: Answer) -> str:
    """Return what is wrong with an answer, as a sentence."""
    try:
        return str(answer) if isinstance(answer, Failed) else raise_for_status(answer).operation
    except (Failed, Unsupported) as failure:
        return str(failure)


def side_effects(live: Answer) -> Iterator[Sample]:
    """Give what else can be read from an answer: the clock's offset and the certificate's end."""
    if isinstance(live, Failed):
        return
    if (date := date_of(live)) is not None:
        # Date is cut to whole seconds, so the moment it names was half a second later on average.
        yield CLOCK_OFFSET.sample(date + 0.5 - (live.sent + live.answered) / 2)
    if live.certificate_expiry is not None:
        yield CERTIFICATE_EXPIRY.sample(live.certificate_expiry)


def date_of(response: Response) -> float | None:
    try:
        date = parsedate_to_datetime(response.headers["Date"])
        return date.replace(tzinfo=date.tzinfo or UTC).timestamp()  # -0000 is UTC too
    except (KeyError, ValueError, OverflowError):
        return None
