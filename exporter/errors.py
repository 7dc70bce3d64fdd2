"""What can go wrong between us and a node, and in what an operator wrote: what, where, and what to do."""

from collections.abc import Sequence
from typing import ClassVar


class Failed(Exception):
    """A request that got no answer; `reason` is the label value operators see in canton_collector_failures_total."""

    reason: ClassVar[str]
    pause: float | None = None
    """After how many seconds at least asking again may help; None where it will not."""


class Unreachable(Failed):
    """No whole answer came: no name, no connection, no TLS, or a connection cut short.

    `cause` is dns, connect or tls; None if nobody could be asked, as the file that holds the url is missing.
    """

    reason = "unreachable"
    pause = 0.0

    def __init__(self, message: str, cause: str | None = "connect") -> None:
        super().__init__(message)
        self.cause = cause


class TimedOut(Failed):
    """No answer within the request's or the run's time."""

    reason = "timeout"
    pause = 0.0


class NoBudget(Failed):
    """Our own rate limit allowed no request in time: never a fault of the node."""

    reason = "budget"
    pause = 0.0


class WrongKind(Failed):
    """The node is of another kind than its target is configured to be."""

    reason = "wrong_kind"


class OutOfTime(TimedOut):
    """Not sent, as the run had no time left for it: that says nothing of the node."""


class Malformed(Failed):
    """An answer that is not what the operation is documented to answer."""

    reason = "malformed"


class NotHttp(Malformed):
    """An answer that is not HTTP."""


class Refused(Failed):
    """The node, or something before it, answered with an error.

    `status` is the HTTP status, `code` the node's own error code where it gave one.
    """

    reason = "refused"

    def __init__(self, message: str, status: int | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.pause = 0.0 if status in (500, 502, 503, 504) else None


class Unauthorized(Refused):
    """401 or 403, or no token could be had."""

    reason = "unauthorized"


class Limited(Refused):
    """429: the node asks us to be slower; `pause` is how long it asks to wait."""

    reason = "limited"


class TooLarge(Refused):
    """The answer is larger than the node's limit (413) or than ours."""

    reason = "too_large"


class Unsupported(Exception):
    """The node does not have the operation: neither good nor bad."""


class NoEntry(Unsupported):
    """A 404 in the API's own error form: no such entry. Who did not ask for an entry takes it for no such operation."""


BUG = "bug"
FAILURES = (Unreachable, TimedOut, Unauthorized, Refused, Malformed, Limited, TooLarge, NoBudget, WrongKind)
REASONS = (*(kind.reason for kind in FAILURES), BUG)


def worst(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the one exception that tells most of requests made side by side: a bug, else a failure, else a lack."""
    inner = (worst(each) if isinstance(each, BaseExceptionGroup) else each for each in failures.exceptions)
    return min(inner, key=lambda each: 2 if isinstance(each, Unsupported) else isinstance(each, Failed))


class WrongConfiguration(Exception):
    """What is wrong with a configuration: all that was found, and not only the first."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = tuple(errors)
