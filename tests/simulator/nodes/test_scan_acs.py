"""Snapshots of the active contracts, page by page."""

import tracemalloc
from collections import Counter
from time import process_time
from typing import Any

import pytest

from exporter.simulator import Dialect, Network
from tests.simulator.conftest import Client, StandingClock
from tests.simulator.scans import AMULET, LATEST, OPERATIONS, VERSIONS, page, pages, scans

DSO_RULES = "splice-dso-governance:Splice.DsoRules:DsoRules"
ENTRIES = "splice-amulet-name-service:Splice.Ans:AnsEntry"


@pytest.mark.parametrize("dialect", Dialect)
async def test_each_dialect_has_its_versions_of_the_operation(
    network: Network, client: Client, dialect: Dialect
) -> None:
    answers = [await client.ask(network[f"scan-{dialect}"], f"/v{version}/state/acs", {}) for version in range(4)]
    assert [version for version, answer in enumerate(answers) if answer.status == 400] == VERSIONS[dialect]
    assert {answer.status for answer in answers} == {400, 404}


@pytest.mark.parametrize(("dialect", "version"), OPERATIONS)
async def test_the_pages_hold_every_contract_once_in_the_order_of_creation(
    clock: StandingClock, client: Client, dialect: Dialect, version: int
) -> None:
    async with scans(clock, contracts=250) as network:
        found = await pages(client, network, dialect, version, page_size=100)
    contracts = [contract for page in found for contract in page]
    assert [len(page) for page in found] == [100, 100, 50]
    assert len({contract["contract_id"] for contract in contracts}) == 250
    times = [contract["created_at"] for contract in contracts]
    assert times == sorted(times)
    assert times[-1] < "2026-11-21T03:00:00Z"


@pytest.mark.parametrize(("dialect", "version"), OPERATIONS)
async def test_a_full_last_page_is_followed_by_an_empty_one(
    clock: StandingClock, client: Client, dialect: Dialect, version: int
) -> None:
    async with scans(clock, contracts=200) as network:
        found = await pages(client, network, dialect, version, page_size=100)
    assert [len(page) for page in found] == [100, 100, 0]


async def test_of_no_contracts_there_is_one_empty_page(clock: StandingClock, client: Client) -> None:
    async with scans(clock, contracts=0) as network:
        assert await pages(client, network, "0.9", 2) == [[]]


async def test_the_network_says_what_is_absent_and_the_time_of_the_snapshot(
    clock: StandingClock, client: Client
) -> None:
    async with scans(clock, contracts=3) as network:
        answer = await page(client, network, "0.9", 2)
    [*_, newest] = answer.pop("created_events")
    assert answer == {"record_time": "2026-11-21T03:00:00Z", "migration_id": 4, "next_page_token": None}
    assert list(newest) == [
        "created_in_update_id",
        "contract_id",
        "template_id",
        "package_name",
        "create_arguments",
        "created_at",
        "signatories",
        "observers",
    ]


async def test_the_document_leaves_out_what_is_absent_and_repeats_the_time_of_the_request(
    clock: StandingClock, client: Client
) -> None:
    async with scans(clock, contracts=3) as network:
        answer = await page(client, network, "document", 2, record_time="2026-11-21T06:00:00.5+01:00")
        whole = (await client.ask(network["document"], "/v2/state/acs", answer | {"page_size": 3})).text
    [oldest, *_] = answer.pop("created_events")
    assert answer == {"record_time": "2026-11-21T06:00:00.5+01:00", "migration_id": 4}
    assert "created_in_update_id" not in oldest
    assert "null" not in whole


@pytest.mark.parametrize(("dialect", "version"), OPERATIONS)
async def test_an_element_is_an_event_in_v0_and_names_its_update_later(
    clock: StandingClock, client: Client, dialect: Dialect, version: int
) -> None:
    async with scans(clock, contracts=40) as network:
        [oldest, *_, newest] = (await page(client, network, dialect, version))["created_events"]
    assert ("event_id" in newest, newest.get("event_type")) == (
        (True, "created_event") if version == 0 else (False, None)
    )
    assert ("created_in_update_id" in newest) == (version > 0)
    assert oldest.get("created_in_update_id") is None, "it comes from an earlier migration"


async def test_the_network_names_the_very_package_and_the_document_only_its_name(
    clock: StandingClock, client: Client
) -> None:
    async with scans(clock, contracts=400) as network:
        real = (await page(client, network, "0.7.5", 0))["created_events"]
        documented = (await page(client, network, "document", 0))["created_events"]
    assert len({one["template_id"].partition(":")[0] for one in real if one["package_name"] == "splice-amulet"}) == 2
    assert {len(one["template_id"].partition(":")[0]) for one in real} == {64}
    assert {one["template_id"].partition(":")[0] for one in documented} == {one["package_name"] for one in real}
    for one, other in zip(real, documented, strict=True):
        assert one["contract_id"] == other["contract_id"]
        assert one["template_id"].partition(":")[2] == other["template_id"].partition(":")[2]


