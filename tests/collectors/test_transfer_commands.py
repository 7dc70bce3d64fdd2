"""transfer_commands: what became of a sender's commands, one by one or followed."""

from typing import Any

import pytest

from exporter.collectors.transfer_commands import transfer_commands
from tests.conftest import FakeClock, Lines
from tests.nodes import NO_ROUTE, TestNode

ALICE = "alice::12"
OPTIONS: dict[str, Any] = {"commands": [{"sender": ALICE, "nonce": 7}]}
FOLLOWED: dict[str, Any] = {"commands": [{"sender": ALICE}]}
STATUS = "/v0/transfer-command/status"
QUOTED = "alice%3A%3A12"
COUNTER = f"/v0/transfer-command-counter/{QUOTED}"
NONE = {"error": "No transfer commands found"}
WORDS = (
    "insufficient_funds",
    "unknown_synchronizer",
    "insufficient_topup_amount",
    "no_transfer_preapproval",
    "nonce_used",
    "too_many_inputs",
    "too_many_outputs",
    "expired",
    "withdrawn",
    "other",
)


def command(
    status: str | None,
    kind: str | None = None,
    created_at: str | None = "2026-11-21T01:00:00Z",
    reason: str | None = "why",
) -> Any:
    contract = {"contract_id": "00tc", "payload": {"nonce": "7"}, "created_at": created_at}
    return {"contract": contract, "status": {"status": status, "failure_kind": kind, "reason": reason}}


def tell(node: TestNode, nonce: int = 7, path: str = STATUS, **commands: Any) -> None:
    query = f"?sender={ALICE}&nonce={nonce}"
    if commands:
        node.get(path + query, answers={"transfer_commands_by_contract_id": commands})
    else:
        node.get(path + query, status=404, answers=NONE)


def counted(lines: list[str], name: str = "canton_transfer_commands{") -> dict[str, float]:
    """Return the value of each status, those of 0 left out."""
    chosen = [line for line in lines if line.startswith(name)]
    values = {line.rpartition('status="')[2].partition('"')[0]: float(line.split()[-1]) for line in chosen}
    return {status: value for status, value in values.items() if value}


def failures(lines: list[str]) -> dict[str, float]:
    chosen = [line for line in lines if line.startswith("canton_transfer_commands_failed_total{")]
    return {line.partition('failure_kind="')[2].partition('"')[0]: float(line.split()[-1]) for line in chosen}


def reasons(lines: list[str]) -> dict[str, float]:
    """Return the value of each reason, those of 0 left out."""
    chosen = [line for line in lines if line.startswith("canton_transfer_commands_failed_reason_total{")]
    values = {line.partition('reason="')[2].partition('"')[0]: float(line.split()[-1]) for line in chosen}
    return {reason: value for reason, value in values.items() if value}


def answer_well(node: TestNode) -> None:
    tell(node, a=command("created"), b=command("failed", "expired"))


async def test_says_how_many_commands_are_in_each_status(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(transfer_commands, **OPTIONS) == [
        'canton_transfer_commands{nonce="7",sender="alice::12",status="created"} 1.0',
        'canton_transfer_commands{nonce="7",sender="alice::12",status="sent"} 0.0',
        'canton_transfer_commands{nonce="7",sender="alice::12",status="failed"} 0.0',
        'canton_transfer_commands{nonce="7",sender="alice::12",status="expired"} 1.0',
        'canton_transfer_commands{nonce="7",sender="alice::12",status="withdrawn"} 0.0',
        'canton_transfer_commands{nonce="7",sender="alice::12",status="unknown"} 0.0',
        'canton_transfer_command_oldest_timestamp_seconds{nonce="7",sender="alice::12",status="created"} 1.7952228e+09',
        'canton_transfer_command_oldest_timestamp_seconds{nonce="7",sender="alice::12",status="expired"} 1.7952228e+09',
        'canton_transfer_commands_failed_total{failure_kind="failed",sender="alice::12"} 0.0',
        'canton_transfer_commands_failed_total{failure_kind="expired",sender="alice::12"} 0.0',
        'canton_transfer_commands_failed_total{failure_kind="withdrawn",sender="alice::12"} 0.0',
        *(
            f'canton_transfer_commands_failed_reason_total{{reason="{reason}",sender="alice::12"}} 0.0'
            for reason in WORDS
        ),
    ]


async def test_asks_a_validator_by_the_path_of_its_proxy(node: TestNode, lines: Lines) -> None:
    tell(node, path="/v0/scan-proxy/transfer-command/status", a=command("sent"))
    assert counted(await lines(transfer_commands, **OPTIONS, kind="validator")) == {"sent": 1}


async def test_follows_a_sender_by_the_validators_proxy_too(node: TestNode, lines: Lines) -> None:
    node.get(f"/v0/scan-proxy/transfer-command-counter/{QUOTED}", status=404, answers=NONE)
    for nonce in range(6):
        tell(node, nonce, path="/v0/scan-proxy/transfer-command/status")
    assert counted(await lines(transfer_commands, **FOLLOWED, kind="validator")) == {}


async def test_a_sender_without_commands_has_none_in_any_status(node: TestNode, lines: Lines) -> None:
    tell(node)
    shown = await lines(transfer_commands, **OPTIONS)
    assert len([line for line in shown if line.startswith("canton_transfer_commands{")]) == 6
    assert counted(shown) == {}


async def test_a_node_without_the_operation_is_unsupported(node: TestNode, lines: Lines) -> None:
    node.get(f"{STATUS}?sender={ALICE}&nonce=7", status=404, answers=NO_ROUTE)
    [line] = await lines(transfer_commands, **OPTIONS)
    assert line.startswith(f"unsupported: GET {STATUS}: 404: The requested resource")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (command("created"), "created"),
        (command("sent"), "sent"),
        (command("failed", "failed"), "failed"),
        (command("failed", "expired"), "expired"),
        (command("failed", "withdrawn"), "withdrawn"),
        (command("failed"), "failed"),
        (command("failed", "somehow"), "unknown"),
        (command("expired"), "unknown"),
        (command("odd\n"), "unknown"),
        (command(None), "unknown"),
        ({"contract": None, "status": None}, "unknown"),
        ({}, "unknown"),
    ],
    ids=str,
)
async def test_a_status_nobody_knows_is_unknown(node: TestNode, lines: Lines, said: Any, status: str) -> None:
    tell(node, a=said)
    assert counted(await lines(transfer_commands, **OPTIONS)) == {status: 1}


