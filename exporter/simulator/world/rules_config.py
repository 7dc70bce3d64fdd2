"""The configuration that the rules of the network hold, and the changes to it that votes bring one after the other."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

Config = dict[str, Any]
Changes = Mapping[str, str | None]


def curve(issued: str, validators: str, apps: str) -> dict[str, Any]:
    return {
        "amuletToIssuePerYear": issued,
        "validatorRewardPercentage": validators,
        "appRewardPercentage": apps,
        "validatorRewardCap": "0.2",
        "featuredAppRewardCap": "100.0",
        "unfeaturedAppRewardCap": "0.6",
        "optValidatorFaucetCap": "2.85",
        "optDevelopmentFundPercentage": None,
    }


def years(count: float) -> dict[str, str]:
    return {"microseconds": str(round(count * 365 * 86_400_000_000))}


TRANSFERS: Config = {
    "createFee": {"fee": "0.0"},
    "holdingFee": {"rate": "0.0000190259"},
    "transferFee": {
        "initialRate": "0.0",
        "steps": [{"_1": "100.0", "_2": "0.0"}, {"_1": "1000.0", "_2": "0.0"}, {"_1": "1000000.0", "_2": "0.0"}],
    },
    "lockHolderFee": {"fee": "0.0"},
    "extraFeaturedAppRewardAmount": "1.0",
    "maxNumInputs": "100",
    "maxNumOutputs": "100",
    "maxNumLockHolders": "50",
    "tokenStandardMaxTTL": None,
}
ISSUANCE: Config = {
    "initialValue": curve("40000000000.0", "0.05", "0.15"),
    "futureValues": [
        {"_1": years(0.5), "_2": curve("20000000000.0", "0.12", "0.4")},
        {"_1": years(1.5), "_2": curve("10000000000.0", "0.18", "0.62")},
        {"_1": years(5), "_2": curve("5000000000.0", "0.21", "0.69")},
    ],
}
FEES: Config = {
    "baseRateTrafficLimits": {"burstAmount": "400000", "burstWindow": {"microseconds": "1200000000"}},
    "extraTrafficPrice": "60.0",
    "readVsWriteScalingFactor": "4",
    "minTopupAmount": "200000",
}
PACKAGES: Config = {
    "amulet": "0.1.23",
    "amuletNameService": "0.1.24",
    "dsoGovernance": "0.1.29",
    "validatorLifecycle": "0.1.9",
    "wallet": "0.1.24",
    "walletPayments": "0.1.23",
}


def first_config(synchronizer: str) -> Config:
    """The configuration with which the network began; it is the caller's, to change."""
    config: Config = {
        "tickDuration": {"microseconds": "600000000"},
        "transferConfig": TRANSFERS,
        "issuanceCurve": ISSUANCE,
        "decentralizedSynchronizer": {
            "requiredSynchronizers": {"map": [[synchronizer, {}]]},
            "activeSynchronizer": synchronizer,
            "fees": FEES,
        },
        "packageConfig": PACKAGES,
        "transferPreapprovalFee": None,
        "featuredAppActivityMarkerAmount": None,
        "optDevelopmentFundManager": None,
        "externalPartyConfigStateTickDuration": None,
        "rewardConfig": None,
        "transferPreapprovalBaseDuration": None,
    }
    return deepcopy(config)


# What the votes are about, in turn. The first value is what such a vote begins with.
CYCLE: list[dict[str, list[str]]] = [
    {"transferConfig.holdingFee.rate": ["0.0000210000", "0.0000200000", "0.0000190259"]},
    {"decentralizedSynchronizer.fees.extraTrafficPrice": ["62.5", "58.0", "60.0"]},
    {"transferConfig.maxNumInputs": ["120", "100"], "transferConfig.maxNumOutputs": ["120", "100"]},
    {"decentralizedSynchronizer.fees.minTopupAmount": ["250000", "200000"]},
    {
        "packageConfig.amulet": ["0.1.24", "0.1.25", "0.1.23"],
        "packageConfig.wallet": ["0.1.25", "0.1.26", "0.1.24"],
    },
    {"transferPreapprovalFee": ["1.0", "0.5"]},
    {"decentralizedSynchronizer.fees.baseRateTrafficLimits.burstAmount": ["500000", "400000"]},
]


def apply(config: Config, changes: Changes) -> None:
    """Set each value at its dotted path; a ValueError says in one sentence what is wrong with a path or a value."""
    for path, value in changes.items():
        *way, last = path.split(".")
        within: Any = config
        for step in way:
            within = within.get(step) if isinstance(within, dict) else None
        if not isinstance(within, dict) or last not in within or isinstance(within[last], dict | list):
            raise ValueError(
                f"The configuration has no value at {path!r}, such as there is at {next(iter(CYCLE[0]))!r}."
            )
        if value is not None and not isinstance(value, str):
            raise ValueError(
                f"The value at {path!r} is to be a string, as all numbers of the configuration are, or null."
            )
        within[last] = value
