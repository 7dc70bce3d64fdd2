"""The command `canton-exporter`: as much of it as everything that it can do has in common."""

import sys
from collections.abc import Sequence

from exporter.cli.healthcheck import health
from exporter.config.flags import read_flags


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, or 1 with a sentence on standard error."""
    flags = read_flags(sys.argv[1:] if arguments is None else arguments)
    try:
        if flags.command == "health":
            return health(flags)
        from exporter.cli.commands import run  # noqa: PLC0415 - half a second that a check of health is spared

        return run(flags)
    except KeyboardInterrupt:  # of a probe: what serves takes the signal for its orderly end
        return 130
