"""Whether a scan still hands out what a new node needs to join the synchronizer, and whether that stays the same.

Asks: GET /v0/synchronizer-bootstrapping-transactions/{prefix}.
Needs: nothing; a scan knows no tokens.
Costs: an answer of some kB a run for each prefix. Releases from 0.9 on do not have the operation.
"""

from hashlib import sha256
from typing import Annotated

from pydantic import Field

from exporter.collector import Kind, Metric, Node, RunOutput, Strict, Struct, Yields, collector, limits, minutes

ROUTE = "/v0/synchronizer-bootstrapping-transactions/{prefix}"
SOURCE = f"GET {ROUTE}"
INFO = Metric(
    "canton_synchronizer_bootstrapping_info",
    "Hash of a part of the bootstrapping transactions; always 1; absent if the prefix is unknown.",
    ("synchronizer_prefix", "part", "sha256"),
    source=SOURCE,
)
SIZE = Metric(
    "canton_synchronizer_bootstrapping_size_bytes",
    "Size of a part of the bootstrapping transactions in bytes.",
    ("synchronizer_prefix", "part"),
    source=SOURCE,
)


class Options(Strict):
    prefixes: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    """What the synchronizers' ids begin with, up to the colons, such as `global-domain`."""


class Transactions(Struct):
    domain_parameters: str
    sequencer_domain_state: str
    mediator_domain_state: str


@collector(Kind.SCAN, interval=minutes(60), timeout=minutes(30), options=Options)
async def bootstrapping(node: Node, options: Options, previous: RunOutput) -> Yields:
    for prefix in dict.fromkeys(options.prefixes):
        found = await node.find(ROUTE, Transactions, most_bytes=limits.PAGE_BYTES, prefix=prefix)
        if found is None:
            node.remark(f"there is no synchronizer of the prefix {prefix}")
            continue
        for part in Transactions.__struct_fields__:
            text: bytes = getattr(found, part).encode()
            yield INFO.sample(1, synchronizer_prefix=prefix, part=part, sha256=sha256(text).hexdigest())
            yield SIZE.sample(len(text), synchronizer_prefix=prefix, part=part)
