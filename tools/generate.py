"""Writes what is generated from the code: references, collectors' pages and the example configuration."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from dashboards.source import rules
from dashboards.source.screens import dashboards
from exporter.collector import Collector
from exporter.collectors import discover, metrics_of
from exporter.config.collector_models import Configured, target_models
from exporter.config.durations import write_duration
from exporter.config.flag_types import PORT
from exporter.config.flags import FLAGS, variable
from exporter.config.loader import Document
from exporter.config.models import BearerAuth, Budget, Kind, NoAuth, Schedule, Target
from exporter.metrics import self_metrics
from exporter.metrics.metric import Metric
from incidents.page import incidents_page
from tools.chart import chart_files
from tools.coverage import DOCUMENT, NETWORK, rows

ROOT = Path(__file__).parent.parent
NOTICE = "<!-- Generated from the code by `make docs`; change it there. -->\n"


def generated() -> dict[Path, str]:
    """Return the text of every generated file."""
    files = {
        ROOT / "docs/metrics.md": metrics_page(),
        ROOT / "docs/configuration.md": configuration_page(),
        ROOT / "docs/coverage.md": coverage_page(),
        ROOT / "docs/collectors/README.md": collectors_page(),
        ROOT / "exporter.example.yaml": example(),
        ROOT / "dashboards/rules.yaml": rules.plain(),
        ROOT / "docs/incidents.md": f"{NOTICE}{incidents_page()}",
    }
    files |= {ROOT / "dashboards" / name: text for name, text in dashboards().items()}
    files |= chart_files()
    for name, collector in discover().items():
        files[ROOT / f"docs/collectors/{name}.md"] = collector_page(collector)
    return files


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def metric_table(metrics: Iterable[Metric]) -> str:
    rows = [
        (f"`{each.name}`", each.type, ", ".join(f"`{label}`" for label in each.labels), each.help) for each in metrics
    ]
    return table(["Metric", "Type", "Labels", "Meaning"], rows)


VALUES = """\
A *watch* is one collector on one target.

| label | value | meaning, and what to do |
| --- | --- | --- |
| `reason` | `unreachable` | no name, no connection, no TLS, or a broken answer: is the node up, is the url right? |
| | `timeout` | no answer in time: the node is slow, or more than the collector's `timeout` is needed |
| | `unauthorized` | 401 or 403, or the token could not be read: renew it, or give its user what the collector needs |
| | `refused` | another error, a redirect, or an HTML page: is this the API's address? the log has what was said |
| | `malformed` | an answer that is not the documented one |
| | `limited` | 429: lower `budget`, or run less often |
| | `too_large` | 413, or more than the exporter reads |
| | `budget` | our own request `budget` left no room: raise it, or run less often; never a fault of the node |
| | `wrong_kind` | another kind of node answers at the url: the log says which `kind` to write |
| | `cancelled` | of requests: the run or the exporter ended |
| | `bug` | of the exporter: the log has a traceback, please report it |
| `code` | `200` ... | the status of the answer; empty if none came, and then there is a `reason` |
| `renewed_by` | `exporter`, `file`, `nobody` | who sees to the next token |
| `source` | `checkpoint` | record times come from an offset checkpoint: up to 15 s of lag is usual |
| | `ledger_end` | they come with the ledger's end (from 3.6 on) |

A node that does not have an operation is not failing: `canton_collector_success` is 0, `canton_collector_supported` is
0 and there is no `canton_collector_failure_info`, which is what a rule for failures reads. Where it surprises, the url
or the kind may be another's.

The process's own `process_*` and `python_*` come from the Prometheus library; `--web.disable-exporter-metrics` leaves
them out.

