"""The templates of the network's contracts, and how a contract looks that is not part of a snapshot."""

import base64
from dataclasses import dataclass
from functools import cache
from typing import Any

from exporter.simulator.dialect import Dialect
from exporter.simulator.facts import fingerprint, moment

# The versions in use, the newest last: contracts of an older one stay until they are archived.
PACKAGES = {
    "splice-amulet": ("0.1.22", "0.1.23"),
    "splice-amulet-name-service": ("0.1.24",),
    "splice-dso-governance": ("0.1.29",),
    "splice-validator-lifecycle": ("0.1.9",),
    "splice-wallet": ("0.1.24",),
    "splice-wallet-payments": ("0.1.23",),
}


@dataclass(frozen=True)
class Template:
    package: str
    name: str  # Module:Entity

    def __str__(self) -> str:
        return f"{self.package}:{self.name}"

    @property
    def versions(self) -> int:
        return len(PACKAGES[self.package])

    def spelt(self, dialect: Dialect, version: int = -1) -> str:
        """The template id as answers have it: the network names the very package there, the document only its name."""
        return f"{package_id(self.package, version)}:{self.name}" if dialect.is_network else str(self)


@cache
def package_id(package: str, version: int) -> str:
    return fingerprint("package", package, PACKAGES[package][version])


def contract_json(
    template: Template, contract_id: str, payload: dict[str, Any], created_at: float, dialect: Dialect
) -> dict[str, Any]:
    return {
        "template_id": template.spelt(dialect),
        "contract_id": contract_id,
        "payload": payload,
        "created_event_blob": base64.b64encode(bytes.fromhex(contract_id)).decode(),
        "created_at": moment(created_at),
    }


def contract_id(*of: object) -> str:
    """A contract id: a version, a discriminator and a suffix, each with its mark, in hex."""
    return f"00{fingerprint(*of)}ca121220{fingerprint('suffix', *of)}"
