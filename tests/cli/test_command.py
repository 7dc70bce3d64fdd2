"""The command `canton-exporter`: what it says, what it returns, and that it ends when it is told to."""

import asyncio
import json
import logging
import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from exporter import __version__
from exporter.cli.commands import taken_labels
from exporter.cli.main import main
from tests.nodes import TestNode, free_port

COMMAND = Path(sys.executable).with_name("canton-exporter")
SECRET = "hunter2"
PATIENCE = 120.0
"""A process takes a second to start, and on a busy machine ten and more."""
END_SECONDS = 30.0
"""Long for a process that ends at once, and half of what aiohttp would wait for who is served."""


class Command:
    """A canton-exporter that runs, with all it writes to standard error."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.url = f"http://127.0.0.1:{port}"
        self.said = ""

    async def until_healthy(self) -> None:
        async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
            while self.process.returncode is None:
                try:
                    async with session.get(f"{self.url}/-/healthy") as answer:
                        assert answer.status == 200
                        return
                except aiohttp.ClientConnectorError:
                    await asyncio.sleep(0.02)  # nothing tells from outside when it listens
        raise AssertionError(await self.rest())

    async def until_said(self, text: str) -> None:
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE):
            while text not in self.said:
                line = await self.process.stderr.readline()
                assert line, f"ended without a word of {text}: {self.said}"
                self.said += line.decode()

    async def rest(self) -> str:
        """Wait for its end; return all it said."""
        assert self.process.stderr is not None
        self.said += (await self.process.stderr.read()).decode()
        await self.process.wait()
        return self.said

    async def end(self, told: signal.Signals) -> int | None:
        """Send a signal and return the exit status; fail if that takes too long."""
        self.process.send_signal(told)
        async with asyncio.timeout(END_SECONDS):
            await self.rest()
        return self.process.returncode


Start = Callable[..., "asyncio.Task[Command]"]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
async def start(tmp_path: Path, port: int) -> AsyncIterator[Start]:
    """Return a function that starts the command on a configuration, as a task."""
    started: list[Command] = []

    async def begin(text: str, *arguments: str) -> Command:
        (tmp_path / "exporter.yaml").write_text(text)
        process = await asyncio.create_subprocess_exec(
            COMMAND,
            "--config.file=exporter.yaml",
            *(arguments or (f"--web.listen-address=127.0.0.1:{port}",)),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        started.append(Command(process, port))
        return started[-1]

    yield lambda *arguments: asyncio.create_task(begin(*arguments))
    for command in started:
        if command.process.returncode is None:
            command.process.kill()
        await command.process.communicate()


@pytest.fixture
def root() -> Iterator[None]:
    """Give the root logger its handlers back, which `main` takes away."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


Said = tuple[int, str, str]


@pytest.fixture
def run(
    root: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Return a function that runs the command in this process, for what ends by itself: status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *arguments: str) -> Said:
        (tmp_path / "exporter.yaml").write_text(text)
        status = main(["--config.file=exporter.yaml", *arguments])
        return (status, *capsys.readouterr())

    return run


def watching(url: str = "http://127.0.0.1:9", said: str = "") -> str:
    return f"""
targets:
  a:
    kind: ledger
    url: {url}
    collectors: {{health: {{interval: 100ms}}, ledger_offsets: {{interval: 250ms}}}}
    {said}
"""


# What ends by itself


