"""The configuration reference: every setting, environment variable and flag."""

from exporter.collectors import discover
from exporter.config.durations import write_duration
from exporter.config.flag_types import PORT
from exporter.config.flags import FLAGS, variable
from exporter.config.loader import Document
from exporter.config.models import BearerAuth, Budget, CollectorConfig, TargetConfig
from tools.collector_pages import kinds
from tools.markdown import NOTICE, table
from tools.settings import settings_table, written

CONFIGURATION = """\
# Configuration

One YAML file, named by `--config.file`; [exporter.example.yaml](../exporter.example.yaml) has every setting.
`canton-exporter --config.check` prints its errors, each with its line or variable and what to write instead,
and warns of what is hardly meant: its exit status is then 0 all the same.

Any setting can also be given by the environment: `CANTON_EXPORTER_` and its path, the parts joined by `__`, such as
`CANTON_EXPORTER_TARGETS__my_participant__AUTH__TOKEN`; in a target's name upper and lower case, `-` and `_` are equal.
Lists and mappings may be written as JSON. The environment wins over the file; where it names targets, the default file
need not be there. In a header's name an underscore stands for a hyphen: `..._HEADERS__X_API_KEY` is `x-api-key`.

Where two say the same thing in different ways, as one a `token` and the other a `token_file`, the one that wins takes
the place of the other whole: a variable that of the file, a target that of the defaults. The defaults are for every
target, those of others too: a token that only your own nodes should see belongs to each of them.

Durations are written as Prometheus does: `15s`, `500ms`, `1h30m`.

The file must be a regular one of at most 1 MiB, with at most 1 000 YAML aliases, 100 000 keys and values (those that an
alias or a merge key repeats counted each time) and 100 levels.

"""
CONNECTIONS = """
Secrets are best kept in files, which whoever renews them just replaces: `token_file`, `header_files`, and `url_file`
instead of `url`. Their paths begin at this file's folder. One that is missing is a fault of its target alone, whose
requests are kept back until it is there; only the probes of its health go on without a token.

Through a proxy: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are honoured. A private certificate authority:
`SSL_CERT_FILE` names its bundle.
"""


def configuration_page() -> str:
    defaults = [
        (
            f"[`{name}`](collectors/{name}.md)",
            kinds(collector),
            write_duration(collector.interval),
            write_duration(collector.timeout),
        )
        for name, collector in discover().items()
    ]
    flags = [
        (f"`--{flag}`", f"`{variable(flag)}`", flag_default(flag), options["help"]) for flag, options in FLAGS.items()
    ]
    return "".join(
        [
            NOTICE,
            CONFIGURATION,
            "## Top\n\n",
            settings_table(Document),
            "\n## budget\n\n",
            f"{Budget.__doc__}\n\n",
            settings_table(Budget),
            "\n## targets.NAME\n\n",
            settings_table(TargetConfig),
            CONNECTIONS,
            "\n## targets.NAME.auth\n\n",
            settings_table(BearerAuth),
            "\n## targets.NAME.collectors.COLLECTOR\n\n",
            settings_table(CollectorConfig),
            "\nEach collector has its own defaults:\n\n",
            table(["Collector", "Kinds of target", "interval", "timeout"], defaults),
            "\n## Flags\n\n",
            table(["Flag", "Environment", "Default", "Meaning"], flags),
        ]
    )


def flag_default(flag: str) -> str:
    value = FLAGS[flag].get("default")
    return f"`:{PORT}`" if flag == "web.listen-address" else f"`{written(value)}`" if value not in (None, ()) else ""
