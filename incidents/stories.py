"""The incidents, each from what really happened on such a network."""

import time

from exporter.simulator import Dialect, Kind, NodeSpec
from exporter.simulator.faults import Delay, Disconnected, Down, Frozen, Late, Quiet, Skew, Status
from incidents.incident import INCIDENTS, PARTICIPANT, SCAN, VALIDATOR, Scene, incident

__all__ = ["INCIDENTS"]

NEXT_PARTICIPANT = NodeSpec("participant", Kind.LEDGER, dialect=Dialect.V0_9)
TOKEN_LASTS = 120
"""Seconds, real ones: time enough for what warns of its end."""


@incident("CantonNodeDown critical 4m", us_or_network=1)
async def node_down(scene: Scene) -> None:
    """The participant's process dies."""
    await scene.participant.set_fault(Down())


@incident("CantonNodeNotReady warning 8m", us_or_network=1, nodes=(VALIDATOR, SCAN))
async def validator_not_ready(scene: Scene) -> None:
    """The validator is alive and never gets ready."""
    await scene.validator.set_fault(Status(503, path="/readyz"))


@incident("CantonLedgerStuck critical 49m", us_or_network=1)
async def participant_stuck(scene: Scene) -> None:
    """The participant stands still while the network goes on; all it says is that it is well."""
    await scene.participant.set_fault(Frozen())


@incident("CantonLedgerLagHigh warning 9m", "CantonLedgerLagCritical critical 9m", us_or_network=1)
async def processing_paused(scene: Scene) -> None:
    """The participant stops processing events for ten minutes, and from then on follows ten minutes late."""
    await scene.participant.set_fault(Frozen())
    await scene.passes("10m")
    scene.happens()
    await scene.participant.set_fault(Late(scene.short("10m")))


@incident("CantonSynchronizerDisconnected critical 8m", us_or_network=1, nodes=(NEXT_PARTICIPANT, SCAN))
async def synchronizers_gone(scene: Scene) -> None:
    """After a fork the participant is connected to no synchronizer any more."""
    await scene.participant.set_fault(Disconnected())


@incident("CantonCoinRulesPackageNotVetted critical 42m", "CantonCoinRulesChanged info 4m", us_or_network=0)
async def package_not_vetted(scene: Scene) -> None:
    """A vote requires a version of a package that the participant has not vetted."""
    scene.world.vote({"packageConfig.amulet": "9.9.9"})


@incident("CantonAcsSnapshotOld warning 25m")
async def snapshots_stop(scene: Scene) -> None:
    """The scan took its last snapshot almost five hours ago; the next does not come."""
    scene.world.stop_snapshots(scene.short("4h50m"))


@incident(
    "CantonTokenExpiring warning 8m",
    "CantonTokenExpiring critical 8m",
    "CantonUnauthorized critical 38m",
    after="1s",
    tokens={"participant": TOKEN_LASTS},
)
async def token_expires(scene: Scene) -> None:
    """The token for the participant has half an hour left, nobody renews it, and it ends."""


@incident("CantonThrottled warning 15m")
async def storm_of_429(scene: Scene) -> None:
    """The scan answers 429 to whatever it is asked."""
    await scene.scan.set_fault(Status(429))


@incident("CantonLedgerApiFailing critical 6m", silenced=["CantonCollectorStale"], us_or_network=1, watched="25m")
async def dead_database_of_a_participant(scene: Scene) -> None:
    """The participant is alive and its database is dead."""
    await scene.participant.set_fault(Status(500, path="/v2"))


@incident(
    "CantonFeatureSupportFailing warning 9m",
    silenced=["CantonCollectorStale"],
    nodes=(SCAN,),
    roles={"scan": "own"},
    watched="15m",
)
async def dead_database_of_a_scan(scene: Scene) -> None:
    """The scan is alive and every question to its database hangs."""
    await scene.scan.set_fault(Delay(30, path="/v0"))


@incident(
    "CantonAnsEntryExpiring warning 36m",
    nodes=(VALIDATOR, SCAN),
    options=lambda world: {"ans_entries": {"parties": [*world.senders]}},
)
async def name_nobody_renews(scene: Scene) -> None:
    """A name has 27 days left, and its renewal was due three days ago."""
    scene.world.expire_name(next(iter(scene.world.senders)), scene.short("27d"))


@incident(
    "CantonTransferCommandStuck warning 17m",
    "CantonTransferCommandStuck critical 67m",
    nodes=(VALIDATOR, SCAN),
    options=lambda world: {"transfer_commands": {"commands": [{"sender": sender} for sender in world.senders]}},
)
async def transfers_stuck(scene: Scene) -> None:
    """The transfer commands of a sender pile up, and none is completed."""
    for sender in scene.world.senders:
        scene.world.stick(sender)


@incident(
    "CantonOperationGone warning 12m",
    nodes=(VALIDATOR, SCAN),
    options=lambda world: {"transfer_commands": {"commands": [{"sender": sender} for sender in world.senders]}},
)
async def operation_removed(scene: Scene) -> None:
    """The validator is upgraded to a release that no longer has transfer commands."""
    await scene.validator.upgrade(Dialect.V0_9)


@incident("CantonClockSkew warning 15m", us_or_network=0)
async def clock_skew(scene: Scene) -> None:
    """The participant's clock is half a minute fast."""
    await scene.participant.set_fault(Skew(30))


@incident(
    "CantonScanBehind warning 15m",
    "CantonRoundOld info 55m",
    us_or_network=2,
    watched="60m",
    nodes=(PARTICIPANT, VALIDATOR, SCAN),
)
async def network_halted(scene: Scene) -> None:
    """The whole network halts; a validator's operator can do nothing, and nobody is woken."""
    scene.world.halt()


@incident(
    "CantonScanBehind warning 15m",
    "CantonScanBehind critical 35m",
    "CantonRoundOld warning 55m",
    us_or_network=2,
    roles={"scan": "own"},
)
async def network_halted_for_a_super_validator(scene: Scene) -> None:
    """The whole network halts; who runs one of its scans is woken."""
    scene.world.halt()


@incident("CantonScanBehind warning 15m", us_or_network=0)
async def scan_stands_still(scene: Scene) -> None:
    """Somebody else's scan no longer ingests; the participant shows that the network goes on."""
    await scene.scan.set_fault(Frozen())


@incident("CantonUpgradeSoon info 16m", "CantonUpgradeSoon warning 16m", silenced=["CantonSynchronizerDisconnected"])
async def frozen_for_an_upgrade(scene: Scene) -> None:
    """An upgrade is near, its freeze has begun, and the participant is disconnected as it is meant to be."""
    now = time.time()
    scene.world.announce_upgrade(now + scene.short("20h"), now + 1)
    await scene.participant.set_fault(Disconnected())


@incident(us_or_network=0, watched="15m")
async def restart(scene: Scene) -> None:
    """The participant is restarted: a minute away, two more not ready."""
    await scene.participant.set_fault(Down())
    await scene.passes("1m")
    await scene.participant.set_fault(Status(503, path="/readyz"))
    await scene.passes("2m")
    await scene.participant.clear_fault()


@incident(us_or_network=0, watched="70m", nodes=(PARTICIPANT, VALIDATOR, SCAN))
async def quiet_night(scene: Scene) -> None:
    """Nobody does anything; only its commitments move the participant, every half hour."""
    await scene.participant.set_fault(Quiet(scene.short("30m")))