"""


def metrics_page() -> str:
    declared = [metric for metric in self_metrics.ALL if metric.family is None]
    parts = [
        NOTICE,
        "# Metrics\n\n",
        "Every series of a target carries `target`, `network`, `role` and the target's own `labels`. ",
        "Values are refreshed on a schedule, not by the scrape: a count takes minutes, nodes are remote, and two ",
        "Prometheus replicas must not double the load. After a failed run `canton_collector_success` is 0 at once; ",
        "the last good values stay for a grace (`stale_after`) and then go. No number is ever frozen.\n\n",
        VALUES,
        "## The exporter and its watches\n\n",
        metric_table(declared),
    ]
    for name in discover():
        parts += [f"\n## [{name}](collectors/{name}.md)\n\n", metric_table(metrics_of(name))]
    return "".join(parts)


def coverage_page() -> str:
    head = ["Of a", "Operation", "Read by, or why not", "Tested in"]
    return "".join(
        [
            f"{NOTICE}# Coverage\n\nEvery operation of the API document, in its order: who reads it and where that is ",
            "tested, or why nobody does. Nothing that writes is ever called.\n\n",
            table(head, rows(DOCUMENT)),
            "\n## Beyond the document\n\nWhat else the network's releases have and the exporter reads.\n\n",
            table(head, rows(NETWORK)),
        ]
    )


def collectors_page() -> str:
    rows = [
        (f"[{name}]({name}.md)", kinds(collector), collector.doc.partition("\n\n")[0])
        for name, collector in discover().items()
    ]
    return f"{NOTICE}# Collectors\n\n{table(['Collector', 'Targets', 'What it tells'], rows)}"


def collector_page(collector: Collector[Any]) -> str:
    summary, _, rest = collector.doc.partition("\n\n")
    asked = rest.strip().splitlines()
    facts: list[str] = []
    for line in asked:  # a fact may run over several lines
        if line.partition(":")[0] in ("Asks", "Needs", "Costs"):
            facts.append(line)
        else:
            facts[-1] += f" {line}"
    parts = [
        NOTICE,
        f"# {collector.name}\n\n{summary}\n\n",
        *(f"- **{name}:**{text}\n" for name, _, text in (fact.partition(":") for fact in facts)),
        f"- **Targets:** {kinds(collector)}\n",
        f"- **Runs:** every {write_duration(collector.interval)}, for {write_duration(collector.timeout)} at most",
        f"{when_off(collector)}\n\n",
        metric_table(metrics_of(collector.name)),
    ]
    if collector.options.model_fields:
        parts += ["\n## Options\n\n", settings_table(collector.options)]
    return "".join(parts)


def when_off(collector: Collector[Any]) -> str:
    if not collector.is_on:
        return "; it is off until it is configured"
    return "" if collector.is_for_all else "; where the role is observed it is off until it is configured"


def kinds(collector: Collector[Any]) -> str:
    return ", ".join(kind for kind in Kind if kind in collector.kinds)


def settings_table(model: type[BaseModel], without: Iterable[str] = ()) -> str:
    rows = [
        (f"`{name}`", default(field), " ".join((field.description or "").split()))
        for name, field in model.model_fields.items()
        if name not in without
    ]
    return table(["Setting", "Default", "Meaning"], rows)


def default(field: FieldInfo) -> str:
    value = None if field.is_required() else field.get_default(call_default_factory=True)
    if field.is_required():
        return "the collector's" if field.annotation is timedelta else "required"
    return "" if value is None else f"`{written(value)}`"


def written(value: object) -> str:  # noqa: PLR0911 - one return for each type
    """Write a default as YAML has it."""
    match value:
        case timedelta():
            return write_duration(value)
        case Enum():
            return str(value.value)
        case NoAuth():
            return "{type: none}"
        case BaseModel():
            return f"{{{', '.join(f'{name}: {written(each)}' for name, each in value)}}}"
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
    return str(value)


CONFIGURATION = """\
# Configuration

One YAML file, named by `--config.file`; [exporter.example.yaml](../exporter.example.yaml) has every setting.
`canton-exporter --config.check` says what is wrong with it, all faults at once.

Any setting can also be given by the environment: `CANTON_EXPORTER_` and its path, the parts joined by `__`, such as
`CANTON_EXPORTER_TARGETS__my_participant__AUTH__TOKEN`; in a target's name upper and lower case, `-` and `_` are equal.
Lists and mappings may be written as JSON. The environment wins over the file; where it names targets, the default file
need not be there. In a header's name an underscore stands for a hyphen: `..._HEADERS__X_API_KEY` is `x-api-key`.

Where two say the same thing in different ways, as one a `token` and the other a `token_file`, the one that wins takes
the place of the other whole: a variable that of the file, a target that of the defaults. The defaults are for every
target, those of others too: a token that only your own nodes should see belongs to each of them.

Durations are written as Prometheus does: `15s`, `500ms`, `1h30m`.

