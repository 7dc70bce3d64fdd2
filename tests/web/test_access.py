"""Who may ask: real TLS and real HTTP, by the file that every Prometheus exporter reads."""

import asyncio
import base64
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bcrypt
import pytest
import trustme
import yaml
from aiohttp import ClientError, ClientSession, TCPConnector, web
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from exporter.errors import WrongConfiguration
from exporter.web import users
from exporter.web.access import AccessControl

EXAMPLE = Path(__file__).parents[2] / "docs" / "web-config.example.yml"
VERIFIED = {"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": "client-ca.crt"}
SERVED = {"cert_file": "server.crt", "key_file": "server.key"}

Serve = Callable[[Path | None], Awaitable[str]]


def hashed(password: str, prefix: str = "$2b$") -> str:
    return prefix + bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()[4:]


ALICE = hashed("wonderland")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def client_authority() -> trustme.CA:
    return trustme.CA()


def put(file: Path, content: str | bytes) -> None:
    """Write a file, later than any before: a clock of file times may be coarser than a test is fast."""
    before = file.stat().st_mtime if file.exists() else 1_700_000_000
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(file, (before + 1, before + 1))


def remove(file: Path) -> None:
    file.unlink()


def issue(authority: trustme.CA, folder: Path, *names: str) -> None:
    certificate = authority.issue_cert(*(names or ("localhost", "127.0.0.1")))
    put(folder / "server.crt", certificate.cert_chain_pems[0].bytes())
    put(folder / "server.key", certificate.private_key_pem.bytes())


@pytest.fixture
def file(tmp_path: Path, authority: trustme.CA, client_authority: trustme.CA) -> Path:
    """Where the file will be, with certificates beside it."""
    issue(authority, tmp_path)
    put(tmp_path / "client-ca.crt", client_authority.cert_pem.bytes())
    return tmp_path / "web.yml"


def say(file: Path, **keys: Any) -> None:
    put(file, yaml.safe_dump(keys))


def errors_of(file: Path) -> list[str]:
    with pytest.raises(WrongConfiguration) as error:
        AccessControl.load(file)
    return [each.removeprefix(f"{file}: ") for each in error.value.errors]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Return a function that serves by a file, and returns the address."""
    runners = []
    opened: list[AccessControl] = []

    async def hello(request: web.Request) -> web.Response:
        return web.Response(text="hello")

    async def broken(request: web.Request) -> web.Response:
        raise RuntimeError("on purpose")

    async def serve(path: Path | None) -> str:
        found = AccessControl.load(path)
        opened.append(found)
        application = web.Application()
        application.router.add_get("/", hello)
        application.router.add_get("/-/healthy", hello)
        application.router.add_get("/broken", broken)
        found.guard(application)
        runners.append(web.AppRunner(application, access_log=None, shutdown_timeout=1))
        await runners[-1].setup()
        context = found.ssl_context()
        listener = web.TCPSite(runners[-1], "127.0.0.1", 0, ssl_context=context)
        await listener.start()
        return f"http{'s' if context else ''}://127.0.0.1:{runners[-1].addresses[0][1]}"

    serve.opened = opened  # type: ignore[attr-defined] # for tests that look at what it counted
    yield serve
    for runner in runners:
        await runner.cleanup()


def trusting(authority: trustme.CA, certificate: trustme.LeafCert | None = None) -> ssl.SSLContext:
    """Return the TLS of a client, with or without a certificate of its own."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    if certificate:
        certificate.configure_cert(context)
    return context


async def ask(
    url: str,
    user: tuple[str, str] | None = None,
    tls: ssl.SSLContext | bool = True,
    *,
    address: str | None = None,
    **headers: str,
) -> tuple[int, Any]:
    """Ask over a connection of its own; return the status and the headers of the answer."""
    if user:
        headers["Authorization"] = f"Basic {base64.b64encode(':'.join(user).encode()).decode()}"
    local = (address, 0) if address else None
    async with (
        ClientSession(connector=TCPConnector(ssl=tls, force_close=True, local_addr=local)) as session,
        session.get(url, headers=headers) as answer,
    ):
        await answer.read()
        return answer.status, answer.headers


async def status(
    url: str,
    user: tuple[str, str] | None = None,
    tls: ssl.SSLContext | bool = True,
    *,
    address: str | None = None,
) -> int:
    return (await ask(url, user, tls, address=address))[0]


