"""Tokens: where they come from, the times they name, and when they are read anew."""

import base64
import os
from pathlib import Path

import msgspec
import pytest

from exporter.config.models import BearerAuth, NoAuth
from exporter.errors import Unauthorized
from exporter.node.auth import Auth, FileToken, NoToken, StaticToken, Token, make_auth, read_token


def jwt(payload: bytes) -> str:
    return f"e30.{base64.urlsafe_b64encode(payload).decode().rstrip('=')}.c2lnbmF0dXJl"


# What a token says of itself


@pytest.mark.parametrize(
    ("payload", "issued", "expiry"),
    [
        (b'{"iat":1795240000,"exp":1795243600}', 1795240000.0, 1795243600.0),
        (b'{"sub":"a","exp":1795243600.5,"aud":["x"],"nested":{"exp":1}}', None, 1795243600.5),
        (b'{"iat":1795240000}', 1795240000.0, None),
        (b'{"iat":null,"exp":null}', None, None),
        (b'{"iat":5,"exp":1e9,"name":"\xff"}', 5.0, 1e9),
        (b"{}", None, None),
    ],
)
def test_reads_the_times_a_jwt_names(payload: bytes, issued: float | None, expiry: float | None) -> None:
    assert read_token(jwt(payload)) == Token(jwt(payload), issued, expiry)


@pytest.mark.parametrize("extra", ["", "a", "ab", "abc"])
def test_reads_a_payload_of_any_length(extra: str) -> None:
    payload = msgspec.json.encode({"exp": 5, "extra": extra + "\u00fb\u00ff\u00fe?>"})
    assert read_token(jwt(payload)).expiry == 5


@pytest.mark.parametrize("text", ["opaque", "", "a.b", "a.b.c", "a..c", ".", "....", "a.!!!.c", "a.é.c", "a b.c d.e f"])
def test_an_opaque_token_names_no_times(text: str) -> None:
    assert read_token(text) == Token(text)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b'{"exp":"1795243600"}', id="a string"),
        pytest.param(b'{"exp":true}', id="true"),
        pytest.param(b'{"iat":[5],"exp":{"seconds":5}}', id="nested"),
        pytest.param(b'{"exp":1e400}', id="beyond numbers"),
        pytest.param(b'{"exp":' + b"9" * 400 + b"}", id="a huge number"),
        pytest.param(b'{"exp":' + b"9" * 5000 + b"}", id="a huger number"),
        pytest.param(b'{"exp":NaN}', id="not a number"),
        pytest.param(b'{"exp":"\xff"}', id="no text"),
        pytest.param(b'{"exp":' + b"[" * 200_000, id="arrays without end"),
        pytest.param(b"[" * 200_000, id="nothing but arrays"),
        pytest.param(b"null", id="null"),
        pytest.param(b'[{"exp":5}]', id="a list"),
        pytest.param(b"5", id="a number"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff\xfe", id="no JSON"),
        pytest.param(b'{"exp":5', id="a part of JSON"),
    ],
)
def test_a_jwt_that_names_no_time_is_a_token_all_the_same(payload: bytes) -> None:
    assert read_token(jwt(payload)) == Token(jwt(payload))


def test_a_token_does_not_show_its_text() -> None:
    assert repr(read_token(jwt(b'{"exp":5}'))) == "Token(issued=None, expiry=5.0)"


# Where it comes from


async def test_none_is_sent_where_none_is_configured() -> None:
    auth = make_auth(NoAuth())
    assert isinstance(auth, NoToken)
    auth.reject(Token("a-token"))
    assert (await auth.token(), auth.available(), auth.renewed_by) == (None, None, "nobody")


async def test_a_token_in_the_configuration_is_the_only_one() -> None:
    auth = make_auth(BearerAuth.model_validate({"type": "bearer", "token": jwt(b'{"iat":4,"exp":5}')}))
    assert isinstance(auth, StaticToken)
    token = await auth.token()
    assert token == auth.available() == Token(jwt(b'{"iat":4,"exp":5}'), 4, 5)
    assert token is not None
    auth.reject(token)
    assert (await auth.token(), auth.renewed_by) == (token, "nobody")


async def test_a_token_in_a_file_is_renewed_by_the_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"  {jwt(b'{}')}\r\n\n", encoding="ascii")
    auth = make_auth(BearerAuth.model_validate({"type": "bearer", "token_file": str(file)}))
    assert isinstance(auth, FileToken)
    assert await auth.token() == auth.available() == Token(jwt(b"{}"))
    assert auth.renewed_by == "file"


# A file that changes


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text("old-token\n", encoding="ascii")
    return file


async def text(auth: Auth) -> str:
    token = await auth.token()
    assert token is not None
    assert auth.available() == token
    return token.text


def replace(file: Path, content: str) -> None:
    """Replace a file by another that has the same size and was changed at the same time."""
    before = file.stat()
    other = file.with_suffix(".new")
    other.write_text(content, encoding="ascii")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, file)


def change(file: Path, content: str, nanoseconds: int) -> None:
    """Change a file in place, and set by how much later it looks."""
    before = file.stat()
    file.write_text(content, encoding="ascii")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + nanoseconds))


def write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def move(file: Path, to: Path) -> None:
    file.rename(to)


