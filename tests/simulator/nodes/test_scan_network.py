"""The scans and the sequencers of the super validators, as a scan lists them."""

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import Client, StandingClock


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_network_lists_them_and_the_document_does_not(
    network: Network, client: Client, dialect: Dialect
) -> None:
    statuses = {
        (await client.ask(network[f"scan-{dialect}"], path)).status for path in ("/v0/scans", "/v0/dso-sequencers")
    }
    assert statuses == ({200} if dialect.is_network else {404})


async def test_every_super_validator_has_a_scan(network: Network, client: Client) -> None:
    answer = (await client.ask(network["scan-0.9"], "/v0/scans")).json
    [each] = answer["scans"]
    assert each["domainId"] == network.world.synchronizer
    assert [scan["svName"] for scan in each["scans"]] == [sv.name for sv in network.world.svs.values()]
    assert each["scans"][0]["publicUrl"] == "https://scan.sv-1.example"


@pytest.mark.parametrize(("dialect", "migration"), [("0.5", 4), ("0.6", -1), ("0.7.5", -1), ("0.9", -1)])
async def test_a_sequencer_belongs_to_a_migration_or_since_0_6_to_a_serial(
    network: Network, client: Client, clock: StandingClock, dialect: str, migration: int
) -> None:
    network.world.announce_upgrade(clock() + 60)
    for serial in (5, 6):
        answer = (await client.ask(network[f"scan-{dialect}"], "/v0/dso-sequencers")).json
        [each] = answer["domainSequencers"]
        assert each["domainId"] == network.world.synchronizer
        assert {one["migrationId"] for one in each["sequencers"]} == {migration}
        told = {one.get("synchronizerSerial") for one in each["sequencers"]}
        assert told == ({None} if dialect == "0.5" else {serial})
        assert [one["id"].split("::1220")[0] for one in each["sequencers"]] == ["SEQ::sv-1", "SEQ::sv-2", "SEQ::sv-3"]
        clock.advance(60)