async def certificate_served(url: str, authority: trustme.CA) -> bytes | None:
    port = int(url.rpartition(":")[2])
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting(authority), server_hostname="localhost")
    served: bytes | None = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return served


def resume(url: str, tls: ssl.SSLContext, session: ssl.SSLSession | None) -> tuple[ssl.SSLSession | None, bool | None]:
    """Ask as a client that goes on with its session; return the session, and whether it went on."""
    port = int(url.rpartition(":")[2])
    with (
        socket.create_connection(("127.0.0.1", port)) as plain,
        tls.wrap_socket(plain, server_hostname="localhost", session=session) as connection,
    ):
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        connection.recv(1)
        return connection.session, connection.session_reused


# What the file may say


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool, which comes with Prometheus, is not installed")
def test_promtool_and_we_accept_the_example(file: Path) -> None:
    shutil.copy(EXAMPLE, file)
    command = ["promtool", "check", "web-config", str(file)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - the command is our own
    assert AccessControl.load(file).ssl_context()


def test_what_the_example_shows_in_comments_is_right_too(file: Path) -> None:
    shown = EXAMPLE.read_text()
    for line in (
        "client_allowed_sans:",
        "  - prometheus.example.org",
        "rate_limit:",
        "  interval: 500ms",
        "  burst: 20",
    ):
        assert f"# {line}\n" in shown
        shown = shown.replace(f"# {line}\n", f"{line}\n")
    put(file, shown)
    assert AccessControl.load(file).ssl_context()


def test_everything_that_is_wrong_is_told_at_once_with_its_place(file: Path) -> None:
    say(
        file,
        tls_server_config={"cert_file": "none.crt", "min_version": "TLS10", "client_auth": "x"},
        http_server_config={"headers": {"X-Frame-Option": "deny", "X-Content-Type-Options": "sniff"}},
        basic_auth_users={"alice": "wonderland", "a:b": ALICE},
        basic_auth_user={},
    )
    assert sorted(errors_of(file)) == [
        "basic_auth_user: no such setting; did you mean basic_auth_users?",
        "basic_auth_users.a:b: must not contain a colon, nor be empty",
        "basic_auth_users.alice: is not a bcrypt hash; make one with htpasswd -nBC 10 NAME",
        "http_server_config.headers.X-Content-Type-Options: must be nosniff",
        "http_server_config.headers.X-Frame-Option: no such setting; did you mean X-Frame-Options?",
        "tls_server_config.cert_file: none.crt cannot be read (No such file or directory)",
        "tls_server_config.client_auth: no such setting; did you mean client_auth_type?",
        "tls_server_config.key: needs exactly one of key and key_file",
        "tls_server_config.min_version: is too old for OpenSSL; write TLS12 or TLS13",
    ]


@pytest.mark.parametrize(
    ("tls", "error"),
    [
        ({"cert": "x"}, "cert: needs exactly one of cert and cert_file"),
        ({"client_auth_type": "RequireAnyClientCert"}, "client_auth_type: is not supported in Python"),
        ({"client_auth_type": "Require"}, "client_auth_type: must be one of NoClientCert, RequestClientCert"),
        ({"client_ca_file": "client-ca.crt"}, "client_auth_type: does not use client_ca"),
        (
            {"client_ca_file": "server.key", "client_auth_type": "VerifyClientCertIfGiven"},
            "client_ca_file: contains no",
        ),
        ({**VERIFIED, "client_ca": "x"}, "client_ca: needs only one of client_ca and client_ca_file"),
        ({"client_allowed_sans": ["a"]}, "client_allowed_sans: needs client_auth_type"),
        ({**VERIFIED, "client_allowed_sans": []}, "client_allowed_sans: needs at least one entry"),
        ({"cert_file": "server.key"}, "cert_file: is not a PEM certificate"),
        ({"cert_file": "client-ca.crt"}, "cert_file: is not a PEM certificate, or its key is not a PEM key"),
        ({"key_file": "locked.key"}, "cert_file: is not a PEM certificate, or its key is not a PEM key"),
        ({"min_version": "TLS13", "max_version": "TLS12"}, "min_version: is above max_version"),
        ({"max_version": "SSL3"}, "max_version: must be one of TLS12, TLS13"),
        ({"cipher_suites": ["TLS_RSA_WITH_RC4_128_SHA"]}, "cipher_suites.0: must be one of TLS_ECDHE_ECDSA_WITH"),
        ({"cipher_suites": ["TLS_AES_128_GCM_SHA256"]}, "cipher_suites: has none for TLS 1.2"),
        ({"curve_preferences": ["X448"]}, "curve_preferences.0: must be one of CurveP256"),
        ({"curve_preferences": ["X25519", "CurveP256"]}, "curve_preferences: has more curves than the one"),
    ],
)
def test_tls_that_cannot_be_had_is_refused(file: Path, tls: dict[str, Any], error: str) -> None:
    key = load_pem_private_key((file.parent / "server.key").read_bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    put(file.parent / "locked.key", locked)
    say(file, tls_server_config={**SERVED, **tls})
    (told,) = errors_of(file)
    assert told.startswith(f"tls_server_config.{error}")


@pytest.mark.parametrize(
    ("tree", "error"),
    [
        ({"tls_server_config": "on"}, "tls_server_config: "),
        ({"tls_server_config": {}}, "tls_server_config.cert: needs exactly one"),
        ({"basic_auth_users": ["alice"]}, "basic_auth_users: "),
        ({"rate_limit": {"interval": "1s"}}, "rate_limit: burst must be 1 or more"),
        ({"rate_limit": {"interval": "often", "burst": 1}}, "rate_limit.interval: is not a duration"),
        ({"http_server_config": {"headers": {"X-XSS-Protection": "a\nb"}}}, "http_server_config.headers.X-XSS-Prot"),
    ],
)
def test_what_makes_no_sense_is_refused(file: Path, tree: dict[str, Any], error: str) -> None:
    say(file, **tree)
    assert errors_of(file)[0].startswith(error)


def test_no_hash_and_no_key_is_repeated_in_a_fault(file: Path) -> None:
    say(file, basic_auth_users={"alice": "hush"}, tls_server_config={"key": "hush", "cert": "x", "typo": "hush"})
    assert "hush" not in " ".join(errors_of(file))


def test_a_pipe_is_not_waited_for(file: Path) -> None:
    pipe = file.parent / "pipe"
    os.mkfifo(pipe)
    say(file, tls_server_config={**SERVED, "cert_file": "pipe"})
    assert errors_of(file) == ["tls_server_config.cert_file: pipe cannot be read (it is not a regular file)"]
    sentence = "cannot be read (it is not a regular file); name the file with --web.config.file"
    assert errors_of(pipe) == [sentence]


def test_a_file_that_is_not_there_is_a_fault(file: Path) -> None:
    with pytest.raises(WrongConfiguration, match="cannot be read"):
        AccessControl.load(file)


async def test_blank_settings_are_as_good_as_absent(file: Path, serve: Serve) -> None:
    say(
        file,
        tls_server_config=None,
        basic_auth_users="",
        rate_limit={"interval": 0},
        http_server_config={"http2": True},
    )
    assert await status(await serve(file)) == 200


# Users


async def test_without_a_file_everybody_may_ask(serve: Serve) -> None:
    url = await serve(None)
    assert url.startswith("http:")
    assert await status(url) == 200


@pytest.mark.parametrize("path", ["/", "/-/healthy", "/none"])
async def test_every_path_wants_a_password(file: Path, serve: Serve, path: str) -> None:
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file) + path
    code, headers = await ask(url)
    assert (code, headers["WWW-Authenticate"]) == (401, "Basic")
    assert await status(url, ("alice", "wonderland")) == (404 if path == "/none" else 200)


@pytest.mark.parametrize(
    "user", [("alice", "wrong"), ("alice", ""), ("bob", "wonderland"), ("", "wonderland"), ("alice", "\0"), ("", "")]
)
async def test_nobody_else_is_let_in(file: Path, serve: Serve, user: tuple[str, str]) -> None:
    say(file, basic_auth_users={"alice": ALICE, "carol": hashed("x")})
    url = await serve(file)
    assert await status(url, user) == 401
    assert await status(url, ("alice", "wonderland")) == 200
    assert await status(url, user) == 401


@pytest.mark.parametrize("header", ["Basic", "Basic x", "Basic é", "Bearer YWxpY2U6d29uZGVybGFuZA==", "Basic YWxpY2U="])
async def test_a_header_that_says_nothing_is_as_none(file: Path, serve: Serve, header: str) -> None:
    say(file, basic_auth_users={"alice": ALICE})
    assert (await ask(await serve(file), Authorization=header))[0] == 401


@pytest.mark.parametrize("prefix", ["$2a$", "$2b$", "$2y$"])
async def test_hashes_of_all_tools_and_long_passwords_in_any_script_are_right(
    file: Path, serve: Serve, prefix: str
) -> None:
    say(file, basic_auth_users={"żółw": hashed("ß" * 36, prefix)})
    assert await status(await serve(file), ("żółw", "ß" * 36 + "beyond what bcrypt reads")) == 200


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The hashes that passwords were checked against, one by one."""
    seen: list[bytes] = []
    really = bcrypt.checkpw

    def checkpw(password: bytes, expected: bytes) -> bool:
        seen.append(expected)
        return really(password, expected)

    monkeypatch.setattr(bcrypt, "checkpw", checkpw)
    return seen


async def test_a_right_password_is_hashed_once_and_then_no_guess_is(
    file: Path, serve: Serve, checks: list[bytes]
) -> None:
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    assert [await status(url, ("alice", "wrong")) for _ in range(3)] == [401] * 3
    assert len(checks) == 3
    assert [await status(url, ("alice", "wonderland")) for _ in range(3)] == [200] * 3
    assert len(checks) == 4
    guesses = [("alice", "wrong"), ("bob", "wonderland"), ("bob", "wrong"), ("alice", "")]
    assert [await status(url, guess) for guess in guesses] == [401] * 4
    assert len(checks) == 4


async def test_an_unknown_user_costs_one_hash_of_a_known_ones_cost(
    file: Path, serve: Serve, checks: list[bytes]
) -> None:
    say(file, basic_auth_users={"alice": ALICE, "carol": hashed("x")})
    url = await serve(file)
    assert [await status(url, ("bob", "wonderland")) for _ in range(3)] == [401] * 3
    assert len(checks) == 3
    assert len(set(checks)) == 1, "or the answer's time would tell that the name is unknown"


@dataclass
class SlowHash:
    """Lets no password be checked until it may, and checks them really then."""

    begun: asyncio.Event
    go_on: threading.Event


@pytest.fixture
async def slow_hash(monkeypatch: pytest.MonkeyPatch) -> SlowHash:
    slow, loop, really = SlowHash(asyncio.Event(), threading.Event()), asyncio.get_running_loop(), bcrypt.checkpw

    def checkpw(password: bytes, expected: bytes) -> bool:
        loop.call_soon_threadsafe(slow.begun.set)
        slow.go_on.wait(60)
        return really(password, expected)

    monkeypatch.setattr(bcrypt, "checkpw", checkpw)
    return slow


def guess(url: str, number: int, address: str = "127.0.0.1") -> asyncio.Task[int]:
    return asyncio.create_task(status(url, ("alice", f"guess {number}"), address=address))


async def test_guessing_cannot_pile_up_work(
    file: Path, serve: Serve, slow_hash: SlowHash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users, "MOST_OF_ADDRESS", 2)
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    guesses = [guess(url, 0)]
    await slow_hash.begun.wait()
    guesses += [guess(url, number) for number in range(1, 5)]
    done, waiting = set[asyncio.Task[int]](), {*guesses}
    while len(done) < 2:
        ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        done |= ended
    assert [each.result() for each in done] == [503, 503]
    slow_hash.go_on.set()
    assert await asyncio.gather(*waiting) == [401] * 3


async def test_a_strangers_guesses_keep_no_right_password_out(
    file: Path, serve: Serve, slow_hash: SlowHash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users, "MOST_WAITING", 10)
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    guesses = [guess(url, 0)]
    await slow_hash.begun.wait()
    guesses += [guess(url, number) for number in range(1, 11)]
    queue = serve.opened[-1]._users._queue._waiting  # type: ignore[attr-defined]
    async with asyncio.timeout(60):
        while sum(map(len, queue.values())) < 10:  # noqa: ASYNC110 - nothing tells from outside when all of them wait
            await asyncio.sleep(0.01)
    right = asyncio.create_task(status(url, ("alice", "wonderland"), address="127.0.0.2"))
    done, waiting = await asyncio.wait(guesses, return_when=asyncio.FIRST_COMPLETED)
    assert [each.result() for each in done] == [503], "one made room"
    slow_hash.go_on.set()
    assert await right == 200
    assert await asyncio.gather(*waiting) == [401] * 10


async def test_nor_do_those_of_somebody_behind_the_same_proxy(file: Path, serve: Serve, slow_hash: SlowHash) -> None:
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    guesses = [guess(url, number) for number in range(30)]
    await slow_hash.begun.wait()
    right = asyncio.create_task(status(url, ("alice", "wonderland")))
    slow_hash.go_on.set()
    assert await right == 200
    assert await asyncio.gather(*guesses) == [401] * 30


async def test_a_guess_of_a_client_that_went_away_waits_no_more(slow_hash: SlowHash) -> None:
    queue = users.FairQueue()
    first = asyncio.create_task(queue.check(b"a", ALICE.encode(), "::1"))
    await slow_hash.begun.wait()
    gone = [asyncio.create_task(queue.check(b"b", ALICE.encode(), "::2")) for _ in range(3)]
    await asyncio.sleep(0)
    for each in gone:
        each.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    assert not any(queue._waiting.values())
    slow_hash.go_on.set()
    assert await first is False
    assert await queue.check(b"wonderland", ALICE.encode(), "::1") is True
    queue.close()


def test_an_ipv6_network_counts_as_one_address() -> None:
    assert users.group_of("2001:db8::1") == users.group_of("2001:db8::ffff:2") != users.group_of("2001:db8:0:1::1")
    assert users.group_of("::ffff:10.0.0.1") != users.group_of("::ffff:10.0.0.2")
    assert users.group_of("10.0.0.1") != users.group_of("10.0.0.2")
    assert users.group_of(None) == users.group_of("") == ""


async def test_refused_logins_are_counted_and_one_line_names_the_address(
    file: Path, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    assert await status(url) == 401
    assert serve.opened[-1].refused == 0, "a browser asks without a password first"  # type: ignore[attr-defined]
    for user in (("alice", "hunter2"), ("hunter2", "x"), ("alice", "hunter2")):
        assert await status(url, user) == 401
    assert await status(url, ("alice", "wonderland")) == 200
    assert serve.opened[-1].refused == 3  # type: ignore[attr-defined]
    [record] = caplog.records
    assert (record.levelname, record.message, vars(record)["address"]) == (
        "WARNING",
        "a login was refused",
        "127.0.0.1",
    )
    assert "hunter2" not in str(vars(record)), "somebody may write the password in the place of the name"


async def test_users_come_and_go_without_a_restart(file: Path, serve: Serve) -> None:
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    assert await status(url, ("alice", "wonderland")) == 200
    say(file, basic_auth_users={"bob": hashed("builder")})
    assert await status(url, ("alice", "wonderland")) == 401
    assert await status(url, ("bob", "builder")) == 200
    say(file, basic_auth_users={"bob": hashed("renewed")})
    assert await status(url, ("bob", "builder")) == 401
    say(file)
    assert await status(url) == 200


async def test_a_user_who_goes_while_the_password_is_checked_is_not_let_in(
    file: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def checkpw(*_: bytes) -> bool:
        loop.call_soon_threadsafe(begun.set)
        return go_on.wait(60)

    monkeypatch.setattr(bcrypt, "checkpw", checkpw)
    asked = asyncio.create_task(status(url, ("alice", "wonderland")))
    await begun.wait()
    say(file, basic_auth_users={"bob": hashed("builder")})
    assert await status(url) == 401
    go_on.set()
    assert await asked == 401


async def test_a_broken_file_is_told_once_and_the_users_before_it_go_on(
    file: Path, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    say(file, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    put(file, "basic_auth_users: {alice: ")
    assert [await status(url, ("alice", "wonderland")), await status(url)] == [200, 401]
    remove(file)
    assert [await status(url, ("alice", "wonderland")), await status(url)] == [200, 401]
    told = [record for record in caplog.records if record.levelname == "ERROR"]
    assert ["is not YAML" in told[0].__dict__["error"], "cannot be read" in told[1].__dict__["error"]] == [True, True]
    assert len(told) == 2
    say(file, basic_auth_users={"bob": hashed("builder")})
    assert await status(url, ("bob", "builder")) == 200


# Headers and limits


async def test_every_answer_carries_the_headers(file: Path, serve: Serve) -> None:
    headers = {"X-Frame-Options": "deny", "Content-Security-Policy": "default-src 'self'", "X-XSS-Protection": ""}
    say(file, basic_auth_users={"alice": ALICE}, http_server_config={"headers": headers})
    url = await serve(file)
    answers = [await ask(url), *[await ask(url + path, ("alice", "wonderland")) for path in ("", "/none", "/broken")]]
    assert [code for code, _ in answers] == [401, 200, 404, 500]
    for _, told in answers:
        assert told["X-Frame-Options"] == "deny"
        assert told["Content-Security-Policy"] == "default-src 'self'"
        assert "X-XSS-Protection" not in told


async def test_more_requests_than_the_limit_are_turned_away_before_anything_is_hashed(
    file: Path, serve: Serve, checks: list[bytes]
) -> None:
    say(file, basic_auth_users={"alice": ALICE}, rate_limit={"interval": "1h", "burst": 2})
    url = await serve(file)
    assert [await status(url, ("alice", "wrong")) for _ in range(3)] == [401, 401, 429]
    assert await status(url, ("alice", "wonderland")) == 429
    assert len(checks) == 2
    say(file, rate_limit={"interval": 0})
    assert await status(url) == 200


async def test_strangers_do_not_use_up_the_limit_of_those_who_have_logged_in(file: Path, serve: Serve) -> None:
    say(file, basic_auth_users={"alice": ALICE}, rate_limit={"interval": "1h", "burst": 2})
    url = await serve(file)
    assert await status(url, ("alice", "wonderland")) == 200
    assert [await status(url, ("alice", "wrong")) for _ in range(3)] == [401, 429, 429]
    assert [await status(url, ("alice", "wonderland")) for _ in range(3)] == [200, 200, 429]


# TLS


def sans(*names: str) -> dict[str, Any]:
    return {**VERIFIED, "client_allowed_sans": names and [*names]}


@pytest.fixture
def clients(authority: trustme.CA, client_authority: trustme.CA) -> dict[str, ssl.SSLContext]:
    return {
        "known": trusting(authority, client_authority.issue_cert("prometheus.example.org", "2001:db8::1")),
        "foreign": trusting(authority, trustme.CA().issue_cert("prometheus.example.org")),
        "none": trusting(authority),
    }


@pytest.mark.parametrize(
    ("tls", "answers"),
    [
        ({}, {"known": 200, "foreign": 200, "none": 200}),
        ({"client_auth_type": "RequestClientCert"}, {"known": 200, "foreign": 200, "none": 200}),
        ({**VERIFIED}, {"known": 200, "foreign": None, "none": None}),
        ({**VERIFIED, "client_ca_file": "", "client_ca": "inline"}, {"known": 200, "foreign": None, "none": None}),
        ({"client_auth_type": "RequireAndVerifyClientCert"}, {"known": None, "foreign": None, "none": None}),
        (
            {**VERIFIED, "client_auth_type": "VerifyClientCertIfGiven"},
            {"known": 200, "foreign": None, "none": 200},
        ),
        (sans("other", "prometheus.example.org"), {"known": 200, "foreign": None, "none": None}),
        (sans("2001:db8::1"), {"known": 200}),
        (sans("other.example.org"), {"known": 403}),
    ],
)
async def test_clients_are_let_in_by_their_certificates(
    file: Path, serve: Serve, clients: dict[str, ssl.SSLContext], tls: dict[str, Any], answers: dict[str, int | None]
) -> None:
    if tls.get("client_ca"):
        tls = {**tls, "client_ca": (file.parent / "client-ca.crt").read_text()}
    say(file, tls_server_config={**SERVED, **tls})
    url = await serve(file)
    for client, answer in answers.items():
        if answer is None:
            with pytest.raises(ClientError):
                await status(url, tls=clients[client])
        else:
            assert await status(url, tls=clients[client]) == answer


async def test_a_renewed_certificate_is_served_to_the_next_connection(
    file: Path, serve: Serve, authority: trustme.CA
) -> None:
    say(file, tls_server_config=SERVED)
    url = await serve(file)
    first = await certificate_served(url, authority)
    assert await certificate_served(url, authority) == first
    issue(authority, file.parent)
    second = await certificate_served(url, authority)
    assert second != first
    assert second == ssl.PEM_cert_to_DER_cert((file.parent / "server.crt").read_text())


async def test_half_a_renewal_is_told_once_and_the_certificate_before_goes_on(
    file: Path, serve: Serve, authority: trustme.CA, caplog: pytest.LogCaptureFixture
) -> None:
    say(file, tls_server_config=SERVED)
    url = await serve(file)
    first = await certificate_served(url, authority)
    renewed = authority.issue_cert("localhost")
    put(file.parent / "server.crt", renewed.cert_chain_pems[0].bytes())
    assert [await certificate_served(url, authority) for _ in range(3)] == [first] * 3
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    put(file.parent / "server.key", renewed.private_key_pem.bytes())
    assert await certificate_served(url, authority) != first


async def test_clients_of_an_authority_that_went_are_refused_even_if_they_go_on_with_a_session(
    file: Path, serve: Serve, clients: dict[str, ssl.SSLContext], authority: trustme.CA
) -> None:
    say(file, tls_server_config={**SERVED, **VERIFIED})
    url = await serve(file)
    known = clients["known"]
    known.maximum_version = ssl.TLSVersion.TLSv1_2  # its sessions are there as soon as the handshake is over
    session, _ = await asyncio.to_thread(resume, url, known, None)
    assert (await asyncio.to_thread(resume, url, known, session))[1]
    renewed = trustme.CA()
    put(file.parent / "client-ca.crt", renewed.cert_pem.bytes())
    with pytest.raises(ssl.SSLError):
        await asyncio.to_thread(resume, url, known, session)
    assert await status(url, tls=trusting(authority, renewed.issue_cert("prometheus"))) == 200


async def test_what_else_is_said_of_tls_holds_for_the_next_connection_too(
    file: Path, serve: Serve, clients: dict[str, ssl.SSLContext]
) -> None:
    say(file, tls_server_config=SERVED)
    url = await serve(file)
    old = clients["none"]
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    assert await status(url, tls=old) == 200
    say(file, tls_server_config={**SERVED, "min_version": "TLS13"})
    with pytest.raises(ClientError):
        await status(url, tls=old)
    assert await status(url, tls=clients["known"]) == 200
    say(file, tls_server_config={**SERVED, **VERIFIED})
    with pytest.raises(ClientError):
        await status(url, tls=clients["none"])


async def test_tls_goes_on_or_off_only_with_a_restart(
    file: Path, serve: Serve, clients: dict[str, ssl.SSLContext], caplog: pytest.LogCaptureFixture
) -> None:
    say(file, tls_server_config=SERVED, basic_auth_users={"alice": ALICE})
    url = await serve(file)
    say(file)
    assert await status(url, ("alice", "wonderland"), clients["none"]) == 200
    assert await status(url, tls=clients["none"]) == 401
    (told,) = [record.__dict__["error"] for record in caplog.records if record.levelname == "ERROR"]
    assert told == f"{file}: tls_server_config: TLS can be switched on or off only by a restart"


async def test_certificates_and_keys_may_stand_in_the_file_itself(
    file: Path, serve: Serve, clients: dict[str, ssl.SSLContext]
) -> None:
    inline = {"cert": (file.parent / "server.crt").read_text(), "key": (file.parent / "server.key").read_text()}
    say(file, tls_server_config=inline)
    remove(file.parent / "server.key")
    assert await status(await serve(file), tls=clients["none"]) == 200


@pytest.mark.parametrize(
    ("ours_first", "chosen"), [(True, "ECDHE-ECDSA-AES128-GCM-SHA256"), (False, "ECDHE-ECDSA-AES256-GCM-SHA384")]
)
async def test_ciphers_and_a_curve_are_chosen_by_gos_names(
    file: Path, serve: Serve, clients: dict[str, ssl.SSLContext], ours_first: bool, chosen: str
) -> None:
    suites = ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"]
    say(
        file,
        tls_server_config={
            **SERVED,
            "max_version": "TLS12",
            "cipher_suites": [*suites, "TLS_AES_128_GCM_SHA256"],
            "curve_preferences": ["CurveP384"],
            "prefer_server_cipher_suites": ours_first,
        },
    )
    url = await serve(file)
    client = clients["none"]
    client.set_ciphers("ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-SHA")
    port = int(url.rpartition(":")[2])
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
    assert writer.get_extra_info("cipher")[0] == chosen
    writer.close()
    await writer.wait_closed()
    client.set_ecdh_curve("prime256v1")
    with pytest.raises(ClientError):
        await status(url, tls=client)
