"""What a node's bytes mean: a typed answer, or Malformed with the place where it is not one."""

from datetime import datetime
from typing import Annotated, TypeVar

import msgspec

from exporter import limits
from exporter.errors import Malformed, TooLarge
from exporter.node.messages import Response

T = TypeVar("T")
Moment = Annotated[datetime, msgspec.Meta(tz=True)]
"""A point in time, always with its zone."""
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
NotNegative = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Whole = NotNegative | Annotated[str, msgspec.Meta(pattern="^[0-9]{1,19}$")]
"""A number that counts. The contract language writes numbers as text, the APIs write their own as numbers."""
Amount = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,40}(\.[0-9]{1,40})?$")]
"""A decimal that is not negative, which is text everywhere. Read as a Decimal it would also be allowed to be NaN."""

Name = Annotated[str, msgspec.Meta(max_length=limits.NAME_LENGTH)]
"""What becomes a label."""


class Struct(msgspec.Struct, gc=False):
    """What a node sends; fields nobody reads are ignored. Absent, null and default are one: `X | None = None`."""


def decode(response: Response, answer: type[T]) -> T:
    """Return the typed answer. Raises Malformed with the place where the answer is not what it should be.

    TooLarge is raised before anything is made of an answer that has more values than a page may have.
    """
    if len(response.body) > limits.PAGE_VALUES and sum(map(response.body.count, b",{[")) > limits.PAGE_VALUES:
        raise TooLarge(f"{response.operation}: the answer has more than {limits.PAGE_VALUES:,} values; ask for less")
    return decode_part(msgspec.Raw(response.body), answer, response.operation)


def decode_part(value: object, meaning: type[T], operation: str) -> T:
    """Return what a part of an answer means, where it had to be left as it was written. Raises Malformed."""
    try:
        return (
            msgspec.json.decode(value, type=meaning)
            if isinstance(value, msgspec.Raw)
            else msgspec.convert(value, meaning)
        )
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise Malformed(f"{operation}: not the documented answer: {str(error)[: limits.ERROR_TEXT]}") from error
