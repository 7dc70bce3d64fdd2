"""Which mining rounds are open and issuing, and the price of the coin.

Asks: POST /v0/open-and-issuing-mining-rounds of a scan or GET /v0/scan-proxy/open-and-issuing-mining-rounds of a
validator.
Needs: of a validator a token for its audience, without rights; of a scan nothing.
Costs: one answer of some kB a run.
"""

from exporter.api.mining_rounds import newest_rounds
from exporter.collector import Kind, Metric, Node, RunOutput, Strict, Yields, collector, seconds

SOURCE = "POST /v0/open-and-issuing-mining-rounds or GET /v0/scan-proxy/open-and-issuing-mining-rounds"
ROUND = Metric(
    "canton_round", "Round number of the newest mining round in this state, open or issuing.", ("state",), source=SOURCE
)
OPENS = Metric(
    "canton_round_opens_timestamp_seconds",
    "Unix time in seconds when the newest mining round in this state opens or opened.",
    ("state",),
    source=SOURCE,
)
PRICE = Metric("canton_coin_price_usd", "Price of a coin in US dollars in the newest open mining round.", source=SOURCE)


@collector(Kind.SCAN, Kind.VALIDATOR, interval=seconds(60), timeout=seconds(30))
async def rounds(node: Node, options: Strict, previous: RunOutput) -> Yields:
    opened, issuing = await newest_rounds(node)
    for state, each in (("open", opened), ("issuing", issuing)):
        if each is not None:
            yield ROUND.sample(int(each.round.number), state=state)
            yield OPENS.sample(each.opens_at.timestamp(), state=state)
    if opened is not None and opened.price is not None:
        yield PRICE.sample(float(opened.price))
