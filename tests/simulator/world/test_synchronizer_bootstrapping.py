"""The transactions with which the synchronizer was set up."""

import base64

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import Client, StandingClock

PATH = "/v0/synchronizer-bootstrapping-transactions"
FIELDS = ["domain_parameters", "sequencer_domain_state", "mediator_domain_state"]


@pytest.mark.parametrize("dialect", Dialect)
async def test_they_are_told_before_release_0_9(network: Network, client: Client, dialect: Dialect) -> None:
    assert network.world.synchronizer_prefix == "global-domain"
    answer = await client.ask(network[f"scan-{dialect}"], f"{PATH}/global-domain")
    assert answer.status == (404 if dialect is Dialect.V0_9 else 200)
    if dialect is not Dialect.V0_9:
        assert list(answer.json) == FIELDS


async def test_they_are_some_kilobytes_of_base64_and_never_change(
    network: Network, client: Client, clock: StandingClock
) -> None:
    answer = await client.ask(network["scan-0.6"], f"{PATH}/global-domain")
    assert [len(base64.b64decode(text, validate=True)) for text in answer.json.values()] == [1_200, 6_000, 2_500]
    clock.advance(86_400)
    assert (await client.ask(network["scan-0.7.5"], f"{PATH}/global-domain")).json == answer.json


@pytest.mark.parametrize("prefix", ["other-domain", "global", "global-domain::1220ab"])
@pytest.mark.parametrize("dialect", ["document", "0.7.5"])
async def test_of_another_synchronizer_there_are_none(
    network: Network, client: Client, dialect: str, prefix: str
) -> None:
    answer = await client.ask(network[f"scan-{dialect}"], f"{PATH}/{prefix}")
    assert (answer.status, list(answer.json)) == (404, ["error"])
