"""The example configuration: every setting with its default, for a target of each kind."""

from collections.abc import Iterator

from pydantic.fields import FieldInfo

from exporter.collectors import discover
from exporter.config.collector_models import ConfiguredTarget, target_models
from exporter.config.durations import write_duration
from exporter.config.loader import Document
from exporter.config.models import CollectorConfig, Kind
from tools.settings import written

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


def example_target(model: type[ConfiguredTarget], kind: Kind, url: str) -> Iterator[str]:
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
    for collector, config in model.model_fields["collectors"].get_default():
        yield from example_collector(collector, config)


def example_collector(collector: str, config: CollectorConfig | None) -> Iterator[str]:
    if config is None:  # it is off until it is configured
        yield f"      # {collector}: {{options: ...}}  # docs/collectors/{collector}.md\n"
        return
    yield f"      {collector}:\n"
    for setting in ("enabled", "interval", "timeout"):
        yield f"        {setting}: {written(getattr(config, setting))}\n"
    yield f"        # stale_after: {write_duration(config.shown_for)}\n        max_series: {config.max_series}\n"
    options = {option: getattr(config.options, option) for option in type(config.options).model_fields}
    if options:
        is_empty = all(value is None for value in options.values())  # and a mapping of comments only would be none
        yield "        # options:\n" if is_empty else "        options:\n"
    for option, value in options.items():
        yield from comment(type(config.options).model_fields[option], 10)
        yield f"          # {option}:\n" if value is None else f"          {option}: {written(value)}\n"


def comment(field: FieldInfo, indent: int = 0) -> Iterator[str]:
    yield f"{' ' * indent}# {' '.join((field.description or '').split())}\n"
