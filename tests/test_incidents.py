"""How an incident is judged, and that each is one that can be played. They are played by `make incidents`, not here."""

import pytest
import yaml

from dashboards.source.rules import rules
from dashboards.source.thresholds import OFF_BY_DEFAULT
from exporter.config.durations import read_duration
from incidents.incident import Alert, Incident
from incidents.judging import FAST_MINUTES, Outcome, judge
from incidents.stories import INCIDENTS

DOWN: Alert = ("CantonNodeDown", "critical")
STALE: Alert = ("CantonCollectorStale", "warning")


async def nothing(_: object) -> None:
    """Nothing happens."""


def story(within: str | None = "4m", silenced: frozenset[str] = frozenset(), says: float | None = None) -> Incident:
    return Incident("story", "", nothing, {DOWN: within} if within else {}, silenced, says)


@pytest.mark.parametrize(
    ("incident", "outcome", "wrong"),
    [
        (story(), Outcome({DOWN: 130.0}, None), []),
        (story(), Outcome({}, None), ["CantonNodeDown critical did not fire"]),
        (story(), Outcome({DOWN: 361.0}, None), ["CantonNodeDown critical fired too late"]),
        (story(), Outcome({DOWN: 130.0, STALE: 200.0}, None), ["CantonCollectorStale warning fired"]),
        (story(silenced=frozenset({STALE[0]})), Outcome({DOWN: 130.0, STALE: 200.0}, None), []),
        (story(within=None), Outcome({}, None), []),
        (story(within=None), Outcome({DOWN: -20.0}, None), ["CantonNodeDown critical fired"]),
        (story(says=1.0), Outcome({DOWN: 130.0}, 1.0), []),
        (story(says=1.0), Outcome({DOWN: 130.0}, None), ["canton:us_or_network is None, not 1.0"]),
    ],
)
def test_what_is_missing_late_or_too_much_is_told(incident: Incident, outcome: Outcome, wrong: list[str]) -> None:
    assert judge(incident, outcome) == wrong


def test_every_incident_expects_alerts_that_there_are() -> None:
    loaded = [rule for group in yaml.safe_load(rules())["groups"] for rule in group["rules"] if "alert" in rule]
    known = {(alert["alert"], alert["labels"]["severity"]) for alert in loaded}
    expected = {alert for incident in INCIDENTS.values() for alert in incident.fires}
    assert expected - known == set()
    assert not {name for name, _ in expected} & set(OFF_BY_DEFAULT)
    assert {name for incident in INCIDENTS.values() for name in incident.silenced} <= {name for name, _ in known}


def test_the_fast_half_is_about_half_and_nothing_lasts_longer_than_two_hours() -> None:
    fast = [incident for incident in INCIDENTS.values() if incident.minutes <= FAST_MINUTES]
    assert len(INCIDENTS) / 3 <= len(fast) <= len(INCIDENTS)
    assert max(incident.minutes for incident in INCIDENTS.values()) <= 120


def test_every_incident_tells_in_a_sentence_what_happens() -> None:
    assert [name for name, incident in INCIDENTS.items() if not incident.story.endswith(".")] == []
    assert all(read_duration(incident.after) for incident in INCIDENTS.values())
