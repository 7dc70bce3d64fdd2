"""Small files: what is read of them, what must not hold up the exporter, and what counts as a change."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.files import MOST_BYTES, digest, read, stamp


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("hunter2")
    return tmp_path / "file"


def fault(path: Path, most_bytes: int = MOST_BYTES) -> str:
    with pytest.raises(OSError, match=str(path)) as caught:
        read(path, most_bytes)
    assert "hunter2" not in str(caught.value)
    return caught.value.strerror or ""


# Reading


def test_a_file_is_read_whole_up_to_its_limit(file: Path) -> None:
    assert read(file, len("hunter2")) == b"hunter2"


def test_a_file_above_its_limit_is_refused_with_path_and_limit(file: Path) -> None:
    assert fault(file, 6) == "it is larger than 6 bytes"


def test_of_a_file_without_an_end_no_more_is_read_than_the_limit(file: Path) -> None:
    os.truncate(file, 2**40)
    assert fault(file) == "it is larger than 16777216 bytes"


def test_a_file_behind_a_link_is_read(file: Path) -> None:
    file.with_name("link").symlink_to(file)
    assert read(file.with_name("link")) == b"hunter2"


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert fault(tmp_path / "pipe") == "it is not a regular file"


def test_nothing_is_taken_out_of_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)
    try:
        os.write(end, b"hunter2")
        assert fault(pipe) == "it is not a regular file"
        assert os.read(end, 100) == b"hunter2"
    finally:
        os.close(end)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_not_read(device: str) -> None:
    assert fault(Path(device)) == "it is not a regular file"


def test_a_directory_is_not_read(tmp_path: Path) -> None:
    assert fault(tmp_path) == "Is a directory"


def test_a_socket_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert fault(tmp_path / "socket")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert fault(tmp_path / "none") == "No such file or directory"


# Changes


def times_of(path: Path) -> tuple[int, int]:
    return path.stat().st_atime_ns, path.stat().st_mtime_ns


def mount(folder: Path, version: str, content: str) -> None:
    """Put a Secret into a folder as a kubelet does, each version with the same time."""
    (folder / version).mkdir(parents=True)
    (folder / version / "token").write_text(content)
    os.utime(folder / version / "token", ns=(0, 0))
    (folder / "..data_tmp").symlink_to(version)
    (folder / "..data_tmp").replace(folder / "..data")
    if not (folder / "token").exists():
        (folder / "token").symlink_to("..data/token")


@pytest.mark.parametrize("look", [stamp, digest])
def test_what_nobody_touches_has_not_changed(file: Path, look: Callable[[Path], object]) -> None:
    assert look(file) == look(file) is not None


@pytest.mark.parametrize("look", [stamp, digest])
def test_a_secret_that_kubernetes_swaps_has_changed_with_the_same_time_and_size(
    tmp_path: Path, look: Callable[[Path], object]
) -> None:
    folder = tmp_path / "mounted"
    mount(folder, "..2026_1", "token-1")
    before = look(folder / "token")
    mount(folder, "..2026_2", "token-2")
    assert look(folder / "token") != before


def test_a_swap_is_seen_even_if_the_new_file_got_the_inode_of_the_old(tmp_path: Path) -> None:
    mount(tmp_path, "..2026_1", "token-1")
    before = stamp(tmp_path / "token")
    (tmp_path / "..2026_2").mkdir()
    (tmp_path / "..2026_1" / "token").rename(tmp_path / "..2026_2" / "token")
    (tmp_path / "..data").unlink()
    (tmp_path / "..data").symlink_to("..2026_2")
    assert stamp(tmp_path / "token") != before


def test_a_file_that_was_replaced_has_changed_with_the_same_time_and_size(file: Path) -> None:
    before = stamp(file)
    new = file.with_name("new")
    new.write_text("hunter3")
    os.utime(new, ns=times_of(file))
    new.replace(file)
    assert stamp(file) != before


@pytest.mark.parametrize("later_ns", [1000, -1_000_000_000])
def test_a_file_written_in_place_has_changed_by_its_time(file: Path, later_ns: int) -> None:
    before, (read_at, written_at) = stamp(file), times_of(file)
    file.write_text("hunter3")
    os.utime(file, ns=(read_at, written_at + later_ns))
    assert stamp(file) != before


def test_a_file_written_in_place_has_changed_by_its_size(file: Path) -> None:
    before, times = stamp(file), times_of(file)
    file.write_text("hunter22")
    os.utime(file, ns=times)
    assert stamp(file) != before


def test_a_file_that_was_only_touched_holds_what_it_held(file: Path) -> None:
    before, held = stamp(file), digest(file)
    os.utime(file, ns=(0, 0))
    assert (stamp(file) != before, digest(file) == held) == (True, True)


@pytest.mark.parametrize("look", [stamp, digest])
def test_a_file_that_was_deleted_has_changed_and_is_back_when_it_is(file: Path, look: Callable[[Path], object]) -> None:
    before = look(file)
    file.rename(file.with_name("away"))
    assert look(file) is None
    file.with_name("away").rename(file)
    assert look(file) == before


@pytest.mark.parametrize("look", [stamp, digest])
def test_a_link_that_leads_to_itself_is_no_file(tmp_path: Path, look: Callable[[Path], object]) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert look(tmp_path / "loop") is None


def test_a_file_that_is_made_readable_has_changed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)  # root, who may run the tests, can read everything
        assert stamp(file) is None
    assert stamp(file) is not None


@pytest.mark.parametrize("path", [Path("/dev/zero"), Path("/")])
def test_what_is_no_file_holds_nothing(path: Path) -> None:
    assert digest(path) is None
