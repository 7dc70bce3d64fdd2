"""canton-exporter probe: one target asked once, its metrics for a pipe and its story for a person."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from exporter.cli.probe import printable, probe, show
from exporter.collectors import discover
from exporter.config.loader import Settings, check
from exporter.config.models import Kind
from exporter.errors import WrongConfiguration
from tests.conftest import FakeClock
from tests.nodes import TestNode

Said = tuple[int, list[str], list[str]]


def settings_for(url: str, **collectors: object) -> Settings:
    settings, errors = check(
        {
            "targets": {
                "a": {"kind": "scan", "role": "own", "url": url, "collectors": collectors},
                "b": {"kind": "ledger", "url": url},
            }
        },
        discover(),
    )
    assert settings is not None, errors
    return settings


def all_but(*names: str) -> dict[str, object]:
    """Return what turns the other collectors of a scan off."""
    on = (each for each in discover().values() if each.on_by_default and Kind.SCAN in each.kinds)
    return {each.name: {"enabled": False} for each in on if each.name not in names}


@pytest.fixture(autouse=True)
def alive(node: TestNode) -> None:
    node.lenient = True
    node.get("/livez", body=b"")
    node.get("/readyz", body=b"")
    node.get("/version", answers={"version": "0.7.4"})
    node.get("/v0/feature-support", answers={"dummy": True})
    for other in ("/v2/version", "/v0/validator-user"):
        node.get(other, status=404, body=b"")


async def test_a_collector_that_is_off_is_named_as_that(node: TestNode) -> None:
    with pytest.raises(
        WrongConfiguration,
        match=r"^reward_batches is disabled for target a; set ",
    ):
        await probe(settings_for(node.url, reward_batches={"enabled": False}), "a", "reward_batches")


async def test_a_collector_of_another_kind_is_not_one_to_switch_on(node: TestNode) -> None:
    with pytest.raises(WrongConfiguration, match=r"^acs works only with targets of kind scan; b is a ledger$"):
        await probe(settings_for(node.url), "b", "acs")


@pytest.fixture
def ask(node: TestNode, capsys: pytest.CaptureFixture[str]) -> Callable[..., "asyncio.Task[Said]"]:
    """Return a function that asks a scan: the exit status, the lines of the metrics, and what was told beside them."""

    async def ask(collector: str | None = None, target: str = "a", **collectors: object) -> Said:
        status = await probe(settings_for(node.url, **collectors), target, collector)
        output, errors = capsys.readouterr()
        return status, output.splitlines(), errors.splitlines()

    return lambda *arguments, **collectors: asyncio.create_task(ask(*arguments, **collectors))


async def test_one_question_gives_its_metrics_and_says_what_it_asked(
    node: TestNode, ask: Callable[..., "asyncio.Task[Said]"]
) -> None:
    node.get("/v0/feature-support", answers={"dummy": True})
    status, metrics, told = await ask("feature_support")
    assert status == 0
    assert 'canton_feature_supported{feature="dummy",network="default",role="own",target="a"} 1.0' in metrics
    assert "probe_success 1.0" in metrics
    assert told[0].startswith("feature_support: ok in 0.0")
    assert told[1].startswith("  GET /v0/feature-support: 200 in 0.0")


async def test_a_question_that_fails_says_why_and_is_the_exit_status(
    node: TestNode, ask: Callable[..., "asyncio.Task[Said]"]
) -> None:
    node.get("/v0/feature-support", status=500, answers={"error": "An unexpected error occurred."})
    status, metrics, told = await ask("feature_support")
    assert status == 1
    assert "probe_success 0.0" in metrics
    assert told[-1] == "  error: GET /v0/feature-support: 500: An unexpected error occurred."


async def test_without_a_name_all_are_asked_that_do_not_take_long(
    node: TestNode, ask: Callable[..., "asyncio.Task[Said]"]
) -> None:
    node.get("/v0/feature-support", answers={"dummy": True})
    status, metrics, told = await ask(**all_but("acs", "feature_support", "health"))
    assert status == 0
    asked = [line.partition(":")[0] for line in told if not line.startswith(" ")]
    assert asked == ["feature_support", "health", "acs"]
    assert told[-1] == "acs: not run, as it may take longer than the probe; name it to run it"
    assert 'canton_up{network="default",role="own",target="a"} 1.0' in metrics
    assert [request.path for request in node.requests].count("/livez") == 1


async def test_health_that_finds_the_node_down_has_run_and_is_not_called_ok(
    node: TestNode, ask: Callable[..., "asyncio.Task[Said]"]
) -> None:
    node.get("/livez", status=503, body=b"")
    node.get("/readyz", status=503, body=b"")
    status, metrics, told = await ask("health")
    assert (status, "probe_success 0.0" in metrics) == (1, True)
    assert told[0].startswith("health: ran in ")
    assert told[0].endswith(" s; the node is down")
    assert told[-1] == "  the node is down: GET /livez: 503"
    assert not any("ok" in line for line in told)


async def test_a_run_with_several_remarks_begins_with_the_first(
    node: TestNode, ask: Callable[..., "asyncio.Task[Said]"]
) -> None:
    for prefix in ("a", "b", "c"):
        node.get(f"/v0/synchronizer-bootstrapping-transactions/{prefix}", status=404, answers={"error": "none"})
    status, _, told = await ask("bootstrapping", bootstrapping={"options": {"prefixes": ["a", "b", "c"]}})
    assert (status, told[0].partition(" s; ")[2]) == (0, "there is no synchronizer of the prefix a (and 2 more)")
    assert told[-3:] == [f"  there is no synchronizer of the prefix {prefix}" for prefix in ("a", "b", "c")]


@pytest.mark.parametrize("collector", [None, "coin_rules"])
async def test_a_load_balancer_with_nothing_behind_it_is_no_node_that_lacks_things(
    node: TestNode, ask: Callable[..., "asyncio.Task[Said]"], collector: str | None
) -> None:
    node.answer_everything(status=404, body=b"")
    status, metrics, _ = await ask(collector)
    assert status == 1
    assert 'canton_collector_failure_info{collector="coin_rules",network="default",reason="refused",' in "".join(
        metrics
    )


async def test_a_long_question_shows_how_far_it_has_come(
    node: TestNode, ask: Callable[..., "asyncio.Task[Said]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.cli.probe.PAUSE", 0.0)
    moment = "2026-11-21T03:00:00Z"
    node.answer_anything("/v0/state/acs/snapshot-timestamp", answers={"record_time": moment})
    node.post(
        "/v2/state/acs",
        {"migration_id": 4, "record_time": moment, "page_size": 1000},
        answers={"created_events": [{"template_id": "a:b:c"}]},
    )
    status, _, told = await ask("acs", acs={"options": {"migration_id": 4}})
    assert (status, told[0]) == (0, f"acs: 1 contracts of the snapshot of {moment}")


def test_no_label_can_tell_the_terminal_what_to_do() -> None:
    assert printable('a{b="\x1b]0;x\x07\u00e9\u202e"} 1\n') == 'a{b="\\x1b]0;x\\x07\u00e9\\u202e"} 1\n'


async def test_a_reader_that_has_enough_ends_it_quietly(tmp_path: Path, node: TestNode) -> None:
    (tmp_path / "exporter.yaml").write_text(f"targets: {{a: {{kind: scan, role: own, url: '{node.url}'}}}}")
    command = f"{sys.executable} -m exporter probe a --collector health | true"
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent.parent.parent)},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert b"Traceback" not in errors


async def test_who_names_nothing_that_is_there_hears_what_is(ask: Callable[..., "asyncio.Task[Said]"]) -> None:
    with pytest.raises(WrongConfiguration, match=r"^no target is called c; there are a, b$"):
        await ask(None, "c")
    with pytest.raises(WrongConfiguration, match=r"^a has no collector x; it has acs, acs_snapshot, "):
        await ask("x")
    with pytest.raises(WrongConfiguration, match=r"^all collectors of a may be slow; run one with --collector NAME$"):
        await ask(**all_but("acs"))


def test_progress_is_shown_now_and_then(
    clock: FakeClock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for is_terminal, pause, shown in ((False, 10, "acs: 2 things\n"), (True, 1, "\r\x1b[Kacs: 2 things")):
        monkeypatch.setattr(sys.stderr, "isatty", lambda answer=is_terminal: answer)
        tell = show("acs", clock)
        tell("1 thing")
        clock.advance(pause)
        tell("2 things")
        tell("3 things")
        assert capsys.readouterr().err == shown


@pytest.fixture
async def silent(tmp_path: Path) -> AsyncIterator[tuple[TestNode, asyncio.subprocess.Process]]:
    """A node that never answers, and a probe of it."""
    node = await TestNode(silent=True).start()
    (tmp_path / "exporter.yaml").write_text(f"targets: {{a: {{kind: scan, role: own, url: '{node.url}'}}}}")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "exporter", "probe", "--config.file=exporter.yaml", "a"),
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent.parent.parent)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    yield node, process
    if process.returncode is None:
        process.kill()
    await process.communicate()
    await node.stop()


async def test_a_person_can_end_it(silent: tuple[TestNode, asyncio.subprocess.Process]) -> None:
    node, process = silent
    await node.asked.wait()
    process.send_signal(signal.SIGINT)
    output, errors = await process.communicate()
    assert (process.returncode, output) == (130, b"")
    assert b"Traceback" not in errors
