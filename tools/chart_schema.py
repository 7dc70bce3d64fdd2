"""The schema of the chart's values: their shape from their defaults, and the exporter's part from its settings."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dashboards.source.thresholds import THRESHOLDS, Unit
from exporter.collectors import discover
from exporter.config.collector_models import target_models
from exporter.config.flag_types import PATH
from exporter.config.loader import EACH_TARGETS_OWN
from exporter.config.models import (
    DURATION_PATTERN,
    DURATION_SCHEMA,
    HEADER_NAME,
    KIND_ALIASES,
    LABEL_NAME,
    TARGET_NAME,
    Budget,
    Kind,
    TargetConfig,
)

Schema = dict[str, Any]

PROMETHEUS_DURATION = {"type": "string", "pattern": DURATION_PATTERN}
PORT = {"type": "integer", "minimum": 1, "maximum": 65535}
OBJECTS = {"type": ["array", "null"], "items": {"type": "object"}}
NAME = {"type": "string", "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$", "maxLength": 63}
ONE_OF_TWO = {"type": ["integer", "string", "null"]}
ENVIRONMENT = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "minLength": 1}, "value": {"type": "string"}},
}


SECRET_NAME, KEY_NAME = "[a-z0-9]([a-z0-9.-]*[a-z0-9])?", "[.]?[A-Za-z0-9_-][A-Za-z0-9._-]*"


def or_template(pattern: str) -> str:
    """Return a pattern that lets a template through, of which nobody knows yet what it becomes."""
    return f"^({pattern}|.*[{{][{{].*)$"


SECRET_KEY = {
    "type": "object",
    "description": "A key of a Secret in the release's namespace.",
    "required": ["name", "key"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": or_template(SECRET_NAME)},
        "key": {"type": "string", "pattern": or_template(KEY_NAME)},
    },
}
A_FILE = {"type": "string", "minLength": 1, "description": "A file of yours, from extraVolumes."}
OR_SECRET = {
    "type": ["string", "object"],
    "required": ["secretKeyRef"],
    "additionalProperties": False,
    "properties": {"secretKeyRef": SECRET_KEY},
}

# What a default alone does not tell, by path.
TOLD: dict[str, Schema] = {
    "enabled": {"type": ["boolean", "null"]},
    "demo": {"type": ["boolean", "null"]},
    "nameOverride": NAME,
    "fullnameOverride": NAME,
    "namespaceOverride": NAME,
    "shards": {"type": "integer", "minimum": 1, "maximum": 1000},
    "autoReload.interval": DURATION_SCHEMA,
    "image.digest": {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
    "image.tag": {"type": "string", "pattern": "^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$"},
    "image.pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
    "log.level": {"enum": ["debug", "info", "warning", "error"]},
    "log.format": {"enum": ["logfmt", "json"]},
    "web.scheme": {"enum": ["", "http", "https"]},
    "web.maxRequests": {"type": "integer", "minimum": 1, "maximum": 999_999_999},
    "web.telemetryPath": {"type": "string", "minLength": 1, "pattern": f"^/?{PATH}/?$"},
    "web.routePrefix": {"type": "string", "pattern": f"^(/|/?{PATH}/?)?$"},
    "web.externalUrl": {"type": "string", "pattern": rf"^(https?://[^/?#\s]+(/{PATH})?/?)?$"},
    "web.allowedHosts": {"type": ["array", "null"], "items": {"type": "string"}},
    "image.repository": {"type": "string", "minLength": 1},
    "httpRoute.apiVersion": {"type": "string", "minLength": 1},
    **dict.fromkeys(("extraVolumes", "extraVolumeMounts", "topologySpreadConstraints", "extraEnvFrom"), OBJECTS),
    **dict.fromkeys(("initContainers", "extraContainers", "tolerations", "hostAliases"), OBJECTS),
    "extraArgs": {"type": ["array", "null"], "items": {"type": "string"}},
    "extraEnv": {"type": ["array", "null"], "items": ENVIRONMENT},
    "terminationGracePeriodSeconds": {"type": ["integer", "null"], "minimum": 0},
    "service.type": {"enum": ["ClusterIP", "NodePort", "LoadBalancer"]},
    "service.port": PORT,
    "service.nodePort": PORT | {"type": ["integer", "null"]},
    "service.portName": NAME | {"pattern": "^[a-z]([a-z0-9]|-[a-z0-9])*$", "maxLength": 15, "minLength": 1},
    "service.ipFamilyPolicy": {"enum": ["", "SingleStack", "PreferDualStack", "RequireDualStack"]},
    "ingress.hosts": {"type": ["array", "null"], "items": {"type": "string"}},
    "ingress.pathType": {"enum": ["Prefix", "Exact", "ImplementationSpecific"]},
    "httpRoute.hostnames": {"type": ["array", "null"], "items": {"type": "string"}},
    "networkPolicy.egress.ports": {"type": ["array", "null"], "items": PORT},
    "networkPolicy.egress.dnsPorts": {"type": ["array", "null"], "items": PORT},
    "podDisruptionBudget.maxUnavailable": ONE_OF_TWO,
    "podDisruptionBudget.minAvailable": ONE_OF_TWO,
    "podDisruptionBudget.unhealthyPodEvictionPolicy": {"enum": ["", "IfHealthyBudget", "AlwaysAllow"]},
    "serviceMonitor.sampleLimit": {"type": ["integer", "null"], "minimum": 1},
    "podMonitor.sampleLimit": {"type": ["integer", "null"], "minimum": 1},
    "probe.targets": {"type": ["array", "null"], "items": {"type": "string"}},
    "prometheusRule.runbookUrl": {"type": "string", "minLength": 1, "pattern": r'^[^"\\\s]+$'},
    "prometheusRule.backlogLimits": {"type": ["object", "null"], "additionalProperties": {"type": "number"}},
    **{
        f"{kind}.{name}": PROMETHEUS_DURATION
        for kind in ("serviceMonitor", "podMonitor", "probe")
        for name in ("interval", "scrapeTimeout")
    },
}

FREE = {"podSecurityContext", "securityContext", "livenessProbe", "readinessProbe", "strategy"}
"""Mappings of Kubernetes' own, whose defaults are only some of what may be in them."""

