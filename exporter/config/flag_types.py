"""How the text of a flag becomes its value, or one sentence with what would be right."""

import argparse
import re
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import SplitResult, urlsplit

from exporter.config.durations import read_duration

PORT = 10066
MOST_SHARDS = 1000
"""Each draws a lot for each target: a number that slipped by some digits would take hours to start."""


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
        raise argparse.ArgumentTypeError(f"{text!r} is not an address to listen on; write [host]:port, such as :{PORT}")
    return Address(match["host"].strip("[]") or None, int(match["port"]))


def read_count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above zero")
    return int(text)


def read_shard(text: str) -> int:
    """Read a shard's number, or a name that ends in it, as the pods of a StatefulSet have: `canton-exporter-2`."""
    match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*-)?(?P<number>0|[1-9][0-9]{0,8})", text)
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a number, counted from 0, nor a name that ends with -NUMBER"
        )
    return int(match["number"])


def read_total(text: str) -> int:
    if (total := read_count(text)) > MOST_SHARDS:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST_SHARDS} shards")
    return total


def read_host_name(text: str) -> str:
    """Read the name of a host, or `*.` and a name for every name below it."""
    if not re.fullmatch(r"(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", text, re.ASCII):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a host name; write it without scheme, port and path, such as exporter.example.org"
        )
    return text.lower()


PATH = r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*"


def read_path(text: str) -> str:
    """Read a path of a URL, given with or without slashes around it."""
    if not re.fullmatch(f"({PATH})?", text.strip("/")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a path of a URL")
    return "/" + text.strip("/")


def read_interval(text: str) -> timedelta:
    try:
        return read_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}") from error


def read_offset(text: str) -> timedelta:
    return timedelta() if text in ("0", "0s") else read_interval(text)


TAKEN_PATHS = "^/(-/.*|probe|config)$"


def read_telemetry_path(text: str) -> str:
    path = read_path(text)
    if re.fullmatch(TAKEN_PATHS, path):
        raise argparse.ArgumentTypeError(f"{text!r} is already used; choose another path")
    return path


def read_url(text: str) -> SplitResult:
    """Read the address under which a browser reaches this exporter."""
    try:
        url = urlsplit(text)
        read_path(url.path)
        is_good = url.scheme in ("http", "https") and url.hostname is not None and url.port != 0
    except (ValueError, argparse.ArgumentTypeError):  # the former of a host or port that is not valid
        is_good = False
    if not is_good:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an address of this exporter; write https://host[:port][/path]"
        )
    return url
