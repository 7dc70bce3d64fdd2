"""What the tests of transfer commands have in common: how to ask for a sender's commands and counter."""

from exporter.simulator import Network
from exporter.simulator.world.transfers import Sender
from tests.simulator.conftest import Client, Reply, StandingClock

STATUS = "/v0/transfer-command/status"
COUNTER = "/v0/transfer-command-counter"
PROXY = "/v0/scan-proxy"
LIFE = 20  # seconds in which each command ends
DAY = 86_400


async def status(client: Client, network: Network, party: str, nonce: object, node: str = "scan-0.9") -> Reply:
    return await client.ask(network[node], f"{STATUS}?sender={party}&nonce={nonce}")


async def states(client: Client, network: Network, sender: Sender, nonce: int) -> list[str]:
    """What has become of the commands of a nonce, of which there may be several."""
    answer = await status(client, network, sender.party, nonce)
    if answer.status == 404:
        return []
    commands = answer.json["transfer_commands_by_contract_id"].values()
    return [command["status"].get("failure_kind", command["status"]["status"]) for command in commands]


async def counted(client: Client, network: Network, sender: Sender, node: str = "scan-0.9") -> int:
    answer = await client.ask(network[node], f"{COUNTER}/{sender.party}")
    return int(answer.json["transfer_command_counter"]["contract"]["payload"]["nextNonce"])


def at_a_creation(clock: StandingClock, sender: Sender) -> int:
    """Advance to when a command is created, and tell its nonce."""
    nonce = sender.next_nonce + 1
    clock.advance(sender._created_at(nonce) - clock())
    return nonce
