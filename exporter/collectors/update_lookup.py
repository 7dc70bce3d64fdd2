"""Whether a scan has indexed updates of interest, each known by the hash of its prepared transaction.

Asks: GET /v2/updates/hash/{hash}.
Needs: nothing; a scan knows no tokens.
Costs: a request a run for each hash. A scan knows no updates from before it began to index hashes.
"""

from typing import Annotated

from pydantic import Field

from exporter.collector import (
    Hash,
    Kind,
    Metric,
    Moment,
    Node,
    RunOutput,
    Strict,
    Struct,
    Yields,
    collector,
    limits,
    seconds,
)

SOURCE = "GET /v2/updates/hash/{hash}"
INDEXED = Metric(
    "canton_update_indexed", "1 if the scan has indexed the update with this hash, 0 if not.", ("hash",), source=SOURCE
)
RECORD_TIMESTAMP = Metric(
    "canton_update_record_timestamp_seconds",
    "Record time of the update with this hash, in Unix seconds.",
    ("hash",),
    source=SOURCE,
)


class Options(Strict):
    hashes: Annotated[list[Hash], Field(min_length=1)]
    """The hashes to look up, in hex."""


class Update(Struct):
    """A transaction or a reassignment; both have their record time."""

    record_time: Moment


@collector(Kind.SCAN, interval=seconds(60), timeout=seconds(30), options=Options)
async def update_lookup(node: Node, options: Options, previous: RunOutput) -> Yields:
    async def ask(hash_: str) -> Update | None:
        return await node.find("/v2/updates/hash/{hash}", Update, most_bytes=limits.PAGE_BYTES, hash=hash_)

    for hash_, update in (await node.for_each(options.hashes, ask)).items():
        yield INDEXED.sample(update is not None, hash=hash_)
        if update:
            yield RECORD_TIMESTAMP.sample(update.record_time.timestamp(), hash=hash_)
