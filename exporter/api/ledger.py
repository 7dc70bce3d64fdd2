"""What several collectors ask a ledger: its end, what it pruned, and the events that somebody may see."""

from typing import Any

import msgspec
from pydantic import Field

from exporter.api.scan import template_name
from exporter.collector import Int64, Name, Node, NotNegative, PartyId, Strict, Struct, TemplateName


class Seen(Strict):
    """Whose events are looked at."""

    parties: list[PartyId] = Field(default=[], max_length=1000)
    """What these parties see; by default what any party sees, which needs the right to read as any party."""
    templates: list[TemplateName] = Field(default=[], max_length=1000)
    """Only these, each as `PACKAGE_NAME:MODULE_NAME:ENTITY_NAME`."""

    def event_format(self) -> dict[str, Any]:
        """Return the API's EventFormat, without what makes answers longer."""
        filters = {"cumulative": [filter_of(template) for template in dict.fromkeys(self.templates)] or [WILDCARD]}
        if self.parties:
            return {"filtersByParty": dict.fromkeys(self.parties, filters), "verbose": False}
        return {"filtersForAnyParty": filters, "verbose": False}


WILDCARD = {"identifierFilter": {"WildcardFilter": {"value": {"includeCreatedEventBlob": False}}}}


def filter_of(template: str) -> dict[str, Any]:
    return {
        "identifierFilter": {
            "TemplateFilter": {"value": {"templateId": f"#{template}", "includeCreatedEventBlob": False}}
        }
    }


class LedgerEnd(Struct):
    offset: NotNegative | None = None  # 0, an empty ledger, may be left out


class Pruned(Struct):
    offset: Int64 | None = msgspec.field(name="participantPrunedUpToInclusive", default=None)


class Checkpoint(Struct):
    offset: Int64


class CheckpointValue(Struct):
    value: Checkpoint


class Event(Struct):
    """The template of the contract, which every event has."""

    template_id: Name = msgspec.field(name="templateId")
    package_name: Name | None = msgspec.field(name="packageName", default=None)

    @property
    def template(self) -> str:
        return template_name(self.template_id, self.package_name)


class Delay(Struct):
    seconds: float | None = None
    nanos: float | None = None


class CheckpointFeature(Struct):
    delay: Delay | None = msgspec.field(name="maxOffsetCheckpointEmissionDelay", default=None)


class Features(Struct):
    checkpoint: CheckpointFeature | None = msgspec.field(name="offsetCheckpoint", default=None)


class Version(Struct):
    version: Name | None = None
    features: Features | None = None

    @property
    def checkpoint_delay(self) -> float | None:
        """How many seconds may by design lie between two offset checkpoints, if the node reports it."""
        checkpoint = self.features and self.features.checkpoint
        delay = checkpoint and checkpoint.delay
        return (delay.seconds or 0) + (delay.nanos or 0) / 1e9 if delay else None


async def ledger_end(node: Node) -> int:
    return (await node.get("/v2/state/ledger-end", LedgerEnd)).offset or 0


async def pruned_offset(node: Node) -> int:
    return (await node.get("/v2/state/latest-pruned-offsets", Pruned)).offset or 0