WORDS = re.compile(r"(labels|annotations|nodeSelector)$", re.IGNORECASE)
"""Mappings of strings, as Kubernetes takes no number for a label."""


def schema(values: Mapping[str, Any]) -> Schema:
    """Return the schema of the chart's values, given their defaults."""
    definitions, config = config_schema()
    whole = shape(values, "", {"config": config} | threshold_schemas())
    # Helm itself sets `global` in a chart's values, with whatever the chart above it has there.
    whole["properties"]["global"]["additionalProperties"] = True
    # Read by the chart above, where this one is a part that can be switched off.
    whole["properties"]["enabled"] = TOLD["enabled"]
    # The second is refused while the first is there, so that the message is about one value.
    excluded = {
        "if": {"properties": {"serviceMonitor": {"properties": {"enabled": {"const": True}}}}},
        "then": {"properties": {"podMonitor": {"properties": {"enabled": {"const": False}}}}},
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart canton-exporter",
        **whole,
        **excluded,
        "definitions": definitions,
    }


TYPES: dict[type, str | list[str]] = {bool: "boolean", int: "integer", float: "number", list: ["array", "null"]}


def shape(value: Any, path: str, told: Mapping[str, Schema]) -> Schema:
    """Return the schema of a value of this default."""
    if path in told or path in TOLD:
        return told.get(path, TOLD.get(path, {}))
    if not isinstance(value, Mapping):
        return {"type": TYPES.get(type(value), "string")}
    if WORDS.search(path):
        return {"type": ["object", "null"], "additionalProperties": {"type": "string"}}
    if not value or path in FREE:
        return {"type": ["object", "null"]}
    parts = {key: shape(each, f"{path}.{key}".lstrip("."), told) for key, each in value.items()}
    needed = [key for key, part in parts.items() if is_needed(part)]
    return {"type": "object", "additionalProperties": False, "properties": parts, "required": needed}


def is_needed(part: Schema) -> bool:
    """Whether the templates cannot do without a value; `null` in an operator's values takes the default away."""
    if "enum" in part:
        return "" not in part["enum"]
    may_be_empty = part["type"] == "string" and re.search(part.get("pattern", ""), "") and "minLength" not in part
    return not (may_be_empty or part["type"] == "boolean" or "null" in part["type"])


def threshold_schemas() -> dict[str, Schema]:
    by_unit = {
        Unit.DURATION: DURATION_SCHEMA,
        # It stands in quotes, in an expression, in YAML.
        Unit.TEXT: {"type": "string", "minLength": 1, "pattern": r'^[^"\\\n]+$'},
    }
    positive = {"type": "number", "exclusiveMinimum": 0}
    return {f"prometheusRule.thresholds.{name}": by_unit.get(each.unit, positive) for name, each in THRESHOLDS.items()}


