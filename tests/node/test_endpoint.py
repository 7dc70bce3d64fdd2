"""Where requests go and what they carry, where files say so: read again when they change, told when missing."""

import asyncio
import os
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from exporter.collectors.health import health
from exporter.config.models import Budget
from exporter.errors import Failed, Unreachable
from exporter.node.messages import Request, Response
from exporter.node.rate_limit import Share
from exporter.node.transport import Transport
from exporter.scheduling.watch import Outcome
from tests.conftest import Connect, Lines, running_node
from tests.nodes import TestNode

PATH = "/v2/things"


async def ask(transport: Transport) -> Response:
    return await transport.request(Request("GET", PATH, PATH, {}, None), None, Share.WHOLE, 5.0)


async def fault(transport: Transport) -> str:
    with pytest.raises(Failed) as caught:
        await ask(transport)
    return f"{caught.value.reason}: {caught.value}"


def write(file: Path, text: str) -> None:
    file.write_text(text, encoding="ascii")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "secret"


async def test_a_header_in_a_file_is_sent_as_the_file_has_it_now(connect: Connect, node: TestNode, file: Path) -> None:
    node.get(PATH, answers={})
    transport = connect(node.url, headers={"X-Team": "written"}, header_files={"X-Api-Key": file})
    for value in ("first-key", "second-key, longer"):
        write(file, f"{value}\n")
        await ask(transport)
        assert node.requests[-1].headers["X-Api-Key"] == value
        assert node.requests[-1].headers["X-Team"] == "written"


async def test_a_header_that_is_missing_keeps_requests_back_until_it_is_there(
    connect: Connect, node: TestNode, file: Path
) -> None:
    node.get(PATH, answers={})
    transport = connect(node.url, header_files={"X-Api-Key": file})
    said = f"unauthorized: the header X-Api-Key cannot be read from {file}: No such file or directory"
    assert (await fault(transport), len(node.requests)) == (said, 0)
    write(file, "key")
    assert (await ask(transport)).status == 200
    os.unlink(file)
    assert (await fault(transport), len(node.requests)) == (said, 1)


@pytest.mark.parametrize("text", ["", " \n", "two\nlines", "a\x00b"])
async def test_a_header_that_is_not_one_line_is_told(connect: Connect, file: Path, text: str) -> None:
    write(file, text)
    said = await fault(connect("http://127.0.0.1:9", header_files={"X-Api-Key": file}))
    assert said == f"unauthorized: {file} has no header X-Api-Key; write one line of text"


async def test_requests_go_where_the_urls_file_says_now(connect: Connect, node: TestNode, file: Path) -> None:
    node.get(f"/first{PATH}?key=sesame", answers={})
    node.get(f"/second{PATH}", answers={})
    write(file, f"{node.url}/first/?key=sesame\n")
    transport = connect(None, url_file=file)
    await ask(transport)
    assert transport.destination.public_url == node.url, "a path too may hold a key"
    write(file, node.url.replace("//", "//user:pa55word@") + "/second")
    await ask(transport)
    assert node.requests[-1].headers["Authorization"] == f"Basic {b64encode(b'user:pa55word').decode()}"
    assert transport.redact("sesame pa55word") == "*** ***"


async def test_a_key_in_the_path_of_a_secret_url_is_shown_nowhere(connect: Connect, node: TestNode, file: Path) -> None:
    transport = connect(None, url_file=file)
    for path, told in [
        ("api/0123456789abcdef0123", "Cannot GET /***/livez"),
        ("K3Y/api", "Cannot GET /***/livez"),
        ("sesame", "Cannot GET /***/livez"),
    ]:
        write(file, f"{node.url}/{path}")
        assert transport.destination.public_url == node.url
        assert transport.redact(f"Cannot GET /{path}/livez") == told
    assert transport.redact("0123456789abcdef0123 alone, or sesame") == "*** alone, or ***"


async def test_what_may_be_a_key_in_a_path_is_left_in_good_answers(connect: Connect, file: Path) -> None:
    write(file, "http://127.0.0.1:9/my-participant-node-01/api")
    redact = connect(None, url_file=file).redact
    body = b'{"version":"3.4.0-my-participant-node-01"}'
    assert redact.body(body, is_answer=True) == body
    assert redact.body(body, is_answer=False) == b'{"version":"3.4.0-***"}'


