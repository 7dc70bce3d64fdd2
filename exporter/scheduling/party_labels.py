"""Parties by the names the operator wants to read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from exporter.metrics.metric import Sample

PARTY_LABELS = frozenset({"party", "sender", "provider", "sv"})
FINGERPRINT = 8


def rename_parties(
    samples: Sequence[Sample], style: Literal["full", "short"], aliases: Mapping[str, str]
) -> Sequence[Sample]:
    """Return the samples with each party's alias, or its hint and 8 characters; in full where two would be one."""
    if style == "full" and not aliases:
        return samples
    parties = {
        value
        for sample in samples
        for label, value in zip(sample.metric.labels, sample.labels, strict=True)
        if label in PARTY_LABELS
    }
    names = {party: aliases.get(party) or (shorten(party) if style == "short" else party) for party in parties}
    while (uses := Counter(names.values())).total() > len(uses):  # a full name may be the alias of a different party
        names = {party: name if uses[name] == 1 else party for party, name in names.items()}
    return [
        sample._replace(
            labels=tuple(
                names[value] if label in PARTY_LABELS else value
                for label, value in zip(sample.metric.labels, sample.labels, strict=True)
            )
        )
        for sample in samples
    ]


def shorten(party: str) -> str:
    hint, separator, fingerprint = party.partition("::")
    return f"{hint}{separator}{fingerprint[:FINGERPRINT]}"
