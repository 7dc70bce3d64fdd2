"""What is in the contracts of a snapshot: for each template one function of what was drawn for the contract."""

from collections.abc import Callable
from typing import Any, NamedTuple

from exporter.simulator.world.templates import Template

Payload = dict[str, Any]

# Texts that a reader of JSON may stumble over.
TEXTS = (
    "",
    "https://registry.example/about",
    "Zahlungsanbieter für Zürich und Genève",
    'a "quoted" name, a back\\slash\nand a second line',
    "日本語の説明 🚀",
    '"template_id": "splice-amulet:Splice.Amulet:Amulet"',
)
MICROSECONDS_OF_A_DAY = "86400000000"


class Lot(NamedTuple):
    """What was drawn for one contract. `number` is any number, as large as one likes."""

    number: int
    digest: str
    owner: str
    other: str
    dso: str
    created_at: str

    @property
    def round(self) -> dict[str, str]:
        return {"number": str(60_000 + self.number % 30_000)}

    @property
    def decimal(self) -> str:
        return f"{self.number % 90_000}.{self.number % 9_999_999_967:010}"

    @property
    def text(self) -> str:
        return TEXTS[self.number % len(TEXTS)]


def amulet(lot: Lot) -> Payload:
    amount = {"initialAmount": lot.decimal, "createdAt": lot.round, "ratePerRound": {"rate": "0.0000190259"}}
    return {"dso": lot.dso, "owner": lot.owner, "amount": amount}


def locked_amulet(lot: Lot) -> Payload:
    lock = {"holders": [lot.other], "expiresAt": lot.created_at, "optContext": lot.text or None}
    return {"amulet": amulet(lot), "lock": lock}


def app_reward(lot: Lot) -> Payload:
    return {
        "dso": lot.dso,
        "provider": lot.owner,
        "featured": lot.number % 2 == 0,
        "amount": lot.decimal,
        "round": lot.round,
        "beneficiary": None if lot.number % 3 else lot.other,
    }


def validator_reward(lot: Lot) -> Payload:
    return {"dso": lot.dso, "user": lot.owner, "amount": lot.decimal, "round": lot.round}


def validator_right(lot: Lot) -> Payload:
    return {"dso": lot.dso, "user": lot.owner, "validator": lot.other}


def validator_license(lot: Lot) -> Payload:
    metadata = {"lastUpdatedAt": lot.created_at, "version": "0.7.5", "contactPoint": lot.text}
    faucet = {"firstReceivedFor": lot.round, "lastReceivedFor": lot.round, "numCouponsMissed": str(lot.number % 40)}
    return {
        "validator": lot.owner,
        "sponsor": lot.other,
        "dso": lot.dso,
        "faucetState": faucet,
        "metadata": metadata if lot.number % 5 else None,
        "lastActiveAt": lot.created_at,
        "weight": None,
        "kind": "OperatorLicense",
    }


def liveness(lot: Lot) -> Payload:
    return {"dso": lot.dso, "validator": lot.owner, "round": lot.round}


def featured_app(lot: Lot) -> Payload:
    return {"dso": lot.dso, "provider": lot.owner}


def preapproval(lot: Lot) -> Payload:
    return {
        "dso": lot.dso,
        "receiver": lot.owner,
        "provider": lot.other,
        "validFrom": lot.created_at,
        "lastRenewedAt": lot.created_at,
        "expiresAt": lot.created_at,
    }


def ans_entry(lot: Lot) -> Payload:
    return {
        "user": lot.owner,
        "name": f"name-{lot.number % 1_000_000}.unverified.cns",
        "url": TEXTS[1] if lot.number % 2 else "",
        "description": lot.text,
        "expiresAt": lot.created_at,
    }


def ans_entry_context(lot: Lot) -> Payload:
    """Refers to other contracts, each with a template id of its own."""
    reference = {"template_id": "splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionRequest"}
    return {
        "dso": lot.dso,
        "user": lot.owner,
        "name": f"name-{lot.number % 1_000_000}.unverified.cns",
        "description": lot.text,
        "reference": reference | {"contract_id": f"00{lot.digest}"},
        "meta": {"values": [["template_id", lot.text], ["created_events", "[]"], ["next_page_token", "null"]]},
    }


