"""The command line: flags as operators of Prometheus exporters know them, each also an environment variable."""

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from yarl import URL

from exporter import __version__
from exporter.configuration import DEFAULT_FILE
from exporter.durations import read_duration
from exporter.sources import PREFIX

PORT = 10066


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; host None is every interface."""

    host: str | None
    port: int

    def __str__(self) -> str:
        return f"{f'[{self.host}]' if self.host and ':' in self.host else self.host or ''}:{self.port}"


ADDRESS = re.compile(
    r"(?P<host>([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)?|\[[0-9A-Fa-f:.]+(%[A-Za-z0-9]+)?\]):(?P<port>[0-9]{1,5})", re.ASCII
)


def read_address(text: str) -> Address:
    """Read `host:port`, `:port` or `[ipv6]:port`."""
    match = ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no address to listen on; write [host]:port, such as :{PORT}")
    return Address(match["host"].strip("[]") or None, int(match["port"]))


def read_count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above zero")
    return int(text)


def read_path(text: str) -> str:
    """Read a path of a URL, given with or without slashes around it."""
    if not re.fullmatch(r"([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?", text.strip("/")):
        raise argparse.ArgumentTypeError(f"{text!r} is no path of a URL")
    return "/" + text.strip("/")


def read_offset(text: str) -> timedelta:
    try:
        return timedelta() if text in ("0", "0s") else read_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}") from error


def read_telemetry_path(text: str) -> str:
    path = read_path(text)
    if path.startswith("/-/") or path in ("/probe", "/config"):
        raise argparse.ArgumentTypeError(f"{text!r} is where something else is; choose another path")
    return path


def read_url(text: str) -> URL:
    """Read the address under which a browser reaches this exporter."""
    try:
        url = URL(text)
        read_path(url.raw_path)
    except (ValueError, argparse.ArgumentTypeError):
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise argparse.ArgumentTypeError(f"{text!r} is no address of this exporter; write https://host[:port][/path]")
    return url


FLAGS: Mapping[str, dict[str, Any]] = {
    "config.file": {"type": Path, "default": DEFAULT_FILE, "metavar": "FILE", "help": "the settings"},
    "config.check": {"action": "store_true", "help": "check the settings, say what is wrong with them, and end"},
    "web.listen-address": {
        "type": read_address,
        "action": "append",
        "metavar": "HOST:PORT",
        "help": f"where to serve; may be given more than once (default :{PORT})",
    },
    "web.config.file": {"type": Path, "metavar": "FILE", "help": "TLS and users, as for every Prometheus exporter"},
    "web.telemetry-path": {
        "type": read_telemetry_path,
        "default": "/metrics",
        "metavar": "PATH",
        "help": "where the metrics are",
    },
    "web.max-requests": {
        "type": read_count,
        "default": 40,
        "metavar": "N",
        "help": "how many scrapes may be under way, and how many probes; more are answered 503",
    },
    "web.external-url": {
        "type": read_url,
        "metavar": "URL",
        "help": "the address under which others reach this exporter",
    },
    "web.route-prefix": {
        "type": read_path,
        "metavar": "PATH",
        "help": "what all paths begin with (default: the path of the external url)",
    },
    "web.disable-exporter-metrics": {
        "action": "store_true",
        "help": "leave out the metrics of the exporter's own process",
    },
    "timeout-offset": {
        "type": read_offset,
        "default": timedelta(seconds=0.5),
        "metavar": "DURATION",
        "help": "how much sooner than the scraper gives up a probe ends (default 500ms)",
    },
    "log.level": {
        "choices": ["debug", "info", "warning", "error"],
        "default": "info",
        "help": "the least that is told",
    },
    "log.format": {"choices": ["logfmt", "json"], "default": "logfmt", "help": "how it is told"},
}


def variable(flag: str) -> str:
    """Return the environment variable of a flag."""
    return PREFIX + flag.replace(".", "__").replace("-", "_").upper()


VARIABLES = frozenset(variable(flag) for flag in FLAGS)


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line and the environment say, in the order of the help."""

    command: str | None
    target: str | None
    collector: str | None
    config_file: Path
    config_check: bool
    web_listen_address: Sequence[Address]
    web_config_file: Path | None
    web_telemetry_path: str
    web_max_requests: int
    web_external_url: URL | None
    web_route_prefix: str | None
    web_disable_exporter_metrics: bool
    timeout_offset: timedelta
    log_level: str
    log_format: Any

    @property
    def prefix(self) -> str:
        """What all paths begin with: empty, or a path without a slash at its end."""
        path = self.web_route_prefix
        if path is None:
            path = self.web_external_url.path if self.web_external_url else "/"
        return path.rstrip("/")

    @property
    def external_url(self) -> str:
        """What links begin with: the path under which a browser reaches this exporter."""
        return (self.web_external_url.path if self.web_external_url else self.prefix).rstrip("/")


def read_flags(arguments: Sequence[str]) -> Flags:
    """Return the flags; what the command line leaves open, the environment may say. Ends the process on a wrong one."""
    parser = argparse.ArgumentParser(
        prog="canton-exporter",
        allow_abbrev=False,  # what is short for one flag today may be short for two tomorrow
        description="A Prometheus exporter for the nodes of a Canton Network.",
        epilog="Every flag is also an environment variable, such as CANTON_EXPORTER_WEB__LISTEN_ADDRESS.",
    )
    parser.add_argument("--version", action="version", version=f"canton-exporter {__version__}")
    parser.add_argument(
        "command",
        nargs="?",
        choices=["demo", "probe"],
        help="demo: run on a simulated network, without any settings; probe: ask one target now and print what it said",
    )
    parser.add_argument("target", nargs="?", help="of probe: which of the configured targets")
    parser.add_argument("--collector", metavar="NAME", help="of probe: only this question, however long it takes")
    for flag, options in FLAGS.items():
        parser.add_argument(f"--{flag}", dest=flag, **{**options, "default": argparse.SUPPRESS})
    given = vars(parser.parse_intermixed_args(arguments))
    is_probe = given["command"] == "probe"
    if is_probe != bool(given["target"]) or (given["collector"] and not is_probe):
        parser.error("a probe is asked for by: canton-exporter probe TARGET [--collector NAME]")
    said = {**dict(defaults(parser)), **given}
    said["web.listen-address"] = said["web.listen-address"] or [
        Address("localhost" if said["command"] == "demo" else None, PORT)
    ]
    return Flags(**{flag.replace(".", "_").replace("-", "_"): value for flag, value in said.items()})


def defaults(parser: argparse.ArgumentParser) -> Iterator[tuple[str, Any]]:
    """Give each flag's value for where the command line does not say: the environment's, or else the default."""
    environment = {name.upper(): text for name, text in os.environ.items()}
    for flag, options in FLAGS.items():
        text = environment.get(variable(flag))
        try:
            yield flag, default(options) if text is None else read(text, options)
        except (argparse.ArgumentTypeError, ValueError) as error:
            parser.error(f"environment variable {variable(flag)}: {error}")


def default(options: Mapping[str, Any]) -> Any:
    return False if options.get("action") == "store_true" else options.get("default")


def read(text: str, options: Mapping[str, Any]) -> Any:
    """Read a variable as its flag is read. Raises ArgumentTypeError or ValueError."""
    if options.get("action") == "store_true":
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError("write true or false")
        return text.lower() in ("true", "1")
    if text not in options.get("choices", [text]):
        raise ValueError(f"choose from {', '.join(options['choices'])}")
    convert = options.get("type", str)
    return [convert(part) for part in text.split(",")] if options.get("action") == "append" else convert(text)