async def test_contracts_are_of_many_templates_with_much_in_them_that_misleads_a_careless_reader(
    clock: StandingClock, client: Client
) -> None:
    async with scans(clock, contracts=1000) as network:
        answer = await client.ask(network["document"], "/v0/state/acs", LATEST | {"page_size": 1000})
        raw = (await client.ask(network["0.9"], "/v2/state/acs", LATEST | {"page_size": 1000})).text
    counted = Counter(one["template_id"] for one in answer.json["created_events"])
    assert len(counted) >= 12
    assert counted[AMULET] > 400
    assert counted[DSO_RULES] == 1
    assert '"context":{"template_id":"' in raw
    assert r"\"template_id\": \"" in raw
    assert "🚀" in raw
    assert 800 < len(raw.encode()) / 1000 < 1500


# Filters


@pytest.mark.parametrize(("dialect", "version"), [("document", 0), ("0.6", 1), ("0.9", 2)])
async def test_templates_and_parties_filter_alone_and_together(
    clock: StandingClock, client: Client, dialect: str, version: int
) -> None:
    async with scans(clock, contracts=2500) as network:

        async def walk(**body: Any) -> list[dict[str, Any]]:
            return [one for page in await pages(client, network, dialect, version, **body) for one in page]

        everything = await walk()
        [party] = everything[-1]["signatories"][1:]
        entries = [one for one in everything if one["template_id"].endswith(":Splice.Ans:AnsEntry")]
        theirs = [one for one in everything if party in one["signatories"] + one["observers"]]
        assert any(party in one["observers"] for one in theirs)
        assert await walk(templates=[ENTRIES], page_size=7) == entries
        assert await walk(templates=[ENTRIES, DSO_RULES], page_size=7) == [everything[0], *entries]
        assert await walk(party_ids=[party], page_size=7) == theirs
        both = [one for one in theirs if ":Splice.Amulet:Amulet" in one["template_id"]]
        assert await walk(party_ids=[party], templates=[AMULET], page_size=7) == both
        assert both


async def test_the_dso_sees_every_contract_and_a_stranger_none(clock: StandingClock, client: Client) -> None:
    async with scans(clock, contracts=30) as network:
        everything = await pages(client, network, "0.9", 2)
        assert await pages(client, network, "0.9", 2, party_ids=[network.world.dso_party]) == everything
        assert await pages(client, network, "0.9", 2, party_ids=["stranger::1220"]) == [[]]
        assert await pages(client, network, "0.9", 2, templates=["no:Such:Template"]) == [[]]
        assert await pages(client, network, "0.9", 2, templates=[], party_ids=None) == everything


async def test_a_filtered_page_that_is_exactly_full_is_followed_by_an_empty_one_too(
    clock: StandingClock, client: Client
) -> None:
    async with scans(clock, contracts=30) as network:
        assert [len(one) for one in await pages(client, network, "0.9", 2, templates=[DSO_RULES], page_size=1)] == [
            1,
            0,
        ]


# Large


async def test_a_million_contracts_cost_no_more_than_a_page(clock: StandingClock, client: Client) -> None:
    first_row = 5_000_000_000
    tracemalloc.start()
    try:
        async with scans(clock, contracts=1_000_000) as network:
            began = process_time()
            [first, middle, last, end] = [
                await page(client, network, "0.7.5", 1, after=after, page_size=100)
                for after in (None, first_row + 499_999, first_row + 999_899, first_row + 999_999)
            ]
            rare = await page(client, network, "0.7.5", 1, templates=[DSO_RULES])
            [party] = last["created_events"][0]["signatories"][1:]
            theirs = await page(client, network, "0.7.5", 1, party_ids=[party], page_size=100)
            assert process_time() - began < 2
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert [len(one["created_events"]) for one in (first, middle, last, end, rare, theirs)] == [
        100,
        100,
        100,
        0,
        1,
        100,
    ]
    assert [one["next_page_token"] for one in (first, middle, last, end)] == [
        first_row + 99,
        first_row + 500_099,
        first_row + 999_999,
        None,
    ]
    times = [one["created_at"] for each in (first, middle, last) for one in each["created_events"]]
    assert times == sorted(times)


async def test_in_the_document_a_page_may_be_of_any_size_but_is_given_in_parts(
    clock: StandingClock, client: Client
) -> None:
    async with scans(clock, contracts=2_001) as network:
        found = await pages(client, network, "document", 2, page_size=2**31 - 1)
    assert [len(page) for page in found] == [2_000, 1]
