"""`canton-exporter health`: whether the exporter lives, asked over real HTTP and TLS."""

import asyncio
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from exporter.cli.main import main
from tests.nodes import RawNode, TestNode
from tests.web.test_access import (  # noqa: F401 - some are fixtures, which need one another
    ALICE,
    SERVED,
    VERIFIED,
    Serve,
    authority,
    client_authority,
    file,
    put,
    say,
    serve,
)

Ask = Callable[..., "asyncio.Task[tuple[int, str]]"]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Return a function that asks at a url, and gives the exit status and what was said on standard error."""

    async def ask(url: str, *flags: str) -> tuple[int, str]:
        address = f"--web.listen-address={url.rpartition('/')[2]}"
        status = await asyncio.to_thread(main, ["health", address, *flags])
        out, err = capsys.readouterr()
        assert out == ""
        return status, err

    return lambda *arguments: asyncio.create_task(ask(*arguments))


async def test_an_exporter_that_lives_is_worth_no_word(ask: Ask, node: TestNode) -> None:
    node.get("/-/healthy", body=b"healthy\n")
    assert await ask(node.url) == (0, "")


@pytest.mark.parametrize(("code", "status"), [(301, 0), (401, 0), (404, 0), (429, 0), (500, 1), (503, 1)])
async def test_any_answer_that_is_no_failure_of_its_own_is_a_sign_of_life(
    ask: Ask, node: TestNode, code: int, status: int
) -> None:
    node.get("/-/healthy", status=code, body=b"")
    said = f"canton-exporter: the exporter on {node.url[7:]} answers {code}; see its log\n"
    assert await ask(node.url) == (status, said if status else "")


@pytest.mark.parametrize("flag", ["--web.route-prefix=/canton", "--web.external-url=https://host/canton/"])
async def test_it_is_asked_below_the_prefix(ask: Ask, node: TestNode, flag: str) -> None:
    node.get("/canton/-/healthy", body=b"")
    assert await ask(node.url, flag) == (0, "")


@pytest.mark.parametrize("host", ["", "0.0.0.0"])  # noqa: S104 - where to ask
async def test_one_that_listens_everywhere_is_asked_on_this_machine(ask: Ask, node: TestNode, host: str) -> None:
    node.get("/-/healthy", body=b"")
    assert await ask(f"{host}:{node.url.rpartition(':')[2]}") == (0, "")


async def test_of_several_addresses_the_first_is_asked(ask: Ask, node: TestNode) -> None:
    node.get("/-/healthy", body=b"")
    assert await ask(node.url, "--web.listen-address=127.0.0.1:1") == (0, "")


async def test_the_environment_says_where_to_ask(
    ask: Ask, node: TestNode, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    node.get("/p/-/healthy", body=b"")
    monkeypatch.setenv("CANTON_EXPORTER_WEB__LISTEN_ADDRESS", node.url[7:])
    monkeypatch.setenv("CANTON_EXPORTER_WEB__ROUTE_PREFIX", "p")
    assert await asyncio.to_thread(main, ["health"]) == 0
    assert capsys.readouterr() == ("", "")


async def test_where_nothing_listens_one_sentence_says_so(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    assert await ask(address) == (
        1,
        f"canton-exporter: no exporter answers on {address}: Connection refused; "
        "if it listens elsewhere, set CANTON_EXPORTER_WEB__LISTEN_ADDRESS\n",
    )


async def test_one_that_hangs_is_dead_within_seconds(
    ask: Ask, node: TestNode, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("exporter.cli.healthcheck.TIMEOUT_SECONDS", 0.1)
    node.silent = True
    async with asyncio.timeout(30):  # of which a busy machine may take most, and the node would take an hour
        for flags in ([], [f"--web.config.file={tmp_path}"]):
            status, said = await ask(node.url, *flags)
            assert (status, "timed out" in said) == (1, True)


async def test_what_speaks_no_http_is_no_exporter(ask: Ask) -> None:
    async with RawNode(b"\x1b[31mSSH-2.0-x\r\n\r\n") as other:
        status, said = await ask(other.url)
    assert (status, "the answer is not HTTP" in said, "\x1b" in said) == (1, True, False)


async def test_what_hangs_up_is_no_exporter_where_there_is_no_tls(ask: Ask) -> None:
    async with RawNode() as other:
        status, said = await ask(other.url)
    assert (status, "closed connection" in said) == (1, True)


async def test_a_port_that_only_the_exporter_knows_cannot_be_asked(ask: Ask) -> None:
    assert await ask("127.0.0.1:0") == (
        1,
        "canton-exporter: 127.0.0.1:0 is a random free port; set a fixed one with --web.listen-address\n",
    )


# Behind a web configuration


async def test_a_password_is_not_known_and_not_needed(ask: Ask, file: Path, serve: Serve) -> None:  # noqa: F811
    say(file, basic_auth_users={"alice": ALICE})
    assert await ask(await serve(file), f"--web.config.file={file}") == (0, "")


async def test_under_tls_the_certificate_is_not_verified(ask: Ask, file: Path, serve: Serve) -> None:  # noqa: F811
    say(file, tls_server_config=SERVED)
    assert await ask(await serve(file), f"--web.config.file={file}") == (0, "")


@pytest.mark.parametrize("version", ["TLS12", "TLS13"])
async def test_one_that_wants_a_certificate_lives(ask: Ask, file: Path, serve: Serve, version: str) -> None:  # noqa: F811
    say(file, tls_server_config={**SERVED, **VERIFIED, "max_version": version})
    assert await ask(await serve(file), f"--web.config.file={file}") == (0, "")


async def test_a_web_configuration_that_would_turn_tls_on_or_off_ends_nobody(
    ask: Ask,
    file: Path,  # noqa: F811
    serve: Serve,  # noqa: F811
) -> None:
    say(file, tls_server_config=SERVED)
    url = await serve(file)
    for text in ("", "no: [yaml"):
        put(file, text)
        assert await ask(url, f"--web.config.file={file}") == (0, "")
    plain = await serve(None)
    say(file, tls_server_config=SERVED)
    assert await ask(plain, f"--web.config.file={file}") == (0, "")


async def test_under_tls_too_a_failure_is_a_failure(ask: Ask, file: Path, authority: trustme.CA) -> None:  # noqa: F811
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    node = await TestNode().start(context)
    node.get("/-/healthy", status=500, body=b"")
    status, said = await ask(node.url, f"--web.config.file={file}")
    assert (status, "answers 500" in said) == (1, True)
    await node.stop()


# The process


def test_it_starts_without_what_only_a_server_needs() -> None:
    code = (
        "import sys; from exporter.cli.main import main; main(['health', '--web.listen-address=127.0.0.1:1']);"
        "print(*{'aiohttp', 'apscheduler', 'asyncio', 'pydantic', 'yaml'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "\n"
    assert done.stderr.startswith("canton-exporter: no exporter answers on 127.0.0.1:1: ")
