"""What a caller of the ACS operations asks for, and what is wrong with it."""

import re
from dataclasses import dataclass

from exporter.simulator.dialect import Dialect
from exporter.simulator.nodes.splice_request import (
    INT32,
    INT64,
    bad_request,
    malformed,
    read_body,
    read_field,
    read_strings,
    read_time,
    read_whole,
    require,
)

MOST = 1000
TEMPLATE = re.compile("[^:]+:[^:]+:[^:]+")


@dataclass(frozen=True)
class AcsRequest:
    migration_id: int
    record_time: str  # as it was written
    time: float
    is_exact: bool
    after: int | str | None
    page_size: int
    parties: frozenset[str]
    templates: frozenset[str]


def read_request(content: bytes, version: int, dialect: Dialect) -> AcsRequest:
    """The request of a version of the operation: its tokens are strings since v2, and whole numbers before."""
    body = read_body(content)
    migration_id = require(read_whole(body, "migration_id", INT64), "migration_id")
    record_time = require(read_field(body, "record_time", str), "record_time")
    match = read_field(body, "record_time_match", str) or "exact"
    if match not in ("exact", "at_or_before"):
        raise malformed(f"Name {match} not valid for record_time_match")
    page_size = require(read_whole(body, "page_size", INT32), "page_size")
    check_limit(page_size, dialect)
    parties, templates = read_strings(body, "party_ids"), read_strings(body, "templates")
    check_lists(parties, templates, dialect)
    return AcsRequest(
        migration_id,
        record_time,
        read_time(record_time, "record_time"),
        match == "exact",
        read_field(body, "after", str) if version == 2 else read_whole(body, "after", INT64),
        page_size,
        frozenset(parties),
        frozenset(templates),
    )


def check_limit(page_size: int, dialect: Dialect) -> None:
    # The document names no maximum.
    if page_size > MOST and dialect.is_network:
        raise bad_request(f"Exceeded limit maximum ({page_size} > {MOST}).")
    if page_size < 1:
        raise bad_request("Limit must be at least 1.")


def check_lists(parties: list[str], templates: list[str], dialect: Dialect) -> None:
    for given in (parties, templates):
        if len(given) > MOST and dialect.caps_lists:
            raise bad_request(f"Exceeded limit maximum ({len(given)} > {MOST}).")
    for template in templates:
        # In the document what has another form is just no template.
        if dialect.is_network and not TEMPLATE.fullmatch(template):
            raise bad_request(f"Invalid template id, expected PACKAGE_NAME:MODULE_NAME:ENTITY_NAME but got: {template}")
