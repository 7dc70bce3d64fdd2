"""Parties by readable names."""

from exporter.metrics.metric import Metric
from exporter.scheduling.party_labels import rename_parties

EXPIRY = Metric("canton_expiry_seconds", "When.", ("party", "name"))
ALICE, ALSO_ALICE, BOB = "alice::1220aabbccdd", "alice::1220aabbffff", "bob::1220aabbccdd"


def names(*parties: str, style: str = "short", aliases: dict[str, str] | None = None) -> list[str]:
    samples = [EXPIRY.sample(1, party=party, name=party) for party in parties]
    renamed = rename_parties(samples, style, aliases or {})  # type: ignore[arg-type]
    assert [sample.labels[1] for sample in renamed] == list(parties), "only labels that hold parties are renamed"
    return [sample.labels[0] for sample in renamed]


def test_a_short_party_is_its_hint_and_eight_characters() -> None:
    assert names(ALICE, BOB, "no-fingerprint") == ["alice::1220aabb", "bob::1220aabb", "no-fingerprint"]


def test_parties_that_would_be_one_keep_their_full_names() -> None:
    assert names(ALICE, ALSO_ALICE, BOB) == [ALICE, ALSO_ALICE, "bob::1220aabb"]


def test_a_full_party_is_left_as_it_is() -> None:
    assert names(ALICE, style="full") == [ALICE]


def test_an_alias_is_shown_instead_of_a_party_unless_two_would_be_one() -> None:
    assert names(ALICE, BOB, aliases={ALICE: "treasury"}, style="full") == ["treasury", BOB]
    assert names(ALICE, BOB, aliases={ALICE: "us", BOB: "us"}) == [ALICE, BOB]