async def test_a_file_that_was_replaced_is_read_again(file: Path) -> None:
    auth = FileToken(file)
    assert await text(auth) == "old-token"
    replace(file, "new-token\n")
    assert await text(auth) == "new-token"


@pytest.mark.parametrize("nanoseconds", [1_000_000_000, -1_000_000_000, 1000])
async def test_a_file_changed_in_place_is_read_again(file: Path, nanoseconds: int) -> None:
    auth = FileToken(file)
    assert await text(auth) == "old-token"
    change(file, "new-token\n", nanoseconds)
    assert await text(auth) == "new-token"


async def test_a_file_of_another_size_is_read_again(file: Path) -> None:
    auth = FileToken(file)
    assert await text(auth) == "old-token"
    change(file, "newer-token\n", 0)
    assert await text(auth) == "newer-token"


async def test_a_file_behind_a_link_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "token").write_text(f"token-{name}", encoding="ascii")
        os.utime(tmp_path / name / "token", ns=(0, 0))
    (tmp_path / "data").symlink_to("1")
    (tmp_path / "token").symlink_to("data/token")
    auth = FileToken(tmp_path / "token")
    assert await text(auth) == "token-1"
    (tmp_path / "next").symlink_to("2")
    os.replace(tmp_path / "next", tmp_path / "data")
    assert await text(auth) == "token-2"


async def test_a_file_that_did_not_change_is_not_read_again(file: Path) -> None:
    auth = FileToken(file)
    assert await text(auth) == "old-token"
    change(file, "new-token\n", 0)
    assert await text(auth) == "old-token"


async def test_a_token_that_was_refused_is_read_again(file: Path) -> None:
    auth = FileToken(file)
    await auth.token()
    change(file, "new-token\n", 0)
    auth.reject(Token("old-token"))
    assert await text(auth) == "new-token"


async def test_another_token_that_was_refused_changes_nothing(file: Path) -> None:
    auth = FileToken(file)
    await auth.token()
    change(file, "new-token\n", 0)
    auth.reject(Token("older-token"))
    assert await text(auth) == "old-token"


# A file that holds none


async def unauthorized(auth: Auth) -> str:
    with pytest.raises(Unauthorized) as caught:
        await auth.token()
    assert auth.available() is None
    assert (caught.value.reason, caught.value.status) == ("unauthorized", None)
    return str(caught.value)


async def test_a_file_that_is_not_there_is_unauthorized(tmp_path: Path) -> None:
    said = await unauthorized(FileToken(tmp_path / "none"))
    assert said == f"the token cannot be read from {tmp_path / 'none'}: No such file or directory"


async def test_a_directory_is_no_token(tmp_path: Path) -> None:
    assert await unauthorized(FileToken(tmp_path)) == f"the token cannot be read from {tmp_path}: Is a directory"


async def test_a_file_below_a_file_is_no_token(file: Path) -> None:
    said = await unauthorized(FileToken(file / "token"))
    assert said == f"the token cannot be read from {file / 'token'}: Not a directory"


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\t ", b"two\nlines", b"a\x00b", b"a\x1b[31mb", b"a\tb"])
async def test_a_file_that_is_not_one_line_of_text_is_unauthorized(file: Path, content: bytes) -> None:
    write(file, content)
    assert await unauthorized(FileToken(file)) == f"{file} has no token; write one line of text"


@pytest.mark.parametrize("content", [b"\xff\xfet\x00", "tökén".encode(), b"\xef\xbb\xbftoken"])
async def test_a_file_that_is_no_plain_text_is_unauthorized(file: Path, content: bytes) -> None:
    write(file, content)
    assert await unauthorized(FileToken(file)) == f"the token cannot be read from {file}: it is not ASCII text"


async def test_a_file_that_is_gone_takes_its_token_along_and_brings_it_back(file: Path) -> None:
    auth = FileToken(file)
    assert await text(auth) == "old-token"
    move(file, file.with_suffix(".away"))
    assert await unauthorized(auth) == f"the token cannot be read from {file}: No such file or directory"
    move(file.with_suffix(".away"), file)
    assert await text(auth) == "old-token"


async def test_a_file_that_is_being_written_keeps_its_token_until_the_new_one_is_there(file: Path) -> None:
    auth = FileToken(file)
    assert await text(auth) == "old-token"
    change(file, "", 1000)
    assert await text(auth) == "old-token"
    change(file, "new-token\n", 1000)
    assert await text(auth) == "new-token"


async def test_an_empty_file_whose_token_was_refused_is_unauthorized(file: Path) -> None:
    auth = FileToken(file)
    await auth.token()
    change(file, "", 1000)
    auth.reject(Token("old-token"))
    assert await unauthorized(auth) == f"{file} has no token; write one line of text"


async def test_a_file_that_turned_to_nonsense_is_unauthorized_until_it_is_mended(file: Path) -> None:
    auth = FileToken(file)
    await auth.token()
    change(file, "two\nlines", 1000)
    assert await unauthorized(auth) == f"{file} has no token; write one line of text"
    assert await unauthorized(auth) == f"{file} has no token; write one line of text"
    change(file, "new-token", 1000)
    assert await text(auth) == "new-token"
