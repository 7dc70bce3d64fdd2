"""Which features a scan reports as supported.

Asks: GET /v0/feature-support.
Needs: nothing.
Costs: one small request a run. It passes through the scan's database, so it also shows a scan that is alive but stuck.
"""

from typing import Annotated

import msgspec

from exporter.collector import Kind, Metric, Name, Node, RunOutput, Strict, Yields, collector, seconds

FEATURE_SUPPORTED = Metric(
    "canton_feature_supported",
    "1 if the scan supports the feature, 0 if not; absent if the scan lists no features.",
    ("feature",),
    source="GET /v0/feature-support",
)


Features = Annotated[dict[Name, msgspec.Raw], msgspec.Meta(max_length=200)]
VALUES = {b"true": True, b"false": False}


@collector(Kind.SCAN, interval=seconds(30), timeout=seconds(9))
async def feature_support(node: Node, options: Strict, previous: RunOutput) -> Yields:
    # The fields differ from release to release and may all be null: what is boolean is a feature.
    answer = await node.get("/v0/feature-support", Features)
    for feature, value in answer.items():
        if (supported := VALUES.get(bytes(value))) is not None:
            yield FEATURE_SUPPORTED.sample(supported, feature=feature)
