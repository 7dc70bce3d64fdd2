"""Where requests go and what they carry, where files say so: read again when they change, told when missing."""

import os
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.budget import Share
from exporter.collectors.health import health
from exporter.errors import Failed
from exporter.question import Question
from exporter.runner import Outcome
from exporter.transport import Reply, Transport
from tests.conftest import Lines
from tests.nodes import TestNode

Connect = Callable[..., Transport]

PATH = "/v2/things"


async def ask(transport: Transport) -> Reply:
    return await transport.request(Question("GET", PATH, PATH, {}, None), None, Share.WHOLE, 5.0)


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
    assert said == f"unauthorized: {file} holds no header X-Api-Key: one line of text is expected"


async def test_requests_go_where_the_urls_file_says_now(connect: Connect, node: TestNode, file: Path) -> None:
    node.get(f"/first{PATH}?key=sesame", answers={})
    node.get(f"/second{PATH}", answers={})
    write(file, f"{node.url}/first/?key=sesame\n")
    transport = connect(None, url_file=file)
    await ask(transport)
    assert transport.destination.public_url == f"{node.url}/first"
    write(file, node.url.replace("//", "//user:pa55word@") + "/second")
    await ask(transport)
    assert node.requests[-1].headers["Authorization"] == f"Basic {b64encode(b'user:pa55word').decode()}"
    assert transport.destination.public_url == f"{node.url}/second"
    assert transport.redact("sesame pa55word") == "*** ***"


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
    said = f"unreachable: the url in {file} is no address of a node; write one as https://host[:port][/path]"
    write(file, text)
    assert await fault(transport) == said
    write(file, node.url)
    assert (await ask(transport)).status == 200
    write(file, text)
    assert await fault(transport) == said


async def test_a_url_with_a_user_is_not_asked_beside_another_way_of_authorization(connect: Connect, file: Path) -> None:
    write(file, "http://user:sesame@127.0.0.1:9")
    said = f"unreachable: the url in {file} has a user, and the target is authorized in another way too; keep one"
    assert await fault(connect(None, url_file=file, headers={"authorization": "Token x"})) == said
    assert await fault(connect(None, url_file=file, auth={"type": "bearer", "token": "t"})) == said


@pytest.mark.parametrize(
    ("missing", "reason"), [({"url_file": "none"}, None), ({"header_files": {"X-Api-Key": "none"}}, "unauthorized")]
)
async def test_without_its_url_a_node_is_down_and_without_its_header_nobody_knows(
    lines: Lines, connect: Connect, missing: dict[str, object], reason: str | None
) -> None:
    lines.kept = connect(None if "url_file" in missing else "http://127.0.0.1:9", **missing)
    said = await lines(health)
    assert (said[:1] == ["canton_up 0.0"], lines.run.reason) == (reason is None, reason)
    assert lines.run.outcome is (Outcome.FAILED if reason else Outcome.OK)
