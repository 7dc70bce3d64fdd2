"""The command line: flags as operators of Prometheus exporters know them, each also an environment variable."""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

from exporter import __version__
from exporter.config.defaults import DEFAULT_FILE, PREFIX
from exporter.config.flag_types import (
    PORT,
    Address,
    read_address,
    read_count,
    read_host_name,
    read_interval,
    read_offset,
    read_path,
    read_shard,
    read_telemetry_path,
    read_total,
    read_url,
)

FLAGS: Mapping[str, dict[str, Any]] = {
    "config.file": {
        "type": Path,
        "default": DEFAULT_FILE,
        "metavar": "FILE",
        "help": "YAML file with the targets and settings",
    },
    "config.check": {"action": "store_true", "help": "check the configuration, print its errors and exit"},
    "config.enable-auto-reload": {
        "action": "store_true",
        "help": "reload the configuration when its file changes, as on SIGHUP",
    },
    "config.auto-reload-interval": {
        "type": read_interval,
        "default": timedelta(seconds=30),
        "metavar": "DURATION",
        "help": "how often to check whether the file has changed (default 30s)",
    },
    "shard": {
        "type": read_shard,
        "metavar": "NUMBER",
        "help": "shard number, counted from 0, or a pod name that ends with it, such as canton-exporter-2",
    },
    "total-shards": {
        "type": read_total,
        "default": 1,
        "metavar": "N",
        "help": "number of shards that the targets are split into, one exporter each (default 1)",
    },
    "web.listen-address": {
        "type": read_address,
        "action": "append",
        "metavar": "HOST:PORT",
        "help": f"address to listen on; can be repeated (default :{PORT})",
    },
    "web.config.file": {
        "type": Path,
        "metavar": "FILE",
        "help": "web configuration file (TLS and users), in the format of the Prometheus exporter-toolkit",
    },
    "web.telemetry-path": {
        "type": read_telemetry_path,
        "default": "/metrics",
        "metavar": "PATH",
        "help": "path of the metrics (default /metrics)",
    },
    "web.max-requests": {
        "type": read_count,
        "default": 40,
        "metavar": "N",
        "help": "maximum number of concurrent scrapes, and of concurrent probes, reloads and other pages; more get "
        "status 503 (default 40)",
    },
    "web.external-url": {
        "type": read_url,
        "metavar": "URL",
        "help": "public URL of this exporter; its path is the prefix of links",
    },
    "web.allowed-host": {
        "type": read_host_name,
        "action": "append",
        "default": (),
        "metavar": "NAME",
        "help": "host name under which browsers reach this exporter, beside that of the external URL; *.NAME allows "
        "all names below it; can be repeated",
    },
    "web.route-prefix": {
        "type": read_path,
        "metavar": "PATH",
        "help": "prefix of all paths (default: the path of the external URL)",
    },
    "web.disable-exporter-metrics": {
        "action": "store_true",
        "help": "do not expose the metrics of the exporter's own process",
    },
    "timeout-offset": {
        "type": read_offset,
        "default": timedelta(seconds=0.5),
        "metavar": "DURATION",
        "help": "how much earlier than the scrape timeout a probe must end (default 500ms)",
    },
    "log.level": {
        "choices": ["debug", "info", "warning", "error"],
        "default": "info",
        "help": "minimum level of the log (default info)",
    },
    "log.format": {"choices": ["logfmt", "json"], "default": "logfmt", "help": "format of the log (default logfmt)"},
}


def variable(flag: str) -> str:
    """Return the environment variable of a flag."""
    return PREFIX + flag.replace(".", "__").replace("-", "_").upper()


VARIABLES = frozenset(variable(flag) for flag in FLAGS)


@dataclass(frozen=True, slots=True)
class Flags:
    """The values of all flags, from the command line or the environment, in the order of the help."""

    command: str | None
    target: str | None
    collector: str | None
    config_file: Path
    config_check: bool
    config_enable_auto_reload: bool
    config_auto_reload_interval: timedelta
    shard: int | None
    total_shards: int
    web_listen_address: Sequence[Address]
    web_config_file: Path | None
    web_telemetry_path: str
    web_max_requests: int
    web_external_url: SplitResult | None
    web_allowed_host: Sequence[str]
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
    """Return the flags; what the command line does not set, the environment may. Ends the process on a wrong one."""
    parser = argparse.ArgumentParser(
        prog="canton-exporter",
        allow_abbrev=False,  # what is short for one flag today may be short for two tomorrow
        description="A Prometheus exporter for the nodes of a Canton Network.",
        epilog="Each flag except --help, --version and --collector can also be set by an environment variable: "
        "CANTON_EXPORTER_ and the name of the flag in capital letters, with __ for each dot and _ for each hyphen, "
        "such as CANTON_EXPORTER_WEB__LISTEN_ADDRESS.",
    )
    parser.add_argument("--version", action="version", version=f"canton-exporter {__version__}")
    parser.add_argument(
        "command",
        nargs="?",
        choices=["demo", "probe", "health"],
        help="demo: run on a simulated network, without a configuration; probe: run the collectors of one target now "
        "and print the results; health: ask the running exporter (give the same flags) if it is healthy",
    )
    parser.add_argument("target", nargs="?", help="for probe: name of a configured target")
    parser.add_argument(
        "--collector", metavar="NAME", help="for probe: run only this collector, for as long as its timeout allows"
    )
    for flag, options in FLAGS.items():
        parser.add_argument(f"--{flag}", dest=flag, **{**options, "default": argparse.SUPPRESS})
    given = vars(parser.parse_intermixed_args(arguments))
    is_probe = given["command"] == "probe"
    if is_probe != bool(given["target"]) or (given["collector"] and not is_probe):
        parser.error("write canton-exporter probe TARGET [--collector NAME]")
    values = {**dict(defaults(parser)), **given}
    if values["command"] == "demo" and values["config.check"]:
        parser.error("the demo has no configuration file to check; leave out demo or --config.check")
    values["web.listen-address"] = values["web.listen-address"] or [
        Address("localhost" if values["command"] == "demo" else None, PORT)
    ]
    return Flags(**{flag.replace(".", "_").replace("-", "_"): value for flag, value in values.items()})


def defaults(parser: argparse.ArgumentParser) -> Iterator[tuple[str, Any]]:
    """Give each flag's value for where the command line does not set it: the environment's, or else the default."""
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
