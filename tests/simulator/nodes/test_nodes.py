"""What each kind of node answers, in each dialect."""

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from tests.simulator.conftest import Client, StandingClock

RELEASES = [dialect for dialect in Dialect if dialect is not Dialect.DOCUMENT]
SPLICE = ["scan", "validator"]
STATE = ["ledger-end", "latest-pruned-offsets", "connected-synchronizers"]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", Kind)
async def test_every_node_of_the_network_is_alive_and_ready(
    network: Network, client: Client, kind: Kind, release: Dialect
) -> None:
    node = network[f"{kind}-{release}"]
    assert (await client.ask(node, "/livez")).status == 200
    ready = await client.ask(node, "/readyz")
    assert ready.status == 200
    assert ready.text == ("[+] ledger ok (SERVING)\nreadyz check passed\n" if kind == "ledger" else "")


@pytest.mark.parametrize("kind", Kind)
async def test_of_the_health_checks_the_document_has_only_the_scans_livez(
    network: Network, client: Client, kind: Kind
) -> None:
    statuses = [(await client.ask(network[f"{kind}-document"], path)).status for path in ("/livez", "/readyz")]
    assert statuses == ([200, 404] if kind == "scan" else [404, 404])


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("document", {"dummy": True}),
        ("0.5", {"no_holding_fees_on_transfers": False}),
        ("0.6", {"dummy": None}),
        ("0.7.5", {"dummy": None}),
        ("0.9", {"dummy": None}),
    ],
)
async def test_feature_support_is_spelt_in_three_ways(
    network: Network, client: Client, dialect: str, answer: object
) -> None:
    assert (await client.ask(network[f"scan-{dialect}"], "/v0/feature-support")).json == answer


@pytest.mark.parametrize("kind", SPLICE)
async def test_splice_apps_say_their_release_and_status(
    network: Network, client: Client, clock: StandingClock, kind: str
) -> None:
    clock.advance(60)
    node = network[f"{kind}-0.6"]
    assert (await client.ask(node, "/version")).json["version"] == "0.6.1"
    success = (await client.ask(node, "/status")).json["success"]
    assert success["active"]
    assert success["uptime"] == "PT60S"
    assert success["extra"] is None


@pytest.mark.parametrize("kind", SPLICE)
@pytest.mark.parametrize("path", ["/status", "/version"])
async def test_the_document_has_neither_status_nor_version(
    network: Network, client: Client, kind: str, path: str
) -> None:
    assert (await client.ask(network[f"{kind}-document"], path)).status == 404


@pytest.mark.parametrize("kind", SPLICE)
async def test_an_unknown_path_of_a_splice_app_is_a_json_404(network: Network, client: Client, kind: str) -> None:
    answer = await client.ask(network[f"{kind}-0.9"], "/v0/nothing")
    assert answer.status == 404
    assert answer.json == {"error": f"The requested resource could not be found: /api/{kind}/v0/nothing"}


async def test_an_unknown_path_of_a_ledger_is_a_404_in_plain_text(network: Network, client: Client) -> None:
    answer = await client.ask(network["ledger-0.9"], "/v2/nothing")
    assert (answer.status, answer.media) == (404, "text/plain")


async def test_the_wrong_method_is_a_405(network: Network, client: Client) -> None:
    assert (await client.ask(network["ledger-0.9"], "/v2/updates")).status == 405


async def test_a_ledger_says_how_long_a_checkpoint_may_take(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("ledger", Kind.LEDGER)], clock=clock, checkpoint_interval=2.5) as network:
        version = (await client.ask(network["ledger"], "/v2/version")).json
    assert version["version"] == "3.6.1"
    delay = version["features"]["offsetCheckpoint"]["maxOffsetCheckpointEmissionDelay"]
    assert (delay["seconds"], delay["nanos"]) == (62, 500_000_000)


@pytest.mark.parametrize(
    ("dialect", "canton"), [("0.5.10", "3.4.11"), ("0.5", "3.4.12"), ("0.6", "3.5.1"), ("0.7.5", "3.5.15")]
)
async def test_a_ledger_says_its_canton_version(network: Network, client: Client, dialect: str, canton: str) -> None:
    assert (await client.ask(network[f"ledger-{dialect}"], "/v2/version")).json["version"] == canton


