"""Plays the incidents and says of each: which alerts it expects, after what time they fired, and what else did."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from exporter.config.durations import read_duration, write_duration
from incidents.incident import Alert, Incident, Scene
from incidents.judging import FAST_MINUTES, MARGIN, SCALE, Outcome, judge
from incidents.stage import NoPrometheus, Prometheus, stage
from incidents.stories import INCIDENTS

LEAST_SCRAPED = 0.95
"""Of the scrapes; a machine may be busy for a moment, an exporter may not be away."""


async def play(scene: Scene) -> float:
    """Play one incident; return when it was over."""
    await scene.passes(scene.incident.after)
    scene.happens()
    await scene.incident.play(scene)
    lasts = scene.incident.minutes * 60 + read_duration(MARGIN).total_seconds()
    await asyncio.sleep(max(0.0, scene.began + lasts / scene.scale - time.time()))
    return time.time()


async def look(scene: Scene, prometheus: Prometheus, start: float, end: float) -> Outcome:
    network = scene.incident.name
    history = await prometheus.history(f'ALERTS{{alertstate="firing", network="{network}"}}', start, end)
    fired: dict[Alert, float] = {}
    for series in history:
        alert = (series["metric"]["alertname"], series["metric"]["severity"])
        after = (float(series["values"][0][0]) - scene.began) * scene.scale
        fired[alert] = min(after, fired.get(alert, after))
    said = await prometheus.history(f'canton:us_or_network{{network="{network}"}}', end - 1, end)
    values = {float(series["values"][-1][1]) for series in said}
    return Outcome(fired, values.pop() if len(values) == 1 else None)


def tell(incident: Incident, outcome: Outcome, wrong: Sequence[str]) -> None:
    print(f"{'FAILED' if wrong else 'ok':<7}{incident.name}: {incident.story}")
    for alert, within in incident.fires.items():
        after = outcome.fired.get(alert)
        told = "never" if after is None else f"after {write_duration(seconds(after))}"
        print(f"         {' '.join(alert):<45} fired {told}, expected within {within}")
    if not incident.fires:
        print("         nothing expected")
    for alert in outcome.fired:
        if alert[0] in incident.silenced:
            print(f"         {' '.join(alert):<45} fired too, and Alertmanager's example silences it")
    for sentence in wrong:
        print(f"         {sentence}")
    sys.stdout.flush()


def seconds(number: float) -> timedelta:
    return timedelta(seconds=max(1, round(number)))


async def play_one(scene: Scene, prometheus: Prometheus) -> bool:
    """Play an incident and tell of it; return whether it went wrong."""
    start = time.time()
    outcome = await look(scene, prometheus, start, await play(scene))
    wrong = judge(scene.incident, outcome)
    tell(scene.incident, outcome, wrong)
    return bool(wrong)


async def play_all(incidents: Sequence[Incident], scale: float, folder: Path) -> int:
    """Play incidents side by side; return how many of them went wrong."""
    async with stage(incidents, scale, folder) as (scenes, prometheus):
        start = time.time()
        failed = sum(await asyncio.gather(*(play_one(scene, prometheus) for scene in scenes.values())))
        [scraped] = await prometheus.query(f"avg_over_time(up[{round(time.time() - start)}s])")
        if (part := float(scraped["value"][1])) < LEAST_SCRAPED:
            print(f"FAILED the exporter answered only {part:.0%} of the scrapes")
            failed += 1
    if "Traceback" in (log := (folder / "exporter.log").read_text()):
        print(log[log.index("Traceback") :][:3000])
        failed += 1
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make incidents", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(INCIDENTS)}; else all")
    parser.add_argument("--fast", action="store_true", help="only those that are over soon")
    parser.add_argument("--scale", type=float, default=SCALE, help="how many times faster than real")
    parser.add_argument("--keep", type=Path, help="a folder for configurations, logs and data")
    chosen = parser.parse_args(arguments)
    incidents = [INCIDENTS[name] for name in chosen.names or INCIDENTS]
    if chosen.fast:
        incidents = [incident for incident in incidents if incident.minutes <= FAST_MINUTES]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = chosen.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            failed = asyncio.run(play_all(incidents, chosen.scale, folder))
        except NoPrometheus as error:
            print(error, file=sys.stderr)
            return 2
    print(f"{len(incidents) - failed} of {len(incidents)} incidents went as they should.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