def subscription(lot: Lot) -> Payload:
    pay = {
        "paymentAmount": {"amount": "1.0000000000", "unit": "USDUnit"},
        "paymentInterval": {"microseconds": MICROSECONDS_OF_A_DAY},
        "paymentDuration": {"microseconds": MICROSECONDS_OF_A_DAY},
    }
    data = {"sender": lot.owner, "receiver": lot.other, "provider": lot.other, "dso": lot.dso, "description": lot.text}
    context = {"template_id": "splice-amulet-name-service:Splice.Ans:AnsEntryContext", "contract_id": f"00{lot.digest}"}
    return {"subscriptionData": data, "payData": pay, "nextPaymentDueAt": lot.created_at, "context": context}


def member_traffic(lot: Lot) -> Payload:
    return {
        "dso": lot.dso,
        "memberId": f"PAR::participant-{lot.number % 500}::1220{lot.digest}",
        "synchronizerId": f"global-domain::1220{lot.digest[::-1]}",
        "migrationId": "4",
        "totalPurchased": str(200_000 * (1 + lot.number % 500)),
        "numPurchases": str(1 + lot.number % 500),
        "amuletSpent": lot.decimal,
        "usdSpent": lot.decimal,
    }


def used_secret(lot: Lot) -> Payload:
    return {"validatorParty": lot.owner, "secret": lot.digest, "usedAt": lot.created_at}


def install(lot: Lot) -> Payload:
    return {
        "dsoParty": lot.dso,
        "validatorParty": lot.other,
        "endUserName": lot.owner.partition("::")[0],
        "endUserParty": lot.owner,
    }


def dso_rules(lot: Lot) -> Payload:
    config = {
        "numUnclaimedRewardsThreshold": "10",
        "svOnboardingRequestTimeout": {"microseconds": "3600000000"},
        "actionConfirmationTimeout": {"microseconds": "3600000000"},
        "maxTextLength": "1024",
        "nextScheduledSynchronizerUpgrade": None,
        "nextScheduledLogicalSynchronizerUpgrade": None,
    }
    svs = [[lot.owner, {"name": "Demo-SV-1", "joinedAsOfRound": {"number": "0"}, "svRewardWeight": "10000"}]]
    return {"dso": lot.dso, "epoch": "7", "svs": svs, "offboardedSvs": [], "config": config, "isDevNet": False}


DSO_RULES = Template("splice-dso-governance", "Splice.DsoRules:DsoRules")


class Kind(NamedTuple):
    share: int  # of a thousand contracts
    payload: Callable[[Lot], Payload]
    is_shared: bool = False  # the other party sees it too


# Of the rules there is one, however many contracts there are.
KINDS = {
    Template("splice-amulet", "Splice.Amulet:Amulet"): Kind(480, amulet),
    Template("splice-amulet", "Splice.Amulet:AppRewardCoupon"): Kind(120, app_reward, is_shared=True),
    Template("splice-amulet", "Splice.ValidatorLicense:ValidatorLicense"): Kind(70, validator_license, is_shared=True),
    Template("splice-amulet", "Splice.Amulet:ValidatorRight"): Kind(60, validator_right, is_shared=True),
    Template("splice-amulet", "Splice.ValidatorLicense:ValidatorLivenessActivityRecord"): Kind(60, liveness),
    Template("splice-amulet", "Splice.Amulet:ValidatorRewardCoupon"): Kind(50, validator_reward),
    Template("splice-amulet", "Splice.AmuletRules:TransferPreapproval"): Kind(40, preapproval, is_shared=True),
    Template("splice-amulet", "Splice.Amulet:LockedAmulet"): Kind(35, locked_amulet, is_shared=True),
    Template("splice-amulet-name-service", "Splice.Ans:AnsEntry"): Kind(30, ans_entry),
    Template("splice-amulet", "Splice.DecentralizedSynchronizer:MemberTraffic"): Kind(20, member_traffic),
    Template("splice-wallet-payments", "Splice.Wallet.Subscriptions:SubscriptionIdleState"): Kind(
        15, subscription, is_shared=True
    ),
    Template("splice-amulet", "Splice.Amulet:FeaturedAppRight"): Kind(8, featured_app),
    Template("splice-wallet", "Splice.Wallet.Install:WalletAppInstall"): Kind(6, install, is_shared=True),
    Template("splice-amulet-name-service", "Splice.Ans:AnsEntryContext"): Kind(4, ans_entry_context),
    Template("splice-validator-lifecycle", "Splice.ValidatorOnboarding:UsedSecret"): Kind(2, used_secret),
    DSO_RULES: Kind(0, dso_rules),
}
