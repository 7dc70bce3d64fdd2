"""Settings and their defaults, as a table and as YAML has them."""

from collections.abc import Iterable
from datetime import timedelta
from enum import Enum

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from exporter.config.durations import write_duration
from exporter.config.models import NoAuth
from tools.markdown import table


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
