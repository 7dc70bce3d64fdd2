"""Which mining rounds are open and issuing, from a scan or a validator's proxy."""

from collections.abc import Iterable

import msgspec

from exporter.collector import Amount, Kind, Moment, Node, Struct, Whole


class Number(Struct):
    number: Whole


class Round(Struct):
    round: Number
    opens_at: Moment = msgspec.field(name="opensAt")
    price: Amount | None = msgspec.field(name="amuletPrice", default=None)


class Contract(Struct):
    payload: Round


class WithState(Struct):
    contract: Contract | None = None


class Rounds(Struct):
    """What a scan answers: contracts by their ids, without those that the request named as known."""

    open: dict[str, WithState] = msgspec.field(name="open_mining_rounds")
    issuing: dict[str, WithState] = msgspec.field(name="issuing_mining_rounds")


class ProxiedRounds(Struct):
    open: tuple[WithState, ...] = msgspec.field(name="open_mining_rounds")
    issuing: tuple[WithState, ...] = msgspec.field(name="issuing_mining_rounds")


async def newest_rounds(node: Node) -> tuple[Round | None, Round | None]:
    """Return the newest open and the newest issuing round."""
    if node.kind is Kind.VALIDATOR:
        proxied = await node.get("/v0/scan-proxy/open-and-issuing-mining-rounds", ProxiedRounds)
        return newest(proxied.open), newest(proxied.issuing)
    known: dict[str, list[str]] = {"cached_open_mining_round_contract_ids": [], "cached_issuing_round_contract_ids": []}
    found = await node.post("/v0/open-and-issuing-mining-rounds", Rounds, known)
    return newest(found.open.values()), newest(found.issuing.values())


def newest(contracts: Iterable[WithState]) -> Round | None:
    found = (each.contract.payload for each in contracts if each.contract)
    return max(found, key=lambda each: int(each.round.number), default=None)