"""
CONNECTIONS = """
Secrets are best kept in files, which whoever renews them just replaces: `token_file`, `header_files`, and `url_file`
instead of `url`. Their paths begin at this file's folder. One that is missing is a fault of its target alone, whose
requests are kept back until it is there; only the probes of its health go on without a token.

Through a proxy: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are honoured. A private certificate authority:
`SSL_CERT_FILE` names its bundle.
"""


def configuration_page() -> str:
    schedules = [
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
            settings_table(Target),
            CONNECTIONS,
            "\n## targets.NAME.auth\n\n",
            settings_table(BearerAuth),
            "\n## targets.NAME.collectors.COLLECTOR\n\n",
            settings_table(Schedule),
            "\nEach collector has its own defaults:\n\n",
            table(["Collector", "Kinds of target", "interval", "timeout"], schedules),
            "\n## Flags\n\n",
            table(["Flag", "Environment", "Default", "Meaning"], flags),
        ]
    )


def flag_default(flag: str) -> str:
    value = FLAGS[flag].get("default")
    return f"`:{PORT}`" if flag == "web.listen-address" else f"`{written(value)}`" if value is not None else ""


EXAMPLE_HEAD = """\
# Every setting, with its default. Generated from the code by `make docs`.
# What is commented out is the default, or needs a value of yours.

"""
EXAMPLES = {
    Kind.LEDGER: ("my-participant", "https://participant.example/api/json-api"),
    Kind.SCAN: ("sv-1", "https://scan.sv-1.example/api/scan"),
    Kind.VALIDATOR: ("my-validator", "https://validator.example/api/validator"),
}


def example() -> str:
    lines = [EXAMPLE_HEAD]
    for name, field in Document.model_fields.items():
        if name != "targets":
            lines += [*comment(field), f"# {name}: {written(field.get_default())}\n", "\n"]
    lines += [*comment(Document.model_fields["targets"]), "targets:\n"]
    models = target_models(tuple(discover().values()))
    for kind, (name, url) in EXAMPLES.items():
        lines += [f"  {name}:\n", *example_target(models[kind], kind, url), "\n"]
    return "".join(lines).rstrip() + "\n"


def example_target(model: type[Configured], kind: Kind, url: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name == "collectors":
            continue
        yield from comment(field, 4)
        if name in ("kind", "url"):
            yield f"    {name}: {kind if name == 'kind' else url}\n"
        elif name == "role" and kind is Kind.SCAN:
            yield "    role: own\n"
        elif name == "auth" and kind is not Kind.SCAN:
            yield "    # auth: {type: bearer, token_file: /run/secrets/token}\n"
        elif name == "url_file":
            yield "    # url_file: /run/secrets/url\n"
        elif name == "header_files":
            yield "    # header_files: {X-API-Key: /run/secrets/api-key}\n"
        else:
            yield f"    # {name}: {written(field.get_default())}\n"
    yield "    collectors:\n"
    for collector, schedule in model.model_fields["collectors"].get_default():
        yield from example_schedule(collector, schedule)


def example_schedule(collector: str, schedule: Schedule | None) -> Iterator[str]:
    if schedule is None:  # it is off until it is configured
        yield f"      # {collector}: {{options: ...}}  # docs/collectors/{collector}.md\n"
        return
    yield f"      {collector}:\n"
    for setting in ("enabled", "interval", "timeout"):
        yield f"        {setting}: {written(getattr(schedule, setting))}\n"
    yield f"        # stale_after: {write_duration(schedule.grace)}\n        max_series: {schedule.max_series}\n"
    options = {option: getattr(schedule.options, option) for option in type(schedule.options).model_fields}
    if options:
        is_empty = all(value is None for value in options.values())  # and a mapping of comments only would be none
        yield "        # options:\n" if is_empty else "        options:\n"
    for option, value in options.items():
        yield from comment(type(schedule.options).model_fields[option], 10)
        yield f"          # {option}:\n" if value is None else f"          {option}: {written(value)}\n"


def comment(field: FieldInfo, indent: int = 0) -> Iterator[str]:
    yield f"{' ' * indent}# {' '.join((field.description or '').split())}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="say which files are not current, and write nothing")
    check = parser.parse_args().check
    texts = generated()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'is not current; run make docs' if check else 'written'}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