@pytest.mark.parametrize("command", [[COMMAND], [sys.executable, "-m", "exporter"]])
async def test_tells_its_version(command: list[str | Path]) -> None:
    process = await asyncio.create_subprocess_exec(*command, "--version", stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert (process.returncode, out.decode()) == (0, f"canton-exporter {__version__}\n")


async def test_a_check_of_good_settings_says_one_line_and_does_nothing_else(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = await start(watching(), "--config.check", f"--web.listen-address=127.0.0.1:{taken.getsockname()[1]}")
        out, err = await command.process.communicate()
    assert re.fullmatch(r"exporter\.yaml: valid; targets: 1, watches: \d+\n", out.decode())
    assert (command.process.returncode, err) == (0, b"")


def three() -> str:
    targets = [f"{name}: {{kind: ledger, url: 'http://{name}'}}" for name in ("a", "my-participant", "sv-1")]
    return f"targets: {{{', '.join(targets)}}}"


@pytest.mark.parametrize(("shard", "has"), [("canton-exporter-0", 1), ("1", 1), ("2", 1)])
def test_a_check_says_how_many_targets_a_shard_has(run: Callable[..., Said], shard: str, has: int) -> None:
    status, out, err = run(three(), "--config.check", f"--shard={shard}", "--total-shards=3")
    assert (status, err) == (0, "")
    expected = (
        rf"exporter\.yaml: valid; targets: 3, watches: \d+; in shard {shard[-1]} of 3 targets: {has}, watches: \d+\n"
    )
    assert re.fullmatch(expected, out)


@pytest.mark.parametrize("arguments", [["--config.check"], [], ["demo"]])
def test_a_shard_that_there_is_not_is_told_in_one_sentence(run: Callable[..., Said], arguments: list[str]) -> None:
    said = "canton-exporter: --shard is 3 and --total-shards 3: shards are numbered from 0 to 2\n"
    assert run(three(), "--shard=pod-3", "--total-shards=3", *arguments) == (1, "", said)


def test_a_person_may_ask_a_target_whoever_watches_it(run: Callable[..., Said]) -> None:
    for shard in ("0", "1", "3"):
        status, out, _ = run(three(), "probe", "sv-1", "--collector=health", f"--shard={shard}", "--total-shards=3")
        assert (status, out.count("canton_up 0.0"), out.count("canton_up{")) == (1, 0, 1), "nobody is there"


def test_a_fault_of_any_target_is_a_fault_of_every_shard(run: Callable[..., Said]) -> None:
    text = three().replace("my-participant: {kind: ledger", "my-participant: {kind: lodger")
    for number in range(3):
        status, out, err = run(text, "--config.check", f"--shard={number}", "--total-shards=3")
        assert (status, out) == (1, "")
        assert "targets.my-participant.kind: must be one of" in err


def test_a_check_prints_what_is_hardly_meant_and_passes(run: Callable[..., Said]) -> None:
    status, out, err = run("targets: {a: {kind: ledger, url: http://node/v2}}", "--config.check")
    assert (status, out.startswith("exporter.yaml: valid; ")) == (0, True)
    assert err == (
        "canton-exporter: warning: exporter.yaml:1: targets.a.url: "
        "contains /v2, where a path of the API begins; end the url before it\n"
    )


async def test_what_is_hardly_meant_is_logged_once_at_the_start(start: Start) -> None:
    command = await start(watching("http://127.0.0.1:9/v2"))
    await command.until_healthy()
    assert await command.end(signal.SIGTERM) == 0
    assert command.said.count("exporter.yaml:5: targets.a.url: contains /v2") == 1
    assert "level=warning" in next(line for line in command.said.splitlines() if "contains /v2" in line)


@pytest.mark.parametrize("arguments", [["--config.check"], []])
def test_wrong_settings_are_told_on_standard_error_all_at_once(run: Callable[..., Said], arguments: list[str]) -> None:
    status, out, err = run("targets: {a: {kind: scan, url: node, rol: own}}", *arguments)
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "canton-exporter: exporter.yaml:1: targets.a.url: is not an address of a node; "
        "write one as https://host[:port][/path]",
        "canton-exporter: exporter.yaml:1: targets.a.rol: no such setting; did you mean role?",
    ]


def test_settings_that_are_not_there_are_told_in_one_sentence(run: Callable[..., Said]) -> None:
    assert run("", "--config.file=none.yaml") == (
        1,
        "",
        "canton-exporter: none.yaml: cannot be read (No such file or directory); name the file with --config.file\n",
    )


@pytest.mark.parametrize("label", ["target", "collector", "synchronizer"])
def test_no_target_may_take_a_label_of_our_own(run: Callable[..., Said], label: str) -> None:
    assert label in taken_labels()
    assert run(watching(said=f"labels: {{{label}: x}}"), "--config.check") == (
        1,
        "",
        f"canton-exporter: exporter.yaml:7: targets.a.labels.{label}: this label name is reserved; choose another\n",
    )


def test_the_environment_counts_and_what_kubernetes_injects_does_not(
    run: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANTON_EXPORTER_PORT", "tcp://10.0.0.1:10066")
    monkeypatch.setenv("CANTON_EXPORTER_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("CANTON_EXPORTER_LOG__LEVEL", "debug")
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__TIMEOUT", "3s")
    assert run(watching(), "--config.check")[0] == 0
    monkeypatch.setenv("CANTON_EXPORTER_TARGETS__A__TIMEOUT", "3")
    status, out, err = run(watching(), "--config.check")
    assert (status, out) == (1, "")
    assert err.startswith(
        "canton-exporter: environment variable CANTON_EXPORTER_TARGETS__A__TIMEOUT: is not a duration;"
    )


async def test_a_port_that_is_taken_is_told_in_one_sentence(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        command = await start(watching(), f"--web.listen-address={address}")
        assert await command.rest() == (
            f"canton-exporter: cannot listen on {address}: Address already in use; set --web.listen-address\n"
        )
    assert command.process.returncode == 1


def test_an_address_that_is_not_ours_is_told_in_one_sentence(run: Callable[..., Said]) -> None:
    status, out, err = run(watching(), "--web.listen-address=127.0.0.1:0", "--web.listen-address=192.0.2.1:0")
    assert (status, out) == (1, "")
    [line] = [line for line in err.splitlines() if not line.startswith("ts=")]
    # The reason is the system's; from Python 3.13 on asyncio says it in words of its own.
    assert re.fullmatch(r"canton-exporter: cannot listen on 192\.0\.2\.1:0: .+; set --web\.listen-address", line)


def test_a_host_whose_name_is_too_long_is_told_in_one_sentence(run: Callable[..., Said]) -> None:
    status, _, err = run(watching(), f"--web.listen-address={'a' * 64}:1")
    assert (status, len(err.splitlines())) == (1, 1)


def test_a_check_warns_of_a_token_file_that_cannot_be_read_now(run: Callable[..., Said], tmp_path: Path) -> None:
    text = "targets: {a: {kind: ledger, url: 'http://127.0.0.1:9', auth: {type: bearer, token_file: later}}}"
    status, out, err = run(text, "--config.check")
    assert (status, out.count("valid")) == (0, 1)
    said = f"the token cannot be read from {tmp_path / 'later'}: No such file or directory"
    assert err == f"canton-exporter: warning: target a: {said}\n"


def test_a_check_warns_of_a_url_that_is_none(run: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "url").write_text("ftp://sesame")
    status, _, err = run("targets: {a: {kind: ledger, url_file: url}}", "--config.check")
    said = f"the url in {tmp_path / 'url'} is not an address of a node; write one as https://host[:port][/path]"
    assert (status, err) == (0, f"canton-exporter: warning: target a: {said}\n")


# What runs until it is told to end


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
async def test_ends_in_good_order_when_told_to(start: Start, told: signal.Signals) -> None:
    command = await start(watching())
    await command.until_healthy()
    assert await command.end(told) == 0
    assert "msg=stopping" in command.said
    assert "Traceback" not in command.said
    assert all(line.startswith("ts=") for line in command.said.splitlines())


async def test_tells_by_a_process_of_its_own_whether_it_lives(
    start: Start, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANTON_EXPORTER_WEB__LISTEN_ADDRESS", f"127.0.0.1:{port}")

    async def health() -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(COMMAND, "health", stderr=asyncio.subprocess.PIPE)
        _, err = await process.communicate()
        return process.returncode, err

    command = await start(watching(), "--log.level=debug")
    await command.until_healthy()
    assert await health() == (0, b"")
    assert await command.end(signal.SIGTERM) == 0
    status, said = await health()
    assert (status, len(said.splitlines())) == (1, 1)
    assert "Traceback" not in command.said


async def test_ends_while_a_node_hangs_and_a_scraper_does(start: Start, node: TestNode) -> None:
    node.silent = True
    command = await start(watching(node.url, "timeout: 1h").replace("100ms", "100ms, timeout: 1h"))
    await command.until_healthy()
    async with asyncio.timeout(PATIENCE):
        while not node.requests:  # noqa: ASYNC110 - the node counts what it is asked, and tells nobody
            await asyncio.sleep(0.02)
    _, writer = await asyncio.open_connection("127.0.0.1", int(command.url.rpartition(":")[2]))
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: a\r\n")
    assert await command.end(signal.SIGTERM) == 0
    assert "Traceback" not in command.said
    writer.close()


async def test_a_log_that_nobody_reads_stops_neither_runs_nor_the_end(
    tmp_path: Path, node: TestNode, port: int
) -> None:
    node.answer_everything(status=500, body=b"x" * 150)
    often = "collectors: {feature_support: {interval: 20ms}}"
    targets = "".join(f"  t{number}: {{kind: scan, role: own, url: '{node.url}', {often}}}\n" for number in range(10))
    (tmp_path / "exporter.yaml").write_text(f"budget: {{rate: 100000, burst: 100000}}\ntargets:\n{targets}")
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    with suppress(BlockingIOError):
        while os.write(writes, b"." * 4096):  # the pipe is full from the start
            pass
    os.set_blocking(writes, True)
    flags = ("--config.file=exporter.yaml", f"--web.listen-address=127.0.0.1:{port}", "--log.level=debug")
    process = await asyncio.create_subprocess_exec(COMMAND, *flags, cwd=tmp_path, stderr=writes)
    try:
        command = Command(process, port)
        await command.until_healthy()
        asked = len(node.requests)
        async with asyncio.timeout(PATIENCE):
            while len(node.requests) < asked + 100:  # noqa: ASYNC110 - the node counts, and has no event
                await asyncio.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(reads)
        os.close(writes)


@pytest.mark.parametrize("style", ["logfmt", "json"])
async def test_a_node_forges_no_line_and_learns_no_secret_into_one(
    start: Start, node: TestNode, port: int, style: str
) -> None:
    forged = f"no\nts=1 level=error msg=forged\r\x1b[31m\u2028\x85{SECRET} Bearer {SECRET}"
    node.answer_everything(status=500, answers={"error": forged, "cause": forged, "code": forged})
    said = f"auth: {{type: bearer, token: {SECRET}}}\n    headers: {{X-Key: {SECRET}}}"
    text = watching(node.url, said)
    address = f"--web.listen-address=127.0.0.1:{port}"
    command = await start(text, address, f"--log.format={style}", "--log.level=debug")
    await command.until_said("failed on")
    assert await command.end(signal.SIGTERM) == 0
    assert "forged" in command.said
    assert SECRET not in command.said
    for line in command.said.split("\n")[:-1]:
        assert line.isprintable()
        assert json.loads(line)["msg"] != "forged" if style == "json" else line.startswith("ts=20")


# One of several


async def test_a_shard_watches_its_part_and_says_which_it_is(start: Start, port: int) -> None:
    text = three()  # of which shard 2 of 3 has one
    address = f"--web.listen-address=127.0.0.1:{port}"
    command = await start(text, address, "--shard=canton-exporter-2", "--total-shards=3")
    await command.until_healthy()
    async with aiohttp.ClientSession() as session, session.get(f"{command.url}/metrics") as answer:
        page = (await answer.text()).splitlines()
    assert "canton_exporter_shard 2.0" in page
    assert "canton_exporter_shards 3.0" in page
    [info] = [line for line in page if line.startswith("canton_target_info{")]
    assert 'target="my-participant"' in info
    assert await command.end(signal.SIGTERM) == 0


# What is read again while it runs


async def reload_state(command: Command) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"{command.url}/metrics") as answer:
        page = await answer.text()
    [line] = [line for line in page.splitlines() if line.startswith("canton_exporter_config_last_reload_successful ")]
    return line.rpartition(" ")[2]


async def test_reads_its_settings_again_when_told_to_and_keeps_the_old_ones_if_the_new_are_wrong(
    start: Start, tmp_path: Path
) -> None:
    command = await start(watching())
    await command.until_healthy()
    good = (tmp_path / "exporter.yaml").read_text()
    (tmp_path / "exporter.yaml").write_text("targets: {}")
    command.process.send_signal(signal.SIGHUP)
    await command.until_said("the new configuration has errors; the old one stays in use")
    assert "no node is configured" in command.said
    assert await reload_state(command) == "0.0"
    (tmp_path / "exporter.yaml").write_text(good)
    async with aiohttp.ClientSession() as session, session.post(f"{command.url}/-/reload") as answer:
        assert answer.status == 200
    assert await reload_state(command) == "1.0"
    assert await command.end(signal.SIGTERM) == 0
    assert "Traceback" not in command.said


def mount(folder: Path, version: int, text: str) -> None:
    """Put a ConfigMap into a folder as a kubelet does: a new folder for each version, and a symlink that is swapped."""
    (folder / f"..version_{version}").mkdir(parents=True)
    (folder / f"..version_{version}" / "exporter.yaml").write_text(text)
    (folder / "..data_tmp").symlink_to(f"..version_{version}")
    (folder / "..data_tmp").replace(folder / "..data")
    if version > 1:
        shutil.rmtree(folder / f"..version_{version - 1}")
    else:
        (folder / "exporter.yaml").symlink_to("..data/exporter.yaml")


async def test_sees_by_itself_that_a_mounted_configuration_was_swapped(start: Start, tmp_path: Path, port: int) -> None:
    folder = tmp_path / "mounted"
    mount(folder, 1, watching())
    command = await start(
        "",
        f"--web.listen-address=127.0.0.1:{port}",
        f"--config.file={folder / 'exporter.yaml'}",
        "--config.enable-auto-reload",
        "--config.auto-reload-interval=50ms",
    )
    await command.until_healthy()
    mount(folder, 2, three())
    await command.until_said("the configuration was read again")
    async with aiohttp.ClientSession() as session, session.get(f"{command.url}/config") as answer:
        assert "my-participant:" in await answer.text()
    mount(folder, 3, "targets: {}")
    await command.until_said("the new configuration has errors; the old one stays in use")
    assert await reload_state(command) == "0.0"
    before, command.said = command.said, ""
    mount(folder, 4, watching())
    await command.until_said("the configuration was read again")
    assert await reload_state(command) == "1.0"
    assert await command.end(signal.SIGTERM) == 0
    said = before + command.said
    assert "Traceback" not in said
    told = [line.partition(" msg=")[2] for line in said.splitlines() if "configuration" in line]
    assert [line.partition('" ')[0].strip('"') for line in told] == [
        "the configuration file has changed",
        "the configuration was read again",
        "the configuration file has changed",
        "the new configuration has errors; the old one stays in use",
        "the configuration file has changed",
        "the configuration was read again",
    ]