async def test_the_documents_ledger_says_just_a_version(network: Network, client: Client) -> None:
    assert (await client.ask(network["ledger-document"], "/v2/version")).json == {"version": "3.5.14"}


@pytest.mark.parametrize("dialect", Dialect)
async def test_only_the_newest_ledger_end_has_times(network: Network, client: Client, dialect: Dialect) -> None:
    end = (await client.ask(network[f"ledger-{dialect}"], "/v2/state/ledger-end")).json
    assert ("synchronizerTimes" in end) == (dialect is Dialect.V0_9)


async def test_all_ledgers_are_connected_to_the_one_synchronizer(network: Network, client: Client) -> None:
    path = "/v2/state/connected-synchronizers"
    answers = [(await client.ask(network[f"ledger-{dialect}"], path)).json for dialect in Dialect]
    [[synchronizer]] = {tuple(one["synchronizerId"] for one in each["connectedSynchronizers"]) for each in answers}
    assert synchronizer == network.world.synchronizer


async def test_a_synchronizer_left_long_ago_keeps_its_time_but_is_not_connected(
    clock: StandingClock, client: Client
) -> None:
    spec = NodeSpec("ledger", Kind.LEDGER, Dialect.V0_9, left_synchronizer=True)
    async with Network([spec], clock=clock) as network:
        ledger, old = network["ledger"], network.world.old_synchronizer
        before = (await client.ask(ledger, "/v2/state/ledger-end")).json["synchronizerTimes"]
        clock.advance(3600)
        after = (await client.ask(ledger, "/v2/state/ledger-end")).json["synchronizerTimes"]
        connected = await client.ask(ledger, "/v2/state/connected-synchronizers")
    assert [times["synchronizerId"] for times in before] == [network.world.synchronizer, old]
    assert before[1] == after[1]
    assert before[0] != after[0]
    assert old not in connected.text


@pytest.mark.parametrize("path", STATE)
async def test_a_ledger_with_a_token_redacts_its_refusals(clock: StandingClock, client: Client, path: str) -> None:
    async with Network([NodeSpec("ledger", Kind.LEDGER, token="secret")], clock=clock) as network:
        missing = await client.ask(network["ledger"], f"/v2/state/{path}")
        wrong = await client.ask(network["ledger"], f"/v2/state/{path}", token="other")
        right = await client.ask(network["ledger"], f"/v2/state/{path}", token="secret")
    assert missing == wrong
    assert (missing.status, missing.json["code"], missing.json["grpcCodeValue"]) == (401, "NA", 16)
    assert missing.json["context"] == {"ledger_api_error": "invalid token"}
    assert "retryInfo" in missing.json
    assert missing.json["retryInfo"] is None
    assert right.status == 200


async def test_the_document_leaves_out_what_is_absent(clock: StandingClock, client: Client) -> None:
    spec = NodeSpec("ledger", Kind.LEDGER, Dialect.DOCUMENT, token="secret")
    async with Network([spec], clock=clock) as network:
        answer = await client.ask(network["ledger"], "/v2/state/ledger-end")
    assert answer.status == 401
    assert "retryInfo" not in answer.json


async def test_a_validator_with_a_token_refuses_in_plain_text(clock: StandingClock, client: Client) -> None:
    path = "/v0/scan-proxy/dso-party-id"
    async with Network([NodeSpec("validator", Kind.VALIDATOR, token="secret")], clock=clock) as network:
        refused = await client.ask(network["validator"], path)
        granted = await client.ask(network["validator"], path, token="secret")
    assert (refused.status, refused.media) == (401, "text/plain")
    assert granted.json == {"dso_party_id": network.world.dso_party}


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (Kind.LEDGER, "/livez"),
        (Kind.LEDGER, "/readyz"),
        (Kind.LEDGER, "/v2/version"),
        (Kind.VALIDATOR, "/livez"),
        (Kind.VALIDATOR, "/readyz"),
        (Kind.VALIDATOR, "/version"),
        (Kind.SCAN, "/v0/feature-support"),
    ],
)
async def test_health_version_and_all_of_scan_want_no_token(
    clock: StandingClock, client: Client, kind: Kind, path: str
) -> None:
    async with Network([NodeSpec("node", kind, token="secret")], clock=clock) as network:
        assert (await client.ask(network["node"], path)).status == 200