async def test_of_several_commands_in_a_status_the_oldest_tells(node: TestNode, lines: Lines) -> None:
    tell(
        node,
        a=command("sent", created_at="2026-11-21T02:00:00Z"),
        b=command("sent", created_at="2026-11-21T01:00:00+02:00"),
        c=command("sent", created_at=None),
    )
    shown = await lines(transfer_commands, **OPTIONS)
    assert counted(shown) == {"sent": 3}
    assert counted(shown, "canton_transfer_command_oldest") == {"sent": 1.7952156e09}


async def test_a_sender_is_followed_by_its_counter_and_its_nonces_make_no_new_series(
    node: TestNode, lines: Lines
) -> None:
    answer = {"transfer_command_counter": {"contract": {"payload": {"nextNonce": "8"}}, "domain_id": "d"}}
    node.get(COUNTER, answers=answer)
    for nonce in range(3, 14):
        tell(node, nonce, **({f"id{nonce}": command("created" if nonce > 8 else "sent")} if nonce != 8 else {}))
    shown = await lines(transfer_commands, **FOLLOWED)
    assert counted(shown) == {"sent": 5, "created": 5}
    assert {line for line in shown if "nonce=" in line and 'nonce=""' not in line} == set()


@pytest.mark.parametrize("next_nonce", [0, "2", None])
async def test_a_sender_that_begins_is_followed_from_nonce_0(node: TestNode, lines: Lines, next_nonce: Any) -> None:
    answer = {"transfer_command_counter": {"contract": {"payload": {"nextNonce": next_nonce}}}}
    node.get(COUNTER, **({"status": 404, "answers": NONE} if next_nonce is None else {"answers": answer}))
    for nonce in range(int(next_nonce or 0) + 6):
        tell(node, nonce)
    assert counted(await lines(transfer_commands, **FOLLOWED)) == {}


@pytest.mark.parametrize("next_nonce", [-1, "-1", "1e3", "\u0663", "9" * 20, 2**63, 1.5, None, True])
async def test_a_counter_that_is_no_number_is_malformed(node: TestNode, lines: Lines, next_nonce: Any) -> None:
    node.get(COUNTER, answers={"transfer_command_counter": {"contract": {"payload": {"nextNonce": next_nonce}}}})
    [line] = await lines(transfer_commands, **FOLLOWED)
    assert line.startswith("malformed: GET /v0/transfer-command-counter/{party}: ")


