"""The rules of the network, as votes change them."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Kind, Network, NodeSpec
from tests.simulator.conftest import START, Client, StandingClock
from tests.simulator.scans import RELEASES, scans

HOUR = 3600
RATE = "transferConfig.holdingFee.rate"
TO_THE_VOTE = HOUR - START % HOUR  # 800 seconds: votes fall on the hour


async def rules(client: Client, network: Network, dialect: str = "0.9", **body: Any) -> dict[str, Any]:
    name = "coin" if dialect == "document" else "amulet"
    answer = await client.ask(network[f"scan-{dialect}"], f"/v0/{name}-rules", body)
    assert answer.status == 200, answer.text
    assert list(answer.json) == [f"{name}_rules_update"]
    update = answer.json[f"{name}_rules_update"]
    assert isinstance(update, dict)
    return update


async def schedule(client: Client, network: Network) -> tuple[dict[str, str], list[tuple[str, dict[str, str]]]]:
    """The configuration of the contract, and the later ones with their times; each as its values by dotted path."""
    given = (await rules(client, network))["contract"]["payload"]["configSchedule"]
    return flat(given["initialValue"]), [(later["_1"], flat(later["_2"])) for later in given["futureValues"]]


def flat(config: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in config.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def changed(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    assert before.keys() == after.keys()
    return {path: value for path, value in after.items() if before[path] != value}


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_rules_have_another_name_in_the_document(network: Network, client: Client, dialect: Dialect) -> None:
    statuses = [
        (await client.ask(network[f"scan-{dialect}"], f"/v0/{name}-rules", {})).status for name in ("amulet", "coin")
    ]
    assert statuses == ([200, 404] if dialect.is_network else [404, 200])


@pytest.mark.parametrize("dialect", Dialect)
async def test_all_scans_show_the_same_contract(network: Network, client: Client, dialect: Dialect) -> None:
    update = await rules(client, network, dialect)
    assert update["domain_id"] == network.world.synchronizer
    contract = update["contract"]
    assert contract["contract_id"] == (await rules(client, network, "0.5"))["contract"]["contract_id"]
    assert contract["created_at"] == "2026-11-21T05:00:00.000000Z"
    package, name = contract["template_id"].split(":", 1)
    assert name == "Splice.AmuletRules:AmuletRules"
    assert (package == "splice-amulet") == (dialect is Dialect.DOCUMENT)
    config = contract["payload"]["configSchedule"]["initialValue"]
    assert config["decentralizedSynchronizer"]["requiredSynchronizers"]["map"] == [[network.world.synchronizer, {}]]
    # Absent values are nulls on the network, and nothing in the document.
    assert ("transferPreapprovalFee" in config) == dialect.is_network
    assert ("contractStateSchemaVersion" in contract["payload"]) == dialect.is_network


@pytest.mark.parametrize("dialect", Dialect)
async def test_who_has_the_contract_already_does_not_get_it_again(
    network: Network, client: Client, dialect: Dialect
) -> None:
    name = dialect.rules
    held = (await rules(client, network, dialect))["contract"]["contract_id"]
    again = await rules(client, network, dialect, **{f"cached_{name}_contract_id": held})
    assert again == ({"contract": None} if dialect.is_network else {}) | {"domain_id": network.world.synchronizer}
    other = {f"cached_{name}_contract_id": "00ff", f"cached_{name}_domain_id": network.world.synchronizer}
    assert (await rules(client, network, dialect, **other))["contract"]["contract_id"] == held


async def test_a_request_for_rules_is_an_object(network: Network, client: Client) -> None:
    for body in (b"", b"[]", {"cached_amulet_rules_contract_id": 1}):
        answer = await client.ask(network["scan-0.9"], "/v0/amulet-rules", body, method="POST")
        assert (answer.status, list(answer.json)) == (400, ["error"])


@pytest.mark.parametrize("release", RELEASES)
async def test_a_validator_shows_the_rules_in_a_shape_of_its_own(
    clock: StandingClock, client: Client, release: Dialect
) -> None:
    path = "/v0/scan-proxy/amulet-rules"
    specs = [NodeSpec("validator", Kind.VALIDATOR, release, token="secret"), NodeSpec("scan-0.9", Kind.SCAN)]
    async with Network(specs, clock=clock) as network:
        assert (await client.ask(network["validator"], path)).status == 401
        answer = (await client.ask(network["validator"], path, token="secret")).json
        assert answer == {"amulet_rules": await rules(client, network)}


async def test_the_documents_validator_has_no_rules(network: Network, client: Client) -> None:
    assert (await client.ask(network["validator-document"], "/v0/scan-proxy/amulet-rules")).status == 404


# Votes


async def test_every_interval_a_vote_replaces_the_contract_and_schedules_a_change(
    network: Network, client: Client, clock: StandingClock
) -> None:
    ids: set[str] = set()
    everything: set[str] = set()
    clock.advance(TO_THE_VOTE - HOUR)
    for _ in range(20):
        contract = (await rules(client, network))["contract"]
        now, [(due, later)] = await schedule(client, network)
        ids.add(contract["contract_id"])
        assert 1 <= len(changed(now, later)) <= 2
        assert due > contract["created_at"]
        everything |= changed(now, later).keys()
        clock.advance(HOUR / 2)
        assert (await rules(client, network))["contract"] == contract, "what becomes due is in the contract already"
        clock.advance(HOUR / 2)
        voted, _ = await schedule(client, network)
        assert 1 <= len(changed(later, voted)) <= 2
        everything |= changed(later, voted).keys()
    assert len(ids) == 20
    assert {RATE, "packageConfig.amulet", "decentralizedSynchronizer.fees.extraTrafficPrice"} <= everything


async def test_a_scheduled_change_is_due_half_an_interval_after_the_vote(
    network: Network, client: Client, clock: StandingClock
) -> None:
    clock.advance(TO_THE_VOTE)
    assert (await rules(client, network))["contract"]["created_at"] == "2026-11-21T06:00:00.000000Z"
    _, [(due, _)] = await schedule(client, network)
    assert due == "2026-11-21T06:30:00.000000Z"


async def test_votes_come_at_another_pace_if_told(clock: StandingClock, client: Client) -> None:
    async with Network([NodeSpec("scan-0.9", Kind.SCAN)], clock=clock, rules_interval=60) as network:
        ids = set()
        for _ in range(3):
            ids.add((await rules(client, network))["contract"]["contract_id"])
            clock.advance(60)
    assert len(ids) == 3


async def test_years_of_votes_are_no_work(clock: StandingClock, client: Client) -> None:
    async with scans(clock, rules_interval=60) as network:
        clock.advance(5 * 365 * 24 * HOUR)
        assert len(list(network.world.rules._regular())) < 20


# By hand


async def test_a_vote_by_hand_changes_the_rules_at_once(network: Network, client: Client, clock: StandingClock) -> None:
    clock.advance(0.25)
    before, before_later = await schedule(client, network)
    held = (await rules(client, network))["contract"]["contract_id"]
    network.world.vote({RATE: "0.5", "transferPreapprovalFee": "2.0"})
    contract = (await rules(client, network))["contract"]
    assert contract["contract_id"] != held
    assert contract["created_at"] == "2026-11-21T05:46:40.250000Z"
    now, later = await schedule(client, network)
    [(_, due_already)] = before_later
    assert changed(due_already, now) == {RATE: "0.5", "transferPreapprovalFee": "2.0"}
    assert later == []
    assert before[RATE] != "0.5"


async def test_a_vote_by_hand_may_be_for_later(network: Network, client: Client, clock: StandingClock) -> None:
    clock.advance(TO_THE_VOTE)
    network.world.vote({RATE: "0.5"}, due=clock() + 5400)
    now, [(half_past, regular), (due, by_hand)] = await schedule(client, network)
    assert now[RATE] == regular[RATE] != by_hand[RATE] == "0.5"
    assert (half_past, due) == ("2026-11-21T06:30:00.000000Z", "2026-11-21T07:30:00.000000Z")
    clock.advance(HOUR)
    _, at_seven = await schedule(client, network)
    assert at_seven[-1][1][RATE] == "0.5", "the next contract holds it too"
    clock.advance(HOUR)
    now, _ = await schedule(client, network)
    assert now[RATE] == "0.5"


async def test_votes_by_hand_at_the_same_moment_all_count(network: Network, client: Client) -> None:
    ids = set()
    for rate in ("0.1", "0.2"):
        network.world.vote({RATE: rate})
        ids.add((await rules(client, network))["contract"]["contract_id"])
    assert len(ids) == 2
    assert (await schedule(client, network))[0][RATE] == "0.2"


async def test_a_vote_for_the_past_is_refused(network: Network, clock: StandingClock) -> None:
    with pytest.raises(ValueError, match="only later than now"):
        network.world.vote({RATE: "0.5"}, due=clock())


async def test_control_takes_a_vote(network: Network, client: Client) -> None:
    answer = await client.ask(network.control_url, "/rules", {"changes": {RATE: "0.5"}})
    assert answer.status == 200
    assert answer.json == (await rules(client, network))["contract"]
    assert (await schedule(client, network))[0][RATE] == "0.5"
    await client.ask(network.control_url, "/rules", {"changes": {RATE: "0.6"}, "due_in": 60})
    now, [(due, later)] = await schedule(client, network)
    assert (now[RATE], later[RATE], due) == ("0.5", "0.6", "2026-11-21T05:47:40.000000Z")


VOTE = (
    'A vote is a JSON object of "changes" (dotted paths to values), optionally "due_in" (seconds, up to a year) '
    "and nothing else."
)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", VOTE),
        ({RATE: "0.5"}, VOTE),
        ({"changes": {RATE: "0.5"}, "due": 5}, VOTE),
        ({"changes": {RATE: "0.5"}, "due_in": 0}, VOTE),
        ({"changes": {RATE: "0.5"}, "due_in": "60"}, VOTE),
        ({"changes": {RATE: "0.5"}, "due_in": 1e300}, VOTE),
        ({"changes": {}}, "A vote is to change something."),
        (
            {"changes": {"transferConfig.holdingFee": "0.5"}},
            f"The configuration has no value at 'transferConfig.holdingFee', such as there is at {RATE!r}.",
        ),
        ({"changes": {"a.b": "0.5"}}, f"The configuration has no value at 'a.b', such as there is at {RATE!r}."),
        (
            {"changes": {RATE: 0.5}},
            f"The value at {RATE!r} is to be a string, as all numbers of the configuration are, or null.",
        ),
    ],
)
async def test_control_refuses_a_bad_vote_with_a_sentence(
    network: Network, client: Client, body: Any, sentence: str
) -> None:
    before = await rules(client, network)
    answer = await client.ask(network.control_url, "/rules", body)
    assert (answer.status, answer.text) == (400, sentence + "\n")
    assert await rules(client, network) == before
