"""Which migrations a scan knows, and how far it has come."""

from datetime import datetime

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import Client, StandingClock
from tests.simulator.scans import RELEASES

INFO = "/v0/backfilling/migration-info"


@pytest.mark.parametrize("dialect", Dialect)
async def test_only_newer_releases_name_the_last_migration(network: Network, client: Client, dialect: Dialect) -> None:
    answer = await client.ask(network[f"scan-{dialect}"], "/v0/migrations/last")
    if dialect in (Dialect.V0_7_5, Dialect.V0_9):
        assert answer.json == {"migration_id": 4}
    else:
        assert answer.status == 404


@pytest.mark.parametrize("dialect", RELEASES)
async def test_the_record_times_of_the_last_migration_go_up_to_now(
    network: Network, client: Client, clock: StandingClock, dialect: Dialect
) -> None:
    for _ in range(3):
        clock.advance(100)
        info = (await client.ask(network[f"scan-{dialect}"], INFO, {"migration_id": 4})).json
        [times] = info.pop("record_time_range")
        assert info == {
            "previous_migration_id": 3,
            "last_import_update_id": None,
            "complete": True,
            "import_updates_complete": True,
        }
        assert times["synchronizer_id"] == network.world.synchronizer
        assert 0 < clock() - datetime.fromisoformat(times["max"]).timestamp() < 3


async def test_the_migration_before_it_has_ended(network: Network, client: Client, clock: StandingClock) -> None:
    last = (await client.ask(network["scan-0.9"], INFO, {"migration_id": 4})).json
    ended = (await client.ask(network["scan-0.9"], INFO, {"migration_id": 3})).json
    clock.advance(3600)
    assert (await client.ask(network["scan-0.9"], INFO, {"migration_id": 3})).json == ended
    assert ended["previous_migration_id"] is None
    assert ended["record_time_range"][0]["max"] < last["record_time_range"][0]["min"]


async def test_of_other_migrations_there_is_no_data(network: Network, client: Client) -> None:
    for number in (2, 5):
        answer = await client.ask(network["scan-0.9"], INFO, {"migration_id": number})
        assert (answer.status, answer.json) == (404, {"error": f"No data for migration {number}"})
    assert (await client.ask(network["scan-0.9"], INFO, {})).status == 400


async def test_the_document_knows_nothing_of_migrations_or_the_times_of_snapshots(
    network: Network, client: Client
) -> None:
    node = network["scan-document"]
    assert (await client.ask(node, INFO, {"migration_id": 4})).status == 404
    answer = await client.ask(node, "/v0/state/acs/snapshot-timestamp?before=2026-11-21T03:00:00Z&migration_id=4")
    assert "could not be found" in answer.json["error"]
