"""YAML files: what is too much is refused with the limit, and before it costs time or memory."""

import time
import tracemalloc
from pathlib import Path

import pytest

from exporter.config.yaml_file import MOST_ALIASES, MOST_BYTES, MOST_DEPTH, read_file
from exporter.errors import WrongConfiguration

TOO_MANY_NODES = "has more than 100000 keys and values, each alias counted with all that it stands for"
TOO_MANY_ALIASES = "has more than 1000 aliases"
TOO_DEEP = "is nested more than 100 levels deep"
NO_NUMBER = "a value looks like a date, a number or a tag, and is not a valid one; quote it"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "exporter.yaml"


def error(file: Path, text: str) -> str:
    file.write_text(text)
    with pytest.raises(WrongConfiguration) as refused:
        read_file(file)
    [sentence] = refused.value.errors
    return sentence


def bomb(levels: int, line: str) -> str:
    """Return a text whose every level repeats the one above nine times."""
    levels_of = "".join(
        f"x{level}: &x{level} " + line.format(", ".join([f"*x{level - 1}"] * 9)) + "\n" for level in range(1, levels)
    )
    return f"x0: &x0 {{k: v}}\n{levels_of}"


BOMBS = {
    "lists": (bomb(30, "[{}]"), f":6: {TOO_MANY_NODES}"),
    "merge keys": (bomb(30, "{{<<: [{}]}}"), f":6: {TOO_MANY_NODES}"),
    "nested lists": ("a: " + "[" * 4000, f":1: {TOO_DEEP}"),
    "nested mappings": ("a: " + "{a: " * 2000, f":1: {TOO_DEEP}"),
    "nested blocks": ("- " * 4000, f":1: {TOO_DEEP}"),
    "aliases": ("x: &x 1\ny: [" + "*x, " * (MOST_ALIASES + 1) + "]", f":2: {TOO_MANY_ALIASES}"),
    "itself": ("a: &a\n  b: [*a]", ":2: a YAML alias refers to itself"),
    "a number to the base of 60": ("a: 1" + ":59" * 3000, f":1: {NO_NUMBER}"),
    "a fraction to the base of 60": ("a: 1" + ":59" * 3000 + ".5", f":1: {NO_NUMBER}"),
}


@pytest.mark.parametrize(("text", "sentence"), BOMBS.values(), ids=BOMBS)
def test_a_small_file_that_stands_for_much_is_refused_at_once(file: Path, text: str, sentence: str) -> None:
    error(file, text)  # what the first reading alone costs
    tracemalloc.start()
    started = time.thread_time()
    assert error(file, text) == f"{file}{sentence}"
    seconds, (_, most) = time.thread_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 1
    assert most < 10 * MOST_BYTES


def test_a_file_of_many_settings_is_refused_as_soon_as_it_has_too_many(file: Path) -> None:
    assert error(file, "a: [\n" + "1,\n" * 200_000 + "]") == f"{file}:99999: {TOO_MANY_NODES}"


def test_a_file_may_be_as_large_as_a_configmap(file: Path) -> None:
    text = "targets: {a: {}}\n#"
    file.write_text(text + "x" * (MOST_BYTES - len(text)))
    assert read_file(file) == {"targets": {"a": {}}}
    assert error(file, text + "x" * MOST_BYTES) == (
        f"{file}: cannot be read (it is larger than 1048576 bytes); name the file with --config.file"
    )


def test_what_is_within_the_limits_is_read(file: Path) -> None:
    file.write_text("x: &x {k: v}\ny: [" + "*x, " * MOST_ALIASES + "]\nz: " + "[" * (MOST_DEPTH - 1) + "]" * 99)
    assert read_file(file)["y"] == [{"k": "v"}] * MOST_ALIASES


def test_a_mapping_that_merges_another_may_stand_below_what_uses_it(file: Path) -> None:
    file.write_text("a: &a {k: 1}\nb: {c: {d: &d {<<: *a, k: 2}}}\ne: {<<: *d, f: 3}\n")
    assert read_file(file) == {"a": {"k": 1}, "b": {"c": {"d": {"k": 2}}}, "e": {"k": 2, "f": 3}}
