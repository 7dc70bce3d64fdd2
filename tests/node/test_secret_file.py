"""Files that hold one line: what is read of them, and what must not hold up the exporter."""

import os
from pathlib import Path

import pytest

from exporter.node.secret_file import MOST_BYTES, SecretFile, Unreadable


def fault(path: Path) -> str:
    with pytest.raises(Unreadable) as caught:
        SecretFile(path, "token").read()
    return str(caught.value)


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert fault(tmp_path / "pipe") == f"the token cannot be read from {tmp_path / 'pipe'}: it is not a regular file"


def test_a_device_without_an_end_is_not_read() -> None:
    assert fault(Path("/dev/zero")) == "the token cannot be read from /dev/zero: it is not a regular file"


def test_of_a_huge_file_only_the_beginning_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.write(b"a" * (MOST_BYTES + 1))
        file.truncate(2**40)
    assert fault(huge) == f"{huge} has no token; write one line of text"


def test_the_longest_line_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("a" * MOST_BYTES + "\n")
    assert SecretFile(tmp_path / "long", "token").read() == "a" * MOST_BYTES
