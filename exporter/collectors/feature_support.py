"""Which features a scan says it supports.

Asks: GET /v0/feature-support.
Needs: nothing.
Costs: one small request a run. It passes through the scan's database, so it also tells a scan that is alive but stuck.
"""

from typing import Annotated

import msgspec

from exporter.api.scan import Name
from exporter.collector import RunOutput, Yields, collector, seconds
from exporter.config.models import Kind, Strict
from exporter.metrics.metric import Metric
from exporter.node.client import Node

FEATURE_SUPPORTED = Metric(
    "canton_feature_supported",
    "1 if the scan supports the feature, 0 if not; absent if the scan names none.",
    ("feature",),
    source="GET /v0/feature-support",
)


MOST_BYTES = 2**18
"""A scan names a few features, and anybody's scan may be asked."""
Features = Annotated[dict[Name, msgspec.Raw], msgspec.Meta(max_length=200)]
VALUES = {b"true": True, b"false": False}


@collector(Kind.SCAN, interval=seconds(30), timeout=seconds(9))
async def feature_support(node: Node, options: Strict, previous: RunOutput) -> Yields:
    # The fields differ from release to release and may all be null: what is boolean is a feature.
    answer = await node.get("/v0/feature-support", Features, most_bytes=MOST_BYTES)
    for feature, value in answer.items():
        if (supported := VALUES.get(bytes(value))) is not None:
            yield FEATURE_SUPPORTED.sample(supported, feature=feature)