async def test_only_what_newly_failed_is_counted(node: TestNode, lines: Lines, clock: FakeClock) -> None:
    async def run() -> dict[str, float]:
        clock.advance(60)
        return failures(await lines(transfer_commands, **OPTIONS))

    tell(node, old=command("failed", "failed"), a=command("created"), b=command("created"))
    assert await run() == {"failed": 0, "expired": 0, "withdrawn": 0}, "it had failed before the first run"
    tell(node, old=command("failed"), a=command("failed", "expired"), b=command("failed", "somehow"))
    assert await run() == {"failed": 0, "expired": 1, "withdrawn": 0, "unknown": 1}
    assert await run() == {"failed": 0, "expired": 1, "withdrawn": 0, "unknown": 1}
    tell(node)
    assert await run() == {"failed": 0, "expired": 1, "withdrawn": 0, "unknown": 1}
    tell(node, old=command("failed"), a=command("failed", "expired"), c=command("failed", "expired"))
    assert await run() == {"failed": 0, "expired": 2, "withdrawn": 0, "unknown": 1}, "a and old were known"


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("failed", "ITR_InsufficientFunds(12.5000000000)", "insufficient_funds"),
        ("failed", "some.package.ITR_UnknownSynchronizer(app::12)", "unknown_synchronizer"),
        ("failed", "ITR_InsufficientTopupAmount(1, 200000)", "insufficient_topup_amount"),
        ("failed", "ITR_Other(No TransferPreapproval for receiver 'bob::12')", "no_transfer_preapproval"),
        (None, "ITR_Other(the nonce 7 is smaller than current counter 8)", "nonce_used"),
        ("failed", "ITR_Other(over the maximum number of inputs)", "too_many_inputs"),
        ("failed", "ITR_Other(over the maximum number of outputs)", "too_many_outputs"),
        ("failed", "ITR_Other(something new)", "other"),
        ("failed", "ITR_SomethingNew(1)", "other"),
        ("failed", "x" * 1_000 + "ITR_InsufficientFunds(1)", "other"),
        ("failed", None, "other"),
        ("expired", "expired, and ITR_InsufficientFunds", "expired"),
        ("withdrawn", None, "withdrawn"),
        ("somehow", "nobody knows", "other"),
    ],
)
async def test_a_reason_is_one_of_a_few_words_whatever_the_text(
    node: TestNode, lines: Lines, kind: str | None, text: str | None, reason: str
) -> None:
    tell(node)
    await lines(transfer_commands, **OPTIONS)
    tell(node, a=command("failed", kind, reason=text))
    for _ in range(2):
        assert reasons(await lines(transfer_commands, **OPTIONS)) == {reason: 1}


async def test_a_new_failure_is_told_with_the_nodes_own_words_cut(node: TestNode, lines: Lines) -> None:
    tell(node, old=command("failed"))
    await lines(transfer_commands, **OPTIONS)
    assert not lines.run.news
    found = {"a": command("failed", "failed", reason="two\nlines" + "x" * 300), "b": command("failed", reason=None)}
    tell(node, **found)
    await lines(transfer_commands, **OPTIONS)
    assert lines.run.news == (
        f"command 7 of alice::12 has failed (failed): two lines{'x' * 191}",
        "command 7 of alice::12 has failed (failed): no reason",
    )
    tell(node, **found, **{f"id{number}": command("failed", "expired") for number in range(8)})
    await lines(transfer_commands, **OPTIONS)
    assert lines.run.news == (
        *["command 7 of alice::12 has failed (expired): why"] * 5,
        "3 more commands have failed",
    )


async def test_a_failure_is_remembered_longer_than_any_node_does_and_then_forgotten(
    node: TestNode, lines: Lines, clock: FakeClock
) -> None:
    tell(node, a=command("failed"))
    await lines(transfer_commands, **OPTIONS)
    tell(node)
    clock.advance(24 * 3600)
    await lines(transfer_commands, **OPTIONS)
    tell(node, a=command("failed"))
    assert failures(await lines(transfer_commands, **OPTIONS))["failed"] == 0
    tell(node)
    clock.advance(26 * 3600)
    await lines(transfer_commands, **OPTIONS)
    tell(node, a=command("failed"))
    assert failures(await lines(transfer_commands, **OPTIONS))["failed"] == 1


async def test_more_failures_than_are_remembered_are_counted_once_all_the_same(node: TestNode, lines: Lines) -> None:
    options: dict[str, Any] = {"commands": [{"sender": ALICE, "nonce": nonce} for nonce in range(11)]}
    for nonce in range(11):
        tell(node, nonce)
    await lines(transfer_commands, **options)
    for nonce in range(11):
        tell(node, nonce, **{f"id{nonce}-{number}": command("failed") for number in range(1_000)})
    for _ in range(2):
        assert failures(await lines(transfer_commands, **options))["failed"] == 11_000


async def test_more_commands_than_a_node_gives_are_malformed(node: TestNode, lines: Lines) -> None:
    tell(node, **{f"id{number}": command("sent") for number in range(1_001)})
    [line] = await lines(transfer_commands, **OPTIONS)
    assert line.startswith("malformed: ")


async def test_a_command_that_is_both_named_and_followed_fails_once(node: TestNode, lines: Lines) -> None:
    node.get(COUNTER, status=404, answers=NONE)
    for nonce in range(6):
        tell(node, nonce)
    options: dict[str, Any] = {"commands": [{"sender": ALICE}, {"sender": ALICE, "nonce": 3}]}
    await lines(transfer_commands, **options)
    tell(node, 3, a=command("failed"))
    assert failures(await lines(transfer_commands, **options))["failed"] == 1


@pytest.mark.parametrize(
    ("commands", "fault"),
    [
        ([], "commands"),
        ([{"sender": ""}], "must not be empty"),
        ([{"sender": ALICE, "nonce": -1}], "must be 0 or more"),
        ([{"sender": ALICE}, {"sender": ALICE}], "has a command twice"),
        ([{"nonce": 1}], "is missing"),
    ],
)
async def test_refuses_what_names_no_command(lines: Lines, node: TestNode, commands: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(transfer_commands, commands=commands)
