"""The models of a configuration, made from the collectors' options: one schema, wherever it is read or shown."""

from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from typing import Annotated, Any, Literal, Protocol

from pydantic import BeforeValidator, Field, ValidationInfo, create_model

from exporter.config.models import CollectorConfig, Duration, Kind, Strict, TargetConfig, needs_options

NO_SOURCE = {"use_attribute_docstrings": False}
"""A model made here has no source to read descriptions from; looking for it takes a third of the time."""


class CollectorSpec(Protocol):
    """What the settings need to know of a collector."""

    @property
    def name(self) -> str: ...
    @property
    def kinds(self) -> frozenset[Kind]: ...
    @property
    def options(self) -> type[Strict]: ...
    @property
    def on_by_default(self) -> bool: ...
    @property
    def on_for_observed(self) -> bool: ...
    @property
    def interval(self) -> timedelta: ...
    @property
    def timeout(self) -> timedelta: ...


class ConfiguredTarget(TargetConfig):
    """A target with its collectors' configs, by collector name; None is a collector that is off until configured."""

    collectors: Any

    @property
    def collector_configs(self) -> dict[str, CollectorConfig]:
        each = ((name, getattr(self.collectors, name)) for name in type(self.collectors).model_fields)
        return {name: config for name, config in each if config is not None and config.enabled}

    @property
    def target_config(self) -> TargetConfig:
        """The target alone: two that are equal here can share their connections, however their collectors differ."""
        return TargetConfig.model_construct(**{name: getattr(self, name) for name in TargetConfig.model_fields})


def collector_config_model(collector: CollectorSpec) -> tuple[Any, Any]:
    """Return the type and default of one collector's settings."""
    described = {name: field.description for name, field in CollectorConfig.model_fields.items()}
    options: Any = collector.options
    default: Strict | None = None
    if needs_options(collector.options):
        options = Annotated[collector.options | None, BeforeValidator(required_if_enabled)]
    else:
        default = collector.options()
    model = create_model(
        f"{collector.name}_config",
        __base__=CollectorConfig,
        __cls_kwargs__=NO_SOURCE,
        interval=(Duration, Field(collector.interval, description=described["interval"])),
        timeout=(Duration, Field(collector.timeout, description=described["timeout"])),
        options=(options, Field(default, validate_default=True, description=described["options"])),
    )
    return (model, model.model_validate({})) if collector.on_by_default else (model | None, None)


def required_if_enabled(options: Any, info: ValidationInfo) -> Any:
    """Require no options of a collector that is switched off; of any other those are reported that are missing."""
    return {} if options is None and info.data.get("enabled", True) else options


@cache  # settings of two reloads can only be equal if their models are the same
def target_models(collectors: Iterable[CollectorSpec]) -> dict[Kind, type[ConfiguredTarget]]:
    """Return the model of a target for each kind, with the collectors for this kind."""
    models = {}
    for kind in Kind:
        fields: dict[str, Any] = {
            collector.name: collector_config_model(collector) for collector in collectors if kind in collector.kinds
        }
        model = create_model(f"{kind}_collectors", __base__=Strict, __cls_kwargs__=NO_SOURCE, **fields)
        models[kind] = create_model(
            f"{kind}_target",
            __base__=ConfiguredTarget,
            __cls_kwargs__=NO_SOURCE,
            kind=(
                Literal[kind],
                Field(  # type: ignore[arg-type] # it is a type, only made here
                    description=TargetConfig.model_fields["kind"].description
                ),
            ),
            collectors=(model, Field(model(), description="Each collector's settings, by its name.")),
        )
    return models
