"""The example for Alertmanager, tried with a real one: who gets which alert, and which is silent for another's sake."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest
import yaml
from aiohttp import web

from dashboards.source.rules import ALERT, TEMPLATE
from incidents.incident import Incident
from incidents.stories import INCIDENTS

EXAMPLE = Path(__file__).parent.parent / "dashboards/alertmanager.example.yml"
PLACEHOLDER = "http://localhost:9099"
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
AMTOOL = shutil.which("amtool")
PATIENCE = 3000
"""How often it is looked at fifty times a second: for a minute, as it may have to wait for the machine."""
needs_alertmanager = pytest.mark.skipif(
    ALERTMANAGER is None or AMTOOL is None,
    reason="neither alertmanager nor amtool is here; Debian's package prometheus-alertmanager has both",
)

Labels = dict[str, str]


def alert(alertname: str, severity: str = "critical", **labels: str) -> Labels:
    """Return an alert of one node, `mine` of `main`; a label that is empty is left out."""
    everything = {"alertname": alertname, "severity": severity, "network": "main", "target": "mine"} | labels
    return {key: value for key, value in everything.items() if value}


def of_network(alertname: str, severity: str, **labels: str) -> Labels:
    """Return an alert of a network as a whole."""
    return alert(alertname, severity, target="", **labels)


class Case(NamedTuple):
    """No alert but the source silences one of the case."""

    source: Labels
    silenced: list[Labels]
    heard: list[Labels]


LOCAL = [
    alert("CantonLedgerStuck"),
    alert("CantonLedgerLagCritical", synchronizer="global"),
    alert("CantonLedgerLagHigh", "warning", synchronizer="app"),
    alert("CantonLedgerNoCheckpoint", "warning", collector="ledger_offsets"),
]
STALE = alert("CantonCollectorStale", "warning", collector="ledger_info")


def on(labels: Iterable[Labels], **where: str) -> list[Labels]:
    """Return the same alerts of another node, or of a node of that name in another network."""
    return [each | where for each in labels]


CASES = {
    "a node that is down explains what it no longer answers": Case(
        alert("CantonNodeDown", job="canton", instance="exporter:10066"),
        [
            *LOCAL,
            STALE,
            alert("CantonNodeNotReady", "warning"),
            alert("CantonScanBehind"),
            alert("CantonAcsSnapshotOld"),
            alert("CantonAcsCountOld", "warning"),
            alert("CantonOperationGone", "warning", collector="acs"),
        ],
        [
            *on([*LOCAL, STALE], target="other"),
            *on([*LOCAL, STALE, alert("CantonScanBehind")], network="test"),
            alert("CantonLedgerFarBehind", "warning"),
            alert("CantonCertificateExpiring"),
            alert("CantonTrafficLow", member="PAR::a"),
            of_network("CantonScansDisagree", "warning"),
        ],
    ),
    "and what would explain something itself": Case(
        alert("CantonNodeDown", job="canton", instance="exporter:10066"),
        [
            alert("CantonFeatureSupportFailing", "warning", collector="feature_support"),
            alert("CantonThrottled", "warning"),
            alert("CantonLedgerApiFailing", collector="ledger_offsets"),
            alert("CantonSynchronizerDisconnected"),
        ],
        [alert("CantonLedgerFarBehind"), alert("CantonUnauthorized", collector="ledger_offsets")],
    ),
    "somebody else's node that is down does too": Case(
        alert("CantonNodeDown", "warning", role="observed"),
        [alert("CantonScanBehind", "warning"), STALE],
        [*on([STALE], target="other"), *on([STALE], network="test")],
    ),
    "critical makes a warning of the same alert superfluous": Case(
        alert("CantonScanBehind"),
        [alert("CantonScanBehind", "warning")],
        [
            alert("CantonScanBehind", "warning", target="other"),
            alert("CantonScanBehind", "warning", network="test"),
            alert("CantonAcsSnapshotOld", "warning"),
        ],
    ),
    **{
        f"of another {label} it says nothing": Case(
            alert("CantonSomething", **{label: "a"}),
            [alert("CantonSomething", "warning", **{label: "a"})],
            [alert("CantonSomething", "warning", **{label: "b"}), alert("CantonSomething", "warning")],
        )
        for label in ["collector", "synchronizer", "member", "party", "name", "sender", "nonce", "status", "renewed_by"]
    },
    "of a whole network too, though it has no target": Case(
        of_network("CantonRoundOld", "critical"),
        [of_network("CantonRoundOld", "warning")],
        [of_network("CantonRoundOld", "warning", network="test"), of_network("CantonScansDisagree", "warning")],
    ),
    "the upgrade of tomorrow hides that of next week, but not the freeze": Case(
        of_network("CantonUpgradeSoon", "warning", phase="announced", successor="global::34-1"),
        [of_network("CantonUpgradeSoon", "info", phase="announced", successor="global::34-1")],
        [
            of_network("CantonUpgradeSoon", "info", phase="frozen", successor="global::34-1"),
            of_network("CantonUpgradeSoon", "info", phase="announced", successor="app::34-1"),
            of_network("CantonUpgradeSoon", "info", phase="announced", successor="global::34-1", network="test"),
        ],
    ),
    "a lag has one name at a time": Case(
        alert("CantonLedgerLagCritical", synchronizer="global"),
        [alert("CantonLedgerLagHigh", "warning", synchronizer="global")],
        [
            alert("CantonLedgerLagHigh", "warning", synchronizer="app"),
            alert("CantonLedgerLagHigh", "warning", synchronizer="global", target="other"),
            alert("CantonLedgerLagHigh", "warning", synchronizer="global", network="test"),
        ],
    ),
    **{
        f"what {name} says is not said for each collector": Case(
            alert(name, severity, collector=collector),
            [STALE],
            [*on([STALE], target="other"), *on([STALE], network="test"), alert("CantonNodeNotReady", "warning")],
        )
        for name, severity, collector in [
            ("CantonLedgerApiFailing", "critical", "ledger_offsets"),
            ("CantonFeatureSupportFailing", "warning", "feature_support"),
            ("CantonThrottled", "warning", ""),
            ("CantonUnauthorized", "critical", "ledger_parties"),
            ("CantonSynchronizerDisconnected", "critical", ""),
        ]
    },
    "without a synchronizer a ledger stands still": Case(
        alert("CantonSynchronizerDisconnected"),
        LOCAL,
        [*on(LOCAL, target="other"), *on(LOCAL, network="test"), alert("CantonLedgerApiFailing")],
    ),
    "a network that halted is no node's fault": Case(
        of_network("CantonRoundOld", "info"),
        [*LOCAL[1:], *on(LOCAL[1:], target="other"), alert("CantonScanBehind", "warning", target="another")],
        [
            alert("CantonLedgerStuck"),
            *on([*LOCAL, alert("CantonScanBehind", "warning")], network="test"),
            alert("CantonScanBehind"),
            alert("CantonNodeDown", target="third"),
        ],
    ),
    "whoever runs a scan is woken once": Case(
        of_network("CantonRoundOld", "critical"),
        [alert("CantonScanBehind"), alert("CantonScanBehind", target="other")],
        [alert("CantonScanBehind", network="test"), alert("CantonAcsSnapshotOld")],
    ),
    "a freeze may disconnect nodes": Case(
        of_network("CantonUpgradeSoon", "info", phase="frozen", successor="global::34-1"),
        [alert("CantonSynchronizerDisconnected"), alert("CantonSynchronizerDisconnected", target="other")],
        [alert("CantonSynchronizerDisconnected", network="test"), alert("CantonNodeDown", target="third")],
    ),
    "a shard that is down is one that is missing": Case(
        {"alertname": "CantonExporterDown", "severity": "critical", "job": "canton", "instance": "exporter-2:10066"},
        [{"alertname": "CantonShardMissing", "severity": "critical", "job": "canton"}],
        [{"alertname": "CantonShardMissing", "severity": "critical", "job": "other"}, alert("CantonNodeDown")],
    ),
    "with no exporter at all, what looks back means nothing": Case(
        {"alertname": "CantonExporterDown", "severity": "critical"},
        [
            alert("CantonSeriesDropped", "warning", collector="acs"),
            alert("CantonAcsGrowth", "warning", template="a:B:C"),
            of_network("CantonCoinRulesChanged", "info"),
        ],
        [
            alert("CantonNodeDown"),
            {"alertname": "CantonExporterDown", "severity": "critical", "job": "canton", "instance": "exporter:10066"},
            {"alertname": "CantonWatchdog", "severity": "info"},
            alert("CantonLedgerFarBehind", "warning"),
            {"alertname": "DiskFull", "severity": "warning"},
        ],
    ),
}


class Alertmanager:
    """One that runs with the example, and what its receivers got, as pairs of a receiver and the labels of an alert."""

    def __init__(self, url: str, session: aiohttp.ClientSession, received: list[tuple[str, Labels]]) -> None:
        self._url = url
        self._session = session
        self.received = received

    async def post(self, *labels: Labels, ended: bool = False) -> None:
        now = datetime.now(UTC)
        times = {"startsAt": (now - timedelta(minutes=9)).isoformat()} | ({"endsAt": now.isoformat()} if ended else {})
        async with self._session.post(
            f"{self._url}/alerts", json=[{"labels": each} | times for each in labels]
        ) as answer:
            assert answer.status == 200, await answer.text()

    async def silent(self) -> list[Labels]:
        """Return the alerts that others inhibit."""
        async with self._session.get(f"{self._url}/alerts") as answer:
            alerts: list[dict[str, Any]] = await answer.json()
        return [each["labels"] for each in alerts if each["status"]["inhibitedBy"]]

    async def silent_when(self, expected: Iterable[Labels]) -> None:
        """Wait until these are silent and no others."""
        wanted = in_order(expected)
        for _ in range(PATIENCE):
            if in_order(await self.silent()) == wanted:
                return
            await asyncio.sleep(0.02)  # nothing tells from outside when it has taken a source in
        assert in_order(await self.silent()) == wanted

    async def received_when(self, *expected: tuple[str, Labels]) -> None:
        """Wait until these were received, whatever else was."""
        for _ in range(PATIENCE):
            if all(each in self.received for each in expected):
                return
            await asyncio.sleep(0.02)
        assert all(each in self.received for each in expected), self.received


def in_order(many: Iterable[Labels]) -> list[list[tuple[str, str]]]:
    return sorted(sorted(labels.items()) for labels in many)


@pytest.fixture
async def alertmanager(tmp_path: Path) -> AsyncIterator[Alertmanager]:
    """Start an Alertmanager with the example, which waits for nothing and whose receivers are here."""
    assert ALERTMANAGER is not None
    received: list[tuple[str, Labels]] = []

    async def receive(request: web.Request) -> web.Response:
        said = await request.json()
        received.extend((request.path[1:], each["labels"]) for each in said["alerts"] if each["status"] == "firing")
        return web.Response()

    application = web.Application()
    application.router.add_post("/{receiver}", receive)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    text = EXAMPLE.read_text().replace(PLACEHOLDER, f"http://127.0.0.1:{port}")
    text = re.sub(r"group_wait: \w+", "group_wait: 0s", text)
    (tmp_path / "alertmanager.yml").write_text(re.sub(r"group_interval: \w+", "group_interval: 100ms", text))
    process = await asyncio.create_subprocess_exec(
        ALERTMANAGER,
        "--config.file=alertmanager.yml",
        "--storage.path=data",
        "--web.listen-address=127.0.0.1:0",
        "--cluster.listen-address=",
        cwd=tmp_path,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with aiohttp.ClientSession() as session:
            yield Alertmanager(f"http://{await address(process)}/api/v2", session, received)
    finally:
        process.terminate()
        await process.communicate()
        await runner.cleanup()


async def address(process: asyncio.subprocess.Process) -> str:
    """Return where it listens, which it says itself."""
    said = ""
    assert process.stderr is not None
    while line := (await process.stderr.readline()).decode():
        said += line
        if found := re.search(r'msg="?Listening on"? address=(\S+)', line):
            return found[1]
    pytest.fail(said)


@needs_alertmanager
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_silences_what_another_alert_explains_and_nothing_else(alertmanager: Alertmanager, case: Case) -> None:
    await alertmanager.post(*case.silenced, *case.heard, case.source)
    await alertmanager.silent_when(case.silenced)
    await alertmanager.post(case.source, ended=True)
    await alertmanager.silent_when([])


@needs_alertmanager
@pytest.mark.parametrize(
    "incident", [incident for incident in INCIDENTS.values() if incident.silenced], ids=lambda incident: incident.name
)
async def test_silences_what_an_incident_lets_fire_beside_its_own(
    alertmanager: Alertmanager, incident: Incident
) -> None:
    sources = [
        of_network(name, severity, phase="frozen") if name == "CantonUpgradeSoon" else alert(name, severity)
        for name, severity in incident.fires
    ]
    silenced = [alert(name, "warning") for name in incident.silenced]
    await alertmanager.post(*silenced, *sources)
    await alertmanager.silent_when(
        silenced + [each for each in sources if each["severity"] == "info" and len(sources) > 1]
    )


@needs_alertmanager
async def test_each_severity_has_its_receiver(alertmanager: Alertmanager) -> None:
    expected = [
        ("pager", alert("CantonNodeDown")),
        ("tickets", alert("CantonClockSkew", "warning")),
        ("quiet", of_network("CantonCoinRulesChanged", "info")),
        ("watchdog", {"alertname": "CantonWatchdog", "severity": "info"}),
        ("tickets", alert("CantonSomething", "")),
        ("tickets", {"alertname": "DiskFull", "severity": "critical"}),
    ]
    await alertmanager.post(*(labels for _, labels in expected))
    await alertmanager.received_when(*expected)
    assert in_order(labels for _, labels in alertmanager.received) == in_order(labels for _, labels in expected)


@needs_alertmanager
async def test_what_is_silent_reaches_nobody_until_its_reason_ends(alertmanager: Alertmanager) -> None:
    down, silent, marker = alert("CantonNodeDown"), alert("CantonLedgerStuck"), alert("CantonClockSkew", "warning")
    await alertmanager.post(down)
    await alertmanager.received_when(("pager", down))
    await alertmanager.post(silent)
    await alertmanager.silent_when([silent])
    await alertmanager.post(marker)
    await alertmanager.received_when(("tickets", marker))
    assert ("pager", silent) not in alertmanager.received
    await alertmanager.post(down, ended=True)
    await alertmanager.received_when(("pager", silent))


@needs_alertmanager
async def test_amtool_finds_nothing_wrong() -> None:
    assert AMTOOL is not None
    process = await asyncio.create_subprocess_exec(
        AMTOOL, "check-config", str(EXAMPLE), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()


BLOCKS = {found[1]: block for block in TEMPLATE.read_text().split("\n\n") if (found := ALERT.search(block))}


def named(matchers: list[str]) -> set[str]:
    """Return the alerts that matchers name; fail if they name one that there is not."""
    names = set(BLOCKS)
    for matcher in matchers:
        if found := re.fullmatch(r'alertname(=~?|!~)"(.+)"', matcher):
            matched = {name for name in BLOCKS if re.fullmatch(found[2], name)}
            assert found[2] == "Canton.+" or len(matched) == found[2].count("|") + 1, f"{matcher} names none of ours"
            names = names - matched if found[1] == "!~" else names & matched
    return names


@pytest.mark.parametrize("rule", yaml.safe_load(EXAMPLE.read_text())["inhibit_rules"], ids=str)
def test_an_inhibition_compares_labels_that_its_alerts_have(rule: dict[str, list[str]]) -> None:
    sources, targets = named(rule["source_matchers"]), named(rule["target_matchers"])
    equal = set(rule.get("equal", []))
    if "alertname" in equal:
        assert {"network", "target"} < equal  # the same labels on both sides, the missing ones too
        return
    assert not sources & targets or "severity" in str(rule["target_matchers"])
    for label in equal - {"network", "job"}:  # every series of a target or a network has the first, `up` the second
        for name in sources | targets:
            assert f"$labels.{label}" in BLOCKS[name] or f"{label}:" in BLOCKS[name], f"{name} has no {label}"
