"""The packages of a ledger, and who has vetted which."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from exporter.simulator.ledger.vetting import PACKAGE_NAMES
from exporter.simulator.world import templates
from exporter.simulator.world.rules_config import CYCLE, PACKAGES
from tests.simulator.conftest import Client, Reply, StandingClock, ledger

LIST = "/v2/package-vetting/list"
LISTING = [dialect for dialect in Dialect if dialect is not Dialect.V0_5_10]


def own(network: Network, dialect: str = "0.7.5") -> dict[str, Any]:
    return {"topologyStateFilter": {"participantIds": [ledger(network, dialect).participant.id]}}


def versions(reply: Reply, package: str) -> list[str]:
    assert reply.status == 200, reply.text
    [vettings] = reply.json["vettedPackages"]
    return [one["packageVersion"] for one in vettings["packages"] if one["packageName"] == package]


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_ledger_tells_its_packages_and_their_status(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    ids = (await client.ask(node, "/v2/packages")).json["packageIds"]
    assert templates.package_id("splice-amulet", -1) in ids
    assert len(ids) == len(set(ids)) > 30
    for package, status in ((ids[0], "REGISTERED"), ("12ab", "UNSPECIFIED")):
        answer = await client.ask(node, f"/v2/packages/{package}/status")
        assert answer.json == {"packageStatus": f"PACKAGE_STATUS_{status}"}


@pytest.mark.parametrize(
    ("dialect", "listed", "got"),
    [
        ("document", 200, 200),
        ("0.5.10", 404, 200),
        ("0.5", 200, 200),
        ("0.6", 200, 200),
        ("0.7.5", 200, 200),
        ("0.9", 200, 400),
    ],
)
async def test_vetting_is_listed_since_canton_3_4_12_and_got_until_3_6(
    network: Network, client: Client, dialect: str, listed: int, got: int
) -> None:
    node = ledger(network, dialect)
    assert (await client.ask(node, LIST, {})).status == listed
    answer = await client.ask(node, "/v2/package-vetting", {}, method="GET")
    assert answer.status == got
    if got == 400:
        assert answer.json["code"] == "DEPRECATED_API_DISABLED"
        assert (await client.ask(node, "/v2/package-vetting", {})).json == answer.json


async def test_a_participant_vets_all_that_the_votes_will_require(network: Network, client: Client) -> None:
    answer = await client.ask(ledger(network), LIST, own(network))
    for key, package in PACKAGE_NAMES.items():
        required = {PACKAGES[key], *(value for change in CYCLE for value in change.get(f"packageConfig.{key}", []))}
        assert required < set(versions(answer, package))
    assert versions(answer, "splice-amulet") == [f"0.1.{patch}" for patch in range(20, 27)]


async def test_a_version_may_have_ended_or_be_yet_to_begin(network: Network, client: Client) -> None:
    wanted = {"packageMetadataFilter": {"packageNamePrefixes": ["splice-wallet-payments"]}}
    answer = await client.ask(ledger(network), LIST, own(network) | wanted)
    [vettings] = answer.json["vettedPackages"]
    assert [
        (one["packageVersion"], one["validFromInclusive"], one["validUntilExclusive"]) for one in vettings["packages"]
    ] == [
        ("0.1.20", None, "2026-11-11T05:46:40.000000Z"),
        ("0.1.21", None, "2026-12-21T05:46:40.000000Z"),
        ("0.1.22", None, None),
        ("0.1.23", "2026-11-20T05:46:40.000000Z", None),
        ("0.1.24", "2026-11-28T05:46:40.000000Z", None),
    ]


@pytest.mark.parametrize("dialect", LISTING)
async def test_absent_bounds_are_nulls_on_the_network_only(network: Network, client: Client, dialect: Dialect) -> None:
    answer = await client.ask(ledger(network, dialect), LIST, {})
    assert ("null" in answer.text) == dialect.is_network


async def test_by_package_either_an_id_or_a_prefix_is_enough(network: Network, client: Client) -> None:
    node = ledger(network)
    package_id = templates.package_id("splice-amulet", -1)
    both = {"packageIds": [package_id], "packageNamePrefixes": ["splice-dso", "demo-"]}
    answer = await client.ask(node, LIST, own(network) | {"packageMetadataFilter": both})
    names = {one["packageName"] for one in answer.json["vettedPackages"][0]["packages"]}
    assert names == {"splice-amulet", "splice-dso-governance", "demo-pkg", "demo-trading", "demo-interfaces"}
    assert versions(answer, "splice-amulet") == ["0.1.23"]
    nothing = await client.ask(node, LIST, {"packageMetadataFilter": {"packageIds": ["12ab"]}})
    assert nothing.json == {"vettedPackages": [], "nextPageToken": ""}


async def test_without_a_filter_the_vetting_of_others_is_seen_too(network: Network, client: Client) -> None:
    node = ledger(network)
    vettings = (await client.ask(node, LIST, {})).json["vettedPackages"]
    assert [one["participantId"].split("::")[0] for one in vettings] == ["exchange", "sv-1", node.name]
    assert {one["synchronizerId"] for one in vettings} == {network.world.synchronizer}
    elsewhere = await client.ask(node, LIST, {"topologyStateFilter": {"synchronizerIds": ["app::12"]}})
    assert elsewhere.json["vettedPackages"] == []


async def test_the_vetting_on_a_synchronizer_left_is_still_told(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("ledger", Kind.LEDGER, left_synchronizer=True)], clock=clock) as network:
        wanted = {"topologyStateFilter": {"synchronizerIds": [network.world.old_synchronizer]}}
        [vettings] = (await client.ask(network["ledger"], LIST, wanted)).json["vettedPackages"]
    assert vettings["synchronizerId"] == network.world.old_synchronizer


async def test_vetting_comes_in_pages(network: Network, client: Client) -> None:
    node, seen, token = ledger(network), [], None
    whole = (await client.ask(node, LIST, {"pageSize": 100})).json["vettedPackages"]
    while token != "":
        page = (await client.ask(node, LIST, {"pageSize": 2, "pageToken": token})).json
        seen += page["vettedPackages"]
        token = page["nextPageToken"]
        assert len(seen) == (2 if token else 3)
    assert seen == whole


@pytest.mark.parametrize(
    ("body", "media"),
    [
        ({"pageSize": 101}, "application/json"),
        ({"pageSize": -1}, "application/json"),
        ({"pageToken": "other"}, "application/json"),
        ({"pageSize": "5"}, "text/plain"),
        ({"packageMetadataFilter": {"packageIds": [1]}}, "text/plain"),
        (b"", "text/plain"),
    ],
)
async def test_a_bad_request_for_vetting_is_a_400(network: Network, client: Client, body: Any, media: str) -> None:
    answer = await client.ask(ledger(network), LIST, body)
    assert (answer.status, answer.media) == (400, media)
    if media == "application/json":
        assert answer.json["code"] == "INVALID_ARGUMENT"


async def test_a_version_is_taken_away_by_hand_and_given_back(network: Network, client: Client) -> None:
    node = ledger(network)
    path = f"/nodes/{node.name}/vetting/splice-amulet/0.1.23"
    before = await client.ask(node, LIST, own(network))
    taken = await client.ask(network.control_url, path, method="DELETE")
    assert taken.json == {"package": "splice-amulet", "version": "0.1.23", "is_vetted": False}
    meanwhile = await client.ask(node, LIST, own(network))
    assert set(versions(before, "splice-amulet")) - set(versions(meanwhile, "splice-amulet")) == {"0.1.23"}
    assert templates.package_id("splice-amulet", -1) in (await client.ask(node, "/v2/packages")).json["packageIds"]
    assert (await client.ask(network.control_url, path, method="PUT")).json["is_vetted"]
    after = await client.ask(node, LIST, own(network))
    assert versions(after, "splice-amulet") == versions(before, "splice-amulet")
    serials = [reply.json["vettedPackages"][0]["topologySerial"] for reply in (before, meanwhile, after)]
    assert serials == [12, 13, 14]


@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        ("DELETE", "/nodes/ledger-0.9/vetting/splice-amulet/9.9.9", 404, "splice-amulet 9.9.9 is not vetted.\n"),
        ("PUT", "/nodes/ledger-0.9/vetting/demo-pkg/1.2.0", 404, "demo-pkg 1.2.0 was not taken away.\n"),
        (
            "DELETE",
            "/nodes/scan-0.9/vetting/demo-pkg/1.2.0",
            400,
            "Only a ledger can do this, and scan-0.9 is a scan.\n",
        ),
    ],
)
async def test_what_cannot_be_taken_or_given_back_is_refused(
    network: Network, client: Client, method: str, path: str, status: int, text: str
) -> None:
    answer = await client.ask(network.control_url, path, method=method)
    assert (answer.status, answer.text) == (status, text)