def config_schema() -> tuple[Schema, Schema]:
    """Return the definitions for the exporter's configuration, and the schema of its whole."""
    definitions: Schema = {}
    for kind, model in target_models(tuple(discover().values())).items():
        target = model.model_json_schema()
        definitions |= target.pop("$defs")
        definitions[f"{kind}_target"] = target
    for kind in Kind:
        by_reference(definitions[f"{kind}_target"], is_whole=True)
    for name in definitions:
        if name.endswith("_config"):  # what it must be told may be told among the defaults: a template counts
            definitions[name].pop("required", None)
            options = definitions[name]["properties"]["options"]
            reference = options.get("anyOf", [options])[0]["$ref"]
            definitions[reference.rpartition("/")[2]].pop("required", None)
    definitions["defaults"] = defaults_schema(definitions)
    definitions["budget"] = Budget.model_json_schema()
    config: Schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "defaults": {"$ref": "#/definitions/defaults"},
            "party_labels": {"enum": ["full", "short"]},
            "aliases": {"type": "object", "additionalProperties": {"type": "string"}},
            "budget": {"$ref": "#/definitions/budget"},
            "targets": {
                "type": ["object", "null"],
                "propertyNames": {"pattern": f"^{TARGET_NAME}$"},
                "additionalProperties": any_target(),
            },
        },
    }
    return plain(definitions), config


def any_target() -> Schema:
    """Return the schema of a target of any kind: only that of its kind is heard where it is wrong."""
    by_kind: Schema = {}
    for kind in Kind:
        condition = {"required": ["kind"], "properties": {"kind": {"enum": names(kind)}}}
        by_kind = {"if": condition, "then": {"$ref": f"#/definitions/{kind}_target"}, "else": by_kind}
    return {"type": "object", "required": ["kind"], "properties": {"kind": {"enum": [*Kind, *KIND_ALIASES]}}, **by_kind}


def names(kind: Kind) -> list[str]:
    return [kind, *(alias for alias, meant in KIND_ALIASES.items() if meant is kind)]


def by_reference(target: Schema, *, is_whole: bool) -> None:
    """Let the secrets of a target be named instead of written."""
    properties = target["properties"]
    properties["auth"] = {
        "type": "object",
        "required": ["type"],
        "additionalProperties": False,
        "properties": {
            "type": {"enum": ["none", "bearer"]},
            "token": {"type": "string", "description": "Refused, with a word on what to write instead."},
            "token_file": A_FILE,
            "secretKeyRef": SECRET_KEY,
        },
    }
    properties["headers"] = named(HEADER_NAME, OR_SECRET)
    properties["header_files"] = named(HEADER_NAME, A_FILE)
    properties["labels"] = named(LABEL_NAME, {"type": "string"})
    if is_whole:
        properties["kind"] = {"enum": names(Kind(properties["kind"]["const"]))}
        properties["url"] = OR_SECRET  # of which the template says what is wrong, and does not repeat it
        properties["url_file"] = A_FILE
        target["required"].remove("url")  # the template has a better word for it


def named(pattern: str, values: Schema) -> Schema:
    """Return the schema of a mapping whose keys are names."""
    return {"type": "object", "propertyNames": {"pattern": f"^{pattern}$"}, "additionalProperties": values}


def defaults_schema(definitions: Schema) -> Schema:
    """Return the schema of what may be said of all targets at once: collectors of every kind, and no kind and url."""
    base = TargetConfig.model_json_schema()
    base.pop("$defs", None)
    collectors: Schema = {}
    for kind in Kind:
        collectors |= definitions[f"{kind}_collectors"]["properties"]
    base["properties"] = {name: each for name, each in base["properties"].items() if name not in EACH_TARGETS_OWN}
    base["properties"]["collectors"] = {"type": "object", "additionalProperties": False, "properties": collectors}
    base["required"] = []
    by_reference(base, is_whole=False)
    return base


DROPPED = {"title", "default", "discriminator", "writeOnly", "format"}
"""Of what pydantic writes: what says nothing to Helm, and defaults, as it writes durations in another way."""


def plain(part: Any) -> Any:
    """Return a schema of pydantic's in the words of draft-07, with what may be null in one line."""
    if isinstance(part, Sequence) and not isinstance(part, str):
        return [plain(each) for each in part]
    if not isinstance(part, Mapping):
        return part.replace("#/$defs/", "#/definitions/") if isinstance(part, str) else part
    kept = {
        key: {name: plain(each) for name, each in value.items()} if key == "properties" else plain(value)
        for key, value in part.items()
        if key not in DROPPED
    }
    choices = [each for each in kept.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == 1:
        del kept["anyOf"]
        kept |= choices[0]
        if "type" in kept:
            kept["type"] = [kept["type"], "null"]
    return kept
