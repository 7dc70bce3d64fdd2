"""The app whose contracts a participant holds: its packages, its templates and the interface they implement."""

from dataclasses import dataclass

from exporter.simulator.facts import fingerprint

APP_PACKAGES = {"demo-interfaces": "1.0.0", "demo-pkg": "1.2.0", "demo-trading": "0.4.0"}
HOLDING = "demo-interfaces:Holding:Holding"
INTERFACES = (HOLDING,)


@dataclass(frozen=True)
class AppTemplate:
    package: str
    name: str  # Module:Entity
    share: int  # of a hundred contracts
    choice: str  # consumes the contract
    check: str  # does not
    interfaces: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.package}:{self.name}"

    @property
    def package_id(self) -> str:
        return package_id(self.package, APP_PACKAGES[self.package])


TEMPLATES = (
    AppTemplate("demo-pkg", "Main:Asset", 55, "Asset_Transfer", "Asset_Appraise", (HOLDING,)),
    AppTemplate("demo-pkg", "Main:Offer", 25, "Offer_Accept", "Offer_Read"),
    AppTemplate("demo-trading", "Trading.Trade:Trade", 15, "Trade_Settle", "Trade_Audit"),
    AppTemplate("demo-trading", "Trading.Trade:Margin", 5, "Margin_Release", "Margin_Check", (HOLDING,)),
)


def package_id(package: str, version: str) -> str:
    return fingerprint("package", package, version)


def interface_id(interface: str) -> str:
    """An interface as answers name it: by the very package."""
    package, _, name = interface.partition(":")
    return f"{package_id(package, APP_PACKAGES[package])}:{name}"


def draw_template(lot: int) -> AppTemplate:
    """One of the templates, by their shares, for a number from 0 to 99."""
    for template in TEMPLATES:
        lot -= template.share
        if lot < 0:
            return template
    raise ValueError("The shares of the templates are less than a hundred.")
