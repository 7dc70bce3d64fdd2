"""Whether an incident went as it should: what had to fire did, in time, and nothing else."""

from dataclasses import dataclass

from exporter.config.durations import read_duration
from incidents.incident import Alert, Incident

SCALE = 15.0
"""So a collector that runs every 15 seconds runs each second, and so does the scrape."""
FAST_MINUTES = 17.0
MARGIN = "2m"
"""What a busy machine may add to each time; durations are those of a real network."""


@dataclass(frozen=True)
class Outcome:
    fired: dict[Alert, float]
    """After how many seconds of a real network each alert fired."""
    says: float | None
    """What canton:us_or_network said in the end."""


def judge(incident: Incident, outcome: Outcome) -> list[str]:
    """Return what is wrong with an outcome, a sentence each."""
    wrong = []
    for alert, within in incident.fires.items():
        limit = (read_duration(within) + read_duration(MARGIN)).total_seconds()
        if alert not in outcome.fired:
            wrong.append(f"{' '.join(alert)} did not fire")
        elif outcome.fired[alert] > limit:
            wrong.append(f"{' '.join(alert)} fired too late")
    allowed = {alert for alert in outcome.fired if alert[0] in incident.silenced}
    wrong += [f"{' '.join(alert)} fired" for alert in outcome.fired if alert not in {*incident.fires, *allowed}]
    if incident.us_or_network is not None and outcome.says != incident.us_or_network:
        wrong.append(f"canton:us_or_network is {outcome.says}, not {incident.us_or_network}")
    return wrong
