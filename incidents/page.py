"""The page that tells the incidents, from the incidents themselves."""

from incidents.incident import Incident
from incidents.judging import FAST_MINUTES, SCALE
from incidents.stories import INCIDENTS

HEAD = f"""\
# Incidents

What happens on such networks, played against the real exporter, a real Prometheus and the rules. Each incident has a
small simulated network of its own; all are played side by side, {SCALE:g} times as fast as on a real network:
intervals, durations and thresholds are divided by that, and scrapes come each second. What takes a day or a week is
left to the rules' unit tests.

```sh
make incidents                              # all of them, in about six minutes; needs Debian's prometheus
make incidents ONLY="node-down restart"
make incidents ONLY=--fast                  # those over within {FAST_MINUTES:g} minutes of a network, in less than two
```

It prints of each incident which alerts it expects and after what time of a real network they fired, and fails if one is
missing, late, or if anything else fires. With `ONLY="--keep FOLDER ..."` configurations, logs and data are kept.

| incident | what happens | what has to fire, within | us or the network |
| --- | --- | --- | --- |
"""
SAYS = {None: "", 0.0: "healthy", 1.0: "us", 2.0: "the network"}


def incidents_page() -> str:
    return HEAD + "".join(f"| {' | '.join(row(each))} |\n" for each in INCIDENTS.values())


def row(incident: Incident) -> tuple[str, str, str, str]:
    fires = [f"`{alert}` {severity}, {within}" for (alert, severity), within in incident.fires.items()]
    return f"`{incident.name}`", incident.story, "<br>".join(fires) or "nothing", SAYS[incident.us_or_network]
