"""coin_rules: the rules in force, by both of their names, and each change told once."""

import copy
import json
from hashlib import sha256
from typing import Any

import pytest

from exporter.collectors.coin_rules import coin_rules
from tests.conftest import FakeClock, Lines
from tests.nodes import NO_ROUTE, TestNode

DUE = "2026-11-21T06:00:00Z"  # 800 s from NOW
CONFIG: dict[str, Any] = {
    "tickDuration": {"microseconds": "600000000"},
    "transferConfig": {
        "holdingFee": {"rate": "0.0000190259"},
        "transferFee": {"steps": []},
        "tokenStandardMaxTTL": None,
    },
    "decentralizedSynchronizer": {"requiredSynchronizers": {"map": [["global-domain::12", {}]]}},
    "packageConfig": {"amulet": "0.1.23", "walletPayments": "0.1.9", "somethingNew": "1.0"},
}
VALUES = [
    'canton_coin_rules_config_value{field="tickDuration.microseconds"} 6e+08',
    'canton_coin_rules_config_value{field="transferConfig.holdingFee.rate"} 1.90259e-05',
]


def contract(config: dict[str, Any], contract_id: str = "00ar1", future: Any = (), **more: Any) -> dict[str, Any]:
    schedule = {"initialValue": config, "futureValues": future}
    said = {
        "template_id": "f00d:Splice.AmuletRules:AmuletRules",
        "contract_id": contract_id,
        "payload": {"dso": "DSO::12", "isDevNet": False, "configSchedule": schedule},
        "created_event_blob": "Cg==",
        "created_at": "2026-11-01T00:00:00Z",
    }
    return {**said, **more}


def changed(**fees: str) -> dict[str, Any]:
    config = copy.deepcopy(CONFIG)
    config["transferConfig"].update({name: {"rate": rate} for name, rate in fees.items()})
    return config


def hashed(config: dict[str, Any]) -> str:
    plain = copy.deepcopy(config)
    plain["transferConfig"] = {key: value for key, value in plain["transferConfig"].items() if value is not None}
    return sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def tell(node: TestNode, contract: dict[str, Any] | None, known: str = "", domain: str | None = "global::12") -> None:
    body = {"cached_amulet_rules_contract_id": known} if known else {}
    node.post("/v0/amulet-rules", body, answers={"amulet_rules_update": {"contract": contract, "domain_id": domain}})


def answer_well(node: TestNode) -> None:
    tell(node, contract(CONFIG, future=[{"_1": DUE, "_2": CONFIG}]))
    tell(node, None, "00ar1")


