"""What the command does once its flags are read: check the settings, ask one target, or serve."""

import asyncio
import logging
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import chain

from exporter.app import App, build
from exporter.cli.autoreload import ConfigFile, watch_file
from exporter.cli.demo import demo
from exporter.cli.probe import probe
from exporter.collectors import discover, metrics_of
from exporter.config.flags import VARIABLES, Flags
from exporter.config.loader import Settings, load
from exporter.config.models import TargetConfig
from exporter.errors import Unreachable, WrongConfiguration
from exporter.log import set_up
from exporter.metrics import self_metrics
from exporter.node.endpoint import EndpointResolver
from exporter.node.secret_file import SecretFile, Unreadable
from exporter.scheduling.sharding import Shard, choose
from exporter.web.access import AccessControl

log = logging.getLogger(__name__)

END_SECONDS = 4.5
"""How long an orderly end may take. A name that is being looked up cannot be interrupted; the process can."""


def run(flags: Flags) -> int:
    """Do what the flags say and return the exit status: 0, or 1 with a sentence on standard error."""
    raise_file_limit()
    set_up(flags.log_level, flags.log_format)
    try:
        return run_command(flags)
    except WrongConfiguration as error:
        print(*(f"canton-exporter: {line}" for line in error.errors), sep="\n", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads what a probe prints has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def run_command(flags: Flags) -> int:
    """Do what the flags say. Raises WrongConfiguration."""
    if flags.command == "demo":
        shard = choose(flags.shard, flags.total_shards)
        return asyncio.run(serve_demo(AccessControl.load(flags.web_config_file), flags, shard))
    file = ConfigFile(flags.config_file, lambda: read_settings(flags))
    settings, access = read(flags, file)
    if flags.target is not None and not flags.config_check:  # which a person asks, whoever watches it
        return asyncio.run(probe(settings, flags.target, flags.collector))
    shard = choose(flags.shard, flags.total_shards)
    if flags.config_check:
        for warning in settings.warnings:
            print(f"canton-exporter: warning: {warning}", file=sys.stderr)
        for name, target in settings.targets.items():
            warn_unreadable_files(name, target)
        print(f"{flags.config_file}: valid; {count(settings, shard)}")
        return 0
    watched = file if flags.config_enable_auto_reload else None
    return asyncio.run(serve(settings, access, flags, shard, file.read, watched=watched))


def count(settings: Settings, shard: Shard) -> str:
    """Say how many targets and watches there are, and of more shards than one how many this one has."""
    here = {name: target for name, target in settings.targets.items() if shard.has(name)}
    parts = [("", settings.targets), *([(f"in {shard} ", here)] if shard.total > 1 else [])]
    return "; ".join(
        f"{where}targets: {len(targets)}, watches: {sum(len(target.collector_configs) for target in targets.values())}"
        for where, targets in parts
    )


def warn_unreadable_files(name: str, target: TargetConfig) -> None:
    """Say what cannot be had now and may be there when the exporter runs."""
    files = [SecretFile(path, what) for what, path in target.files().items()]
    for read_file in (EndpointResolver(target).endpoint, *(file.read for file in files)):
        try:
            read_file()
        except (Unreachable, Unreadable) as error:
            print(f"canton-exporter: warning: target {name}: {error}", file=sys.stderr)


def read(flags: Flags, file: ConfigFile) -> tuple[Settings, AccessControl]:
    """Return what both files say. Raises WrongConfiguration with the errors of both."""
    errors: list[str] = []
    settings = access = None
    try:
        access = AccessControl.load(flags.web_config_file)
    except WrongConfiguration as error:
        errors += error.errors
    try:
        settings = file.read()
    except WrongConfiguration as error:
        errors += error.errors
    if settings is None or access is None:
        raise WrongConfiguration(errors)
    return settings, access


def read_settings(flags: Flags) -> Settings:
    try:
        shard = choose(flags.shard, flags.total_shards)
    except WrongConfiguration:  # which is reported after what the files have wrong
        shard = Shard()
    return load(flags.config_file, discover(), taken_labels(), VARIABLES, shard.has)


def taken_labels() -> set[str]:
    """Return the label names that the exporter's own series have."""
    metrics = chain(self_metrics.ALL, *map(metrics_of, discover()))
    return {"target", "network", "role", *(label for metric in metrics for label in metric.labels)}


async def serve(
    settings: Settings,
    access: AccessControl,
    flags: Flags,
    shard: Shard,
    read: Callable[[], Settings] | None = None,
    *,
    watched: ConfigFile | None = None,
) -> int:
    """Run the exporter until it is told to end; SIGHUP, or a change of what is `watched`, has it `read` again.

    With nothing to read SIGHUP is what a terminal says that is closed, and ends it, but not behind `nohup`.
    """
    for warning in settings.warnings:
        log.warning(warning)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        # Not the loop's own handler, which would not run while this thread waits for somebody to read what it writes.
        signal.signal(name, lambda *_: stop_or_exit(loop, stop))
    app = build(settings, access, flags, shard, read)
    tasks: set[asyncio.Task[None]] = set()

    def start(work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)  # or it could be collected while it runs
        task.add_done_callback(tasks.discard)

    def reload() -> None:
        start(reload_quietly(app))

    if read:
        loop.add_signal_handler(signal.SIGHUP, reload)
    elif signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: stop_or_exit(loop, stop))
    if watched:
        start(watch_file(watched, flags.config_auto_reload_interval, reload))
    await app.run(stop)
    return 0


async def reload_quietly(app: App) -> None:
    with suppress(WrongConfiguration):  # which is logged, and nobody waits for an answer
        await app.reloader.reload()


async def serve_demo(access: AccessControl, flags: Flags, shard: Shard) -> int:
    address = flags.web_listen_address[0]
    async with demo(f"http://{address.host or 'localhost'}:{address.port}{flags.prefix}") as settings:
        return await serve(settings, access, flags, shard)


def raise_file_limit() -> None:
    """Allow as many open files as the machine lets us have: with 1 024 a few hundred nodes would look dead."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # not every system lets us have what it calls the most
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def stop_or_exit(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """End in good order; if that takes too long, end all the same."""
    loop.call_soon_threadsafe(stop.set)
    watchdog = threading.Timer(END_SECONDS, os._exit, [0])
    watchdog.daemon = True
    watchdog.start()
