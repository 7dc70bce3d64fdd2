"""The container image as far as its files tell; no container engine is needed. Its guide: docs/container.md."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter import __version__
from exporter.config.defaults import DEFAULT_FILE
from exporter.config.flag_types import PORT
from exporter.config.flags import VARIABLES, read_flags

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
Instruction = tuple[str, str]


def instructions(text: str) -> Iterator[Instruction]:
    """Yield what a Dockerfile says, each instruction on one line."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


IMAGE = [*instructions((ROOT / "Dockerfile").read_text())]
LAST_STAGE = IMAGE[max(at for at, (word, _) in enumerate(IMAGE) if word == "FROM") :]


def said(word: str, of: Sequence[Instruction] = LAST_STAGE) -> list[str]:
    return [rest for other, rest in of if other == word]


def labels() -> dict[str, str]:
    (text,) = said("LABEL")
    return dict(re.findall(r'org\.opencontainers\.image\.([a-z.]+)="([^"]*)"', text))


def default(argument: str) -> str:
    (text,) = {rest.partition("=")[2] for rest in said("ARG", IMAGE) if rest.startswith(f"{argument}=")}
    return text


def is_let_through(path: str) -> bool:
    """Tell whether .dockerignore lets a path into the build: the last line to fit it, or a folder of it, decides."""
    parents = [path, *(str(parent) for parent in Path(path).parents if str(parent) != ".")]
    answer = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!").removeprefix("**/")
        names = parents if "**/" not in line else [Path(parent).name for parent in parents]
        if line and not line.startswith("#") and any(fnmatchcase(name, pattern) for name in names):
            answer = line.startswith("!")
    return answer


def pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements" / name).read_text(), re.MULTILINE))


def test_hadolint_finds_nothing() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert hadolint, "it is among the development dependencies: run make"
    found = subprocess.run(  # noqa: S603 - it is a command of ours
        [hadolint, "--no-color", "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_the_base_is_an_exact_python_on_an_exact_debian_and_the_only_one() -> None:
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", default("BASE"))
    assert {rest.split()[0] for rest in said("FROM", IMAGE)} == {"${BASE}", "scratch"}


def test_nothing_is_installed_but_what_is_locked() -> None:
    commands = [part for text in said("RUN", IMAGE) for part in text.split(" && ")]
    installs = [part for part in commands if re.search(r"\bpip\b.* install ", part)]
    assert len(installs) == 3
    for command in installs:
        locked = "--require-hashes --only-binary :all: -r requirements/" in command
        assert locked or "--no-deps --no-index dist/" in command, command
    assert not [part for part in commands if re.search(r"\b(apt|apt-get|curl|wget)\b", part)]


def test_the_package_is_built_by_what_it_asks_for_at_the_versions_that_are_tested() -> None:
    (backend,) = PROJECT["build-system"]["requires"]
    assert PROJECT["dependency-groups"]["build"] == [backend]
    assert backend.partition(">")[0] in pins("build.txt")
    for name in ("build.txt", "run.txt"):
        assert pins(name).items() <= pins("dev.txt").items(), "run make lock"


def test_byte_code_is_there_for_all_of_python_whatever_becomes_of_the_times_of_files() -> None:
    commands = [part for text in said("RUN", IMAGE) for part in text.split(" && ")]
    compiled = [part.split()[-1] for part in commands if " compileall " in part]
    assert compiled == ["/opt/canton-exporter/lib", "lib/python3.*"]
    assert all("-f --invalidation-mode unchecked-hash" in part for part in commands if " compileall " in part)


def test_the_last_stage_runs_nothing_and_so_needs_no_shell() -> None:
    assert LAST_STAGE[0] == ("FROM", "scratch")
    assert not said("RUN")
    assert all(rest.startswith("--from=") for rest in said("COPY"))
    for word in ("ENTRYPOINT", "HEALTHCHECK"):
        (text,) = said(word)
        program, *arguments = json.loads(text[text.index("[") :])
        assert read_flags(arguments)
        assert program.rpartition("/")[2] in PROJECT["project"]["scripts"]
        assert program.startswith("/opt/canton-exporter/bin/")


def test_the_user_is_a_number_that_is_not_root_and_has_a_name() -> None:
    assert said("USER") == ["65532:65532"]
    setup = " ".join(said("RUN", IMAGE))
    assert ":x:65532:65532:" in setup
    assert ":x:65532:'" in setup


def test_it_is_stopped_by_a_signal_that_python_hears_before_it_has_read_our_code() -> None:
    assert said("STOPSIGNAL") == ["SIGINT"]


def test_the_port_is_the_one_that_is_served_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    assert said("EXPOSE") == [str(PORT)]
    assert [address.port for address in read_flags([]).web_listen_address] == [PORT]


def test_the_labels_are_the_projects_own() -> None:
    project = PROJECT["project"]
    assert labels() == {
        "title": project["name"],
        "description": project["description"],
        "licenses": project["license"],
        "source": "https://github.com/canton-exporter/canton-exporter",
        "documentation": "https://github.com/canton-exporter/canton-exporter/blob/main/docs/container.md",
        "version": "${VERSION}",
        "revision": "${REVISION}",
        "base.name": "${BASE}",
    }
    assert default("VERSION") == __version__
    assert (ROOT / "docs/container.md").exists()


def test_all_that_is_copied_is_there_and_let_through() -> None:
    copied = [source for rest in said("COPY", IMAGE) if "--from" not in rest for source in rest.split()[:-1]]
    assert {"exporter", "pyproject.toml", "requirements/run.txt"} <= {*copied}
    for source in copied:
        assert (ROOT / source).exists(), source
        assert is_let_through(source), source
    assert is_let_through("exporter/web/server.py")


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".git/config",
        ".venv/bin/python",
        "exporter.yaml",
        "exporter.example.yaml",
        "exporter/__pycache__/cli.cpython-313.pyc",
        "exporter/web/__pycache__/server.cpython-313.pyc",
        "requirements/dev.txt",
        "secrets/token",
        "server.key",
        "token",
        "web-config.yml",
    ],
)
def test_what_may_be_secret_or_stale_never_reaches_a_build(path: str) -> None:
    assert not is_let_through(path)


def test_nobody_keeps_a_secret_among_what_is_let_through() -> None:
    """Whatever git does not know, in the folder of an operator who works in a clone, stays outside too."""
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and is_let_through(path.name)}
    files = {path.name for path in ROOT.iterdir() if path.is_file() and is_let_through(path.name)}
    assert folders == {"exporter"}
    assert files == {"LICENSE", "README.md", "pyproject.toml"}


def test_the_settings_are_looked_for_where_compose_and_the_guide_mount_them() -> None:
    (folder,) = said("WORKDIR")
    place = f"{folder}/{DEFAULT_FILE}"
    assert place == "/etc/canton-exporter/exporter.yaml"
    assert f"{DEFAULT_FILE}:{place}:ro" in (ROOT / "compose.yaml").read_text()
    assert folder in (ROOT / "docs/container.md").read_text()


def test_compose_builds_this_image_and_lets_prometheus_reach_it() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["exporter"]
    assert service["build"] == "."
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    # By itself the demo listens on the loopback of its container, where nobody else is; a flag the health check misses.
    assert service["command"] == ["demo"]
    assert service["environment"] == {"CANTON_EXPORTER_WEB__LISTEN_ADDRESS": f":{PORT}"}
    assert {*service["environment"]} <= VARIABLES
    prometheus = yaml.safe_load((ROOT / "compose/prometheus.yml").read_text())
    assert prometheus["scrape_configs"][0]["static_configs"] == [{"targets": [f"exporter:{PORT}"]}]