async def test_a_target_whose_urls_file_is_missing_is_unreachable(connect: Connect, file: Path) -> None:
    transport = connect(None, url_file=file)
    assert await fault(transport) == f"unreachable: the url cannot be read from {file}: No such file or directory"
    assert transport.destination.public_url == ""


@pytest.mark.parametrize("text", ["node:5011", "ftp://sesame", "http://sesame/a b", "{}"])
async def test_a_file_that_holds_no_url_is_told_without_what_it_holds(
    connect: Connect, node: TestNode, file: Path, text: str
) -> None:
    node.get(PATH, answers={})
    transport = connect(None, url_file=file)
    said = f"unreachable: the url in {file} is not an address of a node; write one as https://host[:port][/path]"
    write(file, text)
    assert await fault(transport) == said
    write(file, node.url)
    assert (await ask(transport)).status == 200
    write(file, text)
    assert await fault(transport) == said


async def test_a_url_with_a_user_is_not_asked_beside_another_way_of_authorization(connect: Connect, file: Path) -> None:
    write(file, "http://user:sesame@127.0.0.1:9")
    said = f"unreachable: the url in {file} has a user, and the target has another authorization; keep one"
    assert await fault(connect(None, url_file=file, headers={"authorization": "Token x"})) == said
    assert await fault(connect(None, url_file=file, auth={"type": "bearer", "token": "t"})) == said


@pytest.mark.parametrize(
    ("missing", "reason"),
    [({"url_file": "none"}, "unreachable"), ({"header_files": {"X-Api-Key": "none"}}, "unauthorized")],
)
async def test_without_its_url_or_a_header_a_node_was_not_asked_and_nobody_knows_if_it_is_up(
    lines: Lines, connect: Connect, missing: dict[str, object], reason: str
) -> None:
    lines.kept = connect(None if "url_file" in missing else "http://127.0.0.1:9", **missing)
    said = await lines(health)
    assert (said[0].partition(":")[0], lines.run.outcome) == (reason, Outcome.FAILED)


# While requests are under way


@pytest.fixture
async def other() -> AsyncIterator[TestNode]:
    async with running_node() as node:
        yield node


async def test_a_new_header_goes_to_the_new_url_only(
    connect: Connect, node: TestNode, other: TestNode, tmp_path: Path
) -> None:
    url, key = tmp_path / "url", tmp_path / "key"
    node.get(PATH, answers={})
    other.get(PATH, answers={})
    write(url, node.url)
    write(key, "first-key")
    transport = connect(None, url_file=url, header_files={"X-Api-Key": key}, budget=Budget(rate=10, burst=1))
    await ask(transport)
    waiting = asyncio.create_task(ask(transport))
    await asyncio.sleep(0)
    write(url, other.url)
    write(key, "second-key")
    await waiting
    assert [request.headers["X-Api-Key"] for request in node.requests] == ["first-key"]
    assert [request.headers["X-Api-Key"] for request in other.requests] == ["second-key"]


async def test_the_node_that_asked_is_left_alone_though_the_url_is_another_by_now(
    connect: Connect, node: TestNode, other: TestNode, file: Path
) -> None:
    node.get(PATH, status=429, body=b"")
    other.get(PATH, answers={})
    write(file, node.url)
    transport = connect(None, url_file=file)
    limited = await ask(transport)
    write(file, other.url)
    transport.back_off(limited.endpoint, 60)
    assert (await ask(transport)).status == 200
    write(file, node.url)
    assert "the node asked to wait 60 s more" in await fault(transport)


async def test_secrets_of_a_header_called_url_are_apart_from_those_of_the_url(connect: Connect, file: Path) -> None:
    transport = connect("http://me:pa55word@127.0.0.1:9", header_files={"url": file})
    for number in range(20):
        write(file, f"secret-{number:02}")
        transport.destination.headers()
    assert transport.redact("pa55word secret-19 secret-18 secret-00") == "*** *** *** secret-00"


async def test_a_broken_proxy_is_told_with_its_variable(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://user:sesame@[bad")
    with pytest.raises(Unreachable) as caught:
        connect("http://node.example").destination.endpoint()
    said = "environment variable HTTP_PROXY: is not an address of a proxy; write http://host:port"
    assert str(caught.value) == said
