"""What the operations on snapshots refuse, and in which words."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import Client, StandingClock
from tests.simulator.scans import LATEST, OPERATIONS, RELEASES, page, scans

TIMESTAMP = "/v0/state/acs/snapshot-timestamp"


async def refusal(client: Client, network: Network, dialect: str, body: Any, version: int = 2) -> tuple[int, str]:
    answer = await client.ask(network[f"scan-{dialect}"], f"/v{version}/state/acs", body)
    assert answer.media == "application/json"
    assert list(answer.json) == ["error"]
    return answer.status, answer.json["error"]


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"{", "malformed"),
        (b"\xff", "malformed"),
        ([], "expected an object"),
        ({"migration_id": None}, "Missing required field: DownField(migration_id)"),
        ({"record_time": None}, "Missing required field: DownField(record_time)"),
        ({"page_size": None}, "Missing required field: DownField(page_size)"),
        ({"migration_id": "4"}, "wrong type: DownField(migration_id)"),
        ({"page_size": True}, "wrong type: DownField(page_size)"),
        ({"page_size": 2**31}, "too large"),
        ({"record_time": "yesterday"}, "'yesterday' could not be parsed"),
        ({"record_time": "2026-11-21T03:00:00"}, "could not be parsed"),
        ({"record_time": "2026-13-21T03:00:00Z"}, "could not be parsed"),
        ({"record_time_match": "after"}, "record_time_match"),
        ({"party_ids": "alice"}, "wrong type: DownField(party_ids)"),
        ({"party_ids": [1]}, "expected strings"),
    ],
)
@pytest.mark.parametrize("dialect", ["document", "0.9"])
async def test_what_makes_no_sense_is_a_400(
    network: Network, client: Client, dialect: str, body: Any, word: str
) -> None:
    given = LATEST | {"page_size": 10} | body if isinstance(body, dict) else body
    status, error = await refusal(client, network, dialect, given)
    assert status == 400
    assert word in error


@pytest.mark.parametrize(
    ("size", "error"),
    [
        (2000, "Exceeded limit maximum (2000 > 1000)."),
        (1001, "Exceeded limit maximum (1001 > 1000)."),
        (0, "Limit must be at least 1."),
        (-1, "Limit must be at least 1."),
    ],
)
@pytest.mark.parametrize("dialect", RELEASES)
async def test_on_the_network_a_page_holds_1_to_1000(
    network: Network, client: Client, dialect: Dialect, size: int, error: str
) -> None:
    version = 2 if dialect is Dialect.V0_9 else 0
    assert await refusal(client, network, dialect, LATEST | {"page_size": size}, version) == (400, error)


@pytest.mark.parametrize(("dialect", "status"), [("document", 200), ("0.7.5", 400)])
async def test_a_malformed_template_is_refused_on_the_network_only(
    network: Network, client: Client, dialect: str, status: int
) -> None:
    body = LATEST | {"page_size": 10, "templates": ["Splice.Amulet:Amulet"]}
    answer = await client.ask(network[f"scan-{dialect}"], "/v0/state/acs", body)
    assert answer.status == status
    assert status == 400 or answer.json["created_events"] == []


@pytest.mark.parametrize("field", ["templates", "party_ids"])
@pytest.mark.parametrize(("dialect", "status"), [("0.7.5", 200), ("0.9", 400), ("document", 200)])
async def test_lists_are_capped_since_0_9(
    network: Network, client: Client, dialect: str, status: int, field: str
) -> None:
    body = LATEST | {"page_size": 10, field: [f"a:b:{number}" for number in range(1001)]}
    assert (await client.ask(network[f"scan-{dialect}"], "/v2/state/acs", body)).status == status


# Tokens


@pytest.mark.parametrize(("dialect", "version"), OPERATIONS)
async def test_tokens_are_whole_numbers_before_v2_and_strings_since(
    clock: StandingClock, client: Client, dialect: Dialect, version: int
) -> None:
    async with scans(clock) as network:
        token = (await page(client, network, dialect, version, page_size=5))["next_page_token"]
        other: Any = 5_000_000_004 if version == 2 else str(token)
        body = LATEST | {"page_size": 5, "after": other}
        answer = await client.ask(network[dialect], f"/v{version}/state/acs", body)
    assert isinstance(token, str if version == 2 else int)
    assert (answer.status, list(answer.json)) == (400, ["error"])


@pytest.mark.parametrize(
    ("version", "token"),
    [
        (0, 0),
        (0, -1),
        (1, 4_999_999_999),
        (1, 5_000_003_000),
        (2, ""),
        (2, "5000000004"),
        (2, "!"),
        (2, "é"),
        (2, "NC8xNzk1MjI5OTk5LzUwMDAwMDAwMDk"),  # of another snapshot
    ],
)
async def test_a_token_that_was_not_given_is_refused(
    network: Network, client: Client, version: int, token: int | str
) -> None:
    body = LATEST | {"page_size": 10, "after": token}
    expected = (400, "Invalid after token, outside of snapshot range")
    assert await refusal(client, network, "0.7.5", body, version) == expected


async def test_a_token_leads_on_with_another_page_size_but_not_in_another_snapshot(
    clock: StandingClock, client: Client
) -> None:
    async with scans(clock) as network:
        whole = (await page(client, network, "0.9", 2, page_size=20))["created_events"]
        token = (await page(client, network, "0.9", 2, page_size=5))["next_page_token"]
        assert (await page(client, network, "0.9", 2, page_size=15, after=token))["created_events"] == whole[5:]
        clock.advance(3600)
        body = LATEST | {"page_size": 5, "after": token}
        assert (await client.ask(network["0.9"], "/v2/state/acs", body)).status == 400


# Snapshots that there are not


@pytest.mark.parametrize("dialect", ["document", "0.7.5"])
async def test_exact_is_the_default_and_wants_the_very_time(network: Network, client: Client, dialect: str) -> None:
    body = {"migration_id": 4, "page_size": 10}
    for time in ("2026-11-21T03:00:00Z", "2026-11-21T03:00:00.000000Z", "2026-11-21T04:00:00+01:00"):
        answer = await client.ask(network[f"scan-{dialect}"], "/v2/state/acs", body | {"record_time": time})
        assert answer.status == 200
        assert answer.json["record_time"] == (time if dialect == "document" else "2026-11-21T03:00:00Z")
    for time in ("2026-11-21T03:00:00.000001Z", "2026-11-21T06:00:00Z", "2026-11-21T02:59:59Z"):
        expected = (404, f"Failed to find ACS snapshot for migration id 4 at {time}")
        assert await refusal(client, network, dialect, body | {"record_time": time}) == expected


async def test_before_the_first_snapshot_and_in_no_migration_there_is_none(network: Network, client: Client) -> None:
    early = LATEST | {"page_size": 10, "record_time": "2020-01-01T00:00:00Z"}
    missing = (404, "No snapshots found before 2020-01-01T00:00:00Z")
    assert await refusal(client, network, "0.9", early) == missing
    assert (await refusal(client, network, "0.9", LATEST | {"page_size": 10, "migration_id": 5}))[0] == 404
    exact = early | {"migration_id": 5, "record_time_match": "exact"}
    unknown = (404, "Failed to find ACS snapshot for migration id 5 at 2020-01-01T00:00:00Z")
    assert await refusal(client, network, "0.9", exact) == unknown


@pytest.mark.parametrize("dialect", RELEASES)
async def test_the_time_of_a_snapshot_is_found_inclusively(network: Network, client: Client, dialect: Dialect) -> None:
    node = network[f"scan-{dialect}"]
    for before, found in (("03:00:00Z", "2026-11-21T03:00:00Z"), ("02:59:59.999Z", "2026-11-21T00:00:00Z")):
        answer = await client.ask(node, f"{TIMESTAMP}?before=2026-11-21T{before}&migration_id=4")
        assert answer.json == {"record_time": found}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("before=2020-01-01T00:00:00Z&migration_id=4", (404, "No snapshots found before 2020-01-01T00:00:00Z")),
        ("before=2026-11-21T03:00:00Z&migration_id=5", (404, "No snapshots found before 2026-11-21T03:00:00Z")),
        ("migration_id=4", (400, "Request is missing required query parameter 'before'")),
        ("before=2026-11-21T03:00:00Z", (400, "Request is missing required query parameter 'migration_id'")),
    ],
)
async def test_a_snapshots_time_is_refused_in_these_words(
    network: Network, client: Client, query: str, expected: tuple[int, str]
) -> None:
    answer = await client.ask(network["scan-0.9"], f"{TIMESTAMP}?{query}")
    assert (answer.status, answer.json["error"]) == expected


@pytest.mark.parametrize("query", ["before=now&migration_id=4", "before=2026-11-21T03:00:00Z&migration_id=x"])
async def test_a_parameter_that_cannot_be_read_is_a_400(network: Network, client: Client, query: str) -> None:
    answer = await client.ask(network["scan-0.9"], f"{TIMESTAMP}?{query}")
    assert (answer.status, list(answer.json)) == (400, ["error"])
