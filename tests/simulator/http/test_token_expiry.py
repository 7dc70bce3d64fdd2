"""Tokens that expire, and those that do not."""

import base64
import json

import pytest

from exporter.simulator import Kind, Network, NodeSpec
from tests.simulator.conftest import START, Client, StandingClock

PATHS = {Kind.LEDGER: "/v2/state/ledger-end", Kind.VALIDATOR: "/v0/scan-proxy/amulet-rules"}


def jwt(claims: object) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{payload}.signed"


@pytest.mark.parametrize("kind", PATHS)
async def test_a_token_is_refused_from_when_it_expires_even_if_the_network_is_halted(
    clock: StandingClock, client: Client, kind: Kind
) -> None:
    token = jwt({"sub": "ledger-api-user", "exp": int(START) + 60})
    async with Network([NodeSpec("node", kind, token=token)], clock=clock) as network:
        network.world.halt()
        clock.advance(59)
        assert (await client.ask(network["node"], PATHS[kind], token=token)).status == 200
        clock.advance(1)
        assert (await client.ask(network["node"], PATHS[kind], token=token)).status == 401
        assert (await client.ask(network["node"], "/readyz")).status == 200


@pytest.mark.parametrize(
    "token",
    ["secret", "a.b.c", "a.ééé.c", "e30.bm9uZQ.e30", jwt([]), jwt({}), jwt({"exp": "1"}), jwt({"exp": 1}) + ".more"],
)
async def test_a_token_that_does_not_say_when_it_expires_never_does(
    clock: StandingClock, client: Client, token: str
) -> None:
    async with Network([NodeSpec("node", Kind.LEDGER, token=token)], clock=clock) as network:
        clock.advance(366 * 86_400)
        assert (await client.ask(network["node"], PATHS[Kind.LEDGER], token=token)).status == 200