async def test_says_what_the_rules_are(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    assert await lines(coin_rules) == [
        f'canton_coin_rules_info{{config_sha256="{hashed(CONFIG)}",contract_id="00ar1",synchronizer="global::12",'
        'template="splice-amulet:Splice.AmuletRules:AmuletRules"} 1.0',
        "canton_coin_rules_created_timestamp_seconds 1.7934912e+09",
        "canton_coin_rules_changes_total 0.0",
        'canton_coin_rules_required_package_info{package="splice-amulet",version="0.1.23"} 1.0',
        'canton_coin_rules_required_package_info{package="splice-wallet-payments",version="0.1.9"} 1.0',
        'canton_coin_rules_required_package_info{package="somethingNew",version="1.0"} 1.0',
        *VALUES,
    ]
    assert not lines.run.news


async def test_asks_by_the_documents_name_where_the_node_has_not_the_networks(node: TestNode, lines: Lines) -> None:
    node.post("/v0/amulet-rules", {}, status=404, answers=NO_ROUTE)
    said = contract(CONFIG, template_id="splice-amulet:Splice.AmuletRules:AmuletRules")
    node.post("/v0/coin-rules", {}, answers={"coin_rules_update": {"contract": said, "domain_id": "d"}})
    unchanged = {"coin_rules_update": {"domain_id": "d"}}
    node.post("/v0/coin-rules", {"cached_coin_rules_contract_id": "00ar1"}, answers=unchanged)
    first = await lines(coin_rules)
    assert 'synchronizer="d",template="splice-amulet:Splice.AmuletRules:AmuletRules"' in first[0]
    assert await lines(coin_rules) == first
    assert len(node.requests) == 3, "the name that was right is asked for first"


async def test_an_answer_without_a_contract_means_unchanged(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    tell(node, None, "00ar1")
    first = await lines(coin_rules)
    for _ in range(3):
        assert await lines(coin_rules) == first
    assert not lines.run.news


async def test_where_the_rules_are_may_change_and_be_unknown_while_they_stay(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    tell(node, None, "00ar1", domain=None)
    await lines(coin_rules)
    assert 'synchronizer=""' in (await lines(coin_rules))[0]
    assert not lines.run.news


async def test_no_contract_is_no_answer_to_who_knows_none(node: TestNode, lines: Lines) -> None:
    tell(node, None)
    assert await lines(coin_rules) == [
        "malformed: POST /v0/amulet-rules: no contract, although the request named none as known"
    ]


async def test_a_change_is_counted_and_names_each_field_old_and_new(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    await lines(coin_rules)
    after = changed(holdingFee="0.00002", createFee="0.03")
    del after["packageConfig"]["somethingNew"]
    tell(node, contract(after, "00ar2"), "00ar1")
    second = await lines(coin_rules)
    assert "canton_coin_rules_changes_total 1.0" in second
    assert 'canton_coin_rules_config_value{field="transferConfig.holdingFee.rate"} 2e-05' in second
    assert lines.run.news == (
        "the coin rules changed: transferConfig.holdingFee.rate 0.0000190259 -> 0.00002, "
        "packageConfig.somethingNew 1.0 -> (none), transferConfig.createFee.rate (none) -> 0.03, contract 00ar2",
    )
    tell(node, None, "00ar2")
    assert await lines(coin_rules) == second
    assert not lines.run.news


async def test_a_contract_that_was_replaced_is_a_change_even_of_no_field(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    await lines(coin_rules)
    tell(node, contract(CONFIG, "00ar2"), "00ar1")
    assert "canton_coin_rules_changes_total 1.0" in await lines(coin_rules)
    assert lines.run.news == ("the coin rules changed: no field, contract 00ar2",)


async def test_a_change_is_not_lost_by_a_failed_run_between(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    await lines(coin_rules)
    node.post("/v0/amulet-rules", {"cached_amulet_rules_contract_id": "00ar1"}, status=500, body=b"")
    await lines(coin_rules)
    tell(node, contract(CONFIG, "00ar2"), "00ar1")
    assert "canton_coin_rules_changes_total 1.0" in await lines(coin_rules)


async def test_a_scheduled_value_becomes_due_without_a_new_contract(
    node: TestNode, lines: Lines, clock: FakeClock
) -> None:
    after = changed(holdingFee="0.5")
    said = contract(CONFIG, future=[{"_1": DUE, "_2": after}])
    tell(node, said)
    tell(node, None, "00ar1")
    first = await lines(coin_rules)
    assert "canton_coin_rules_scheduled_change_timestamp_seconds 1.7952408e+09" in first
    assert VALUES[1] in first
    clock.advance(799)
    assert await lines(coin_rules) == first
    clock.advance(2)
    second = await lines(coin_rules)
    assert f'config_sha256="{hashed(after)}"' in second[0]
    assert "canton_coin_rules_changes_total 1.0" in second
    assert 'canton_coin_rules_config_value{field="transferConfig.holdingFee.rate"} 0.5' in second
    assert not [line for line in second if "scheduled" in line]
    assert lines.run.news == ("the coin rules changed: transferConfig.holdingFee.rate 0.0000190259 -> 0.5",)
    assert await node.requests[-1].json() == {}, "once a scheduled value is due, the rules are asked for in full"
    assert await lines(coin_rules) == second
    assert await node.requests[-1].json() != {}


async def test_a_change_that_is_scheduled_is_told_when_it_is_first_seen(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    await lines(coin_rules)
    tell(node, contract(CONFIG, "00ar2", future=[{"_1": DUE, "_2": changed(holdingFee="0.5")}]), "00ar1")
    await lines(coin_rules)
    assert lines.run.news == (
        "the coin rules changed: no field, contract 00ar2",
        "the coin rules are to change at 2026-11-21T06:00:00+00:00: transferConfig.holdingFee.rate 0.0000190259 -> 0.5",
    )


async def test_of_several_scheduled_values_the_newest_that_is_due_counts(node: TestNode, lines: Lines) -> None:
    future = [
        {"_1": "2026-11-22T00:00:00Z", "_2": changed(holdingFee="4")},
        {"_1": "2026-11-20T00:00:00Z", "_2": changed(holdingFee="2")},
        {"_1": DUE, "_2": changed(holdingFee="3")},
        {"_1": "2026-11-19T00:00:00Z", "_2": changed(holdingFee="1")},
    ]
    tell(node, contract(CONFIG, future=future))
    shown = await lines(coin_rules)
    assert 'canton_coin_rules_config_value{field="transferConfig.holdingFee.rate"} 2.0' in shown
    assert "canton_coin_rules_scheduled_change_timestamp_seconds 1.7952408e+09" in shown


async def test_shows_only_the_numbers_chosen(node: TestNode, lines: Lines) -> None:
    tell(node, contract(changed(createFee="1", lockFee="2")))
    shown = await lines(coin_rules, include=["transferConfig.*"], exclude=["*.createFee.*", "*.holdingFee.rate"])
    assert [line for line in shown if "config_value" in line] == [
        'canton_coin_rules_config_value{field="transferConfig.lockFee.rate"} 2.0'
    ]


async def test_a_payload_of_another_shape_is_taken_as_the_configuration(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG, payload={"fee": "1.5", "name": "x"}))
    assert (await lines(coin_rules))[3:] == ['canton_coin_rules_config_value{field="fee"} 1.5']


@pytest.mark.parametrize("future", [None, []])
async def test_no_future_values_are_none(node: TestNode, lines: Lines, future: Any) -> None:
    tell(node, contract(CONFIG, future=future))
    assert len(await lines(coin_rules)) == 8


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (None, "malformed"),
        ([], "malformed"),
        ({"configSchedule": []}, "malformed"),
        ({"configSchedule": {"initialValue": None}}, "malformed"),
        ({"configSchedule": {"initialValue": {}, "futureValues": [{"_1": "soon", "_2": {}}]}}, "malformed"),
        ({"configSchedule": {"initialValue": {}, "futureValues": [None]}}, "malformed"),
        ({"configSchedule": {"initialValue": {}, "futureValues": [{"_1": DUE, "_2": {}}] * 21}}, "malformed"),
        ({f"field{number}": "1" for number in range(1_001)}, "too_large"),
        ({"text": "x" * 2**20}, "too_large"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_rules_that_make_no_sense_say_so(node: TestNode, lines: Lines, payload: Any, reason: str) -> None:
    tell(node, contract(CONFIG, payload=payload))
    [line] = await lines(coin_rules)
    assert line.startswith(f"{reason}: POST /v0/amulet-rules: ")


async def test_fields_of_the_same_path_and_packages_of_the_same_name_are_one_series(
    node: TestNode, lines: Lines
) -> None:
    twice = {"a.b": "1", "a": {"b": "2"}, "packageConfig": {"amulet": "1.0.0", "splice-amulet": "1.0.0"}}
    tell(node, contract(twice))
    assert (await lines(coin_rules))[3:] == [
        'canton_coin_rules_required_package_info{package="splice-amulet",version="1.0.0"} 1.0',
        'canton_coin_rules_config_value{field="a.b"} 2.0',
    ]


async def test_a_change_at_the_end_of_time_is_told_as_the_node_writes_it(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    await lines(coin_rules)
    last = [{"_1": "9999-12-31T23:59:59-14:00", "_2": CONFIG}]
    tell(node, contract(CONFIG, "00ar2", future=last), "00ar1")
    shown = await lines(coin_rules)
    assert [float(line.split()[1]) for line in shown if "scheduled" in line] == [253_402_351_199]
    assert lines.run.news[1] == "the coin rules are to change at 9999-12-31T23:59:59-14:00: no field"


async def test_of_many_scheduled_changes_the_first_are_logged(node: TestNode, lines: Lines) -> None:
    tell(node, contract(CONFIG))
    await lines(coin_rules)
    future = [{"_1": f"2030-01-0{day}T00:00:00Z", "_2": changed(holdingFee=str(day))} for day in range(1, 6)]
    tell(node, contract(CONFIG, "00ar2", future), "00ar1")
    await lines(coin_rules)
    assert len(lines.run.news) == 4
    assert lines.run.news[-1] == "3 more changes of the coin rules are scheduled"
