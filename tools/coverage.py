"""Which operations of the API are read, by which collector and test; and why the others are not."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.markdown import NOTICE, table

TESTS = Path(__file__).parent.parent / "tests/collectors"

WRITES = "It writes, and the exporter never does."
DETAIL = "One contract, party or package of many: nothing to watch without knowing which."


class Operation(NamedTuple):
    """`collectors` read it; where none does, `why` says why."""

    base: str
    method: str
    path: str
    collectors: tuple[str, ...] = ()
    why: str = ""

    def is_asked_in(self, text: str) -> bool:
        """Tell whether a test's text spells the operation: each part of its path between the names to fill in."""
        parts = [part.rstrip("/") for part in re.split(r"\{.+?\}", self.path)]
        first, *others = (re.escape(part) + r"(?![a-z0-9-])(?!/[a-z])" for part in parts if part)
        return all(re.search(part, text) for part in (rf"(?<![a-z0-9]){first}", *others))

    def tests(self) -> Iterator[str]:
        """Give the test modules of its collectors that ask for it."""
        for collector in self.collectors:
            module = TESTS / f"test_{collector}.py"
            if module.exists() and self.is_asked_in(module.read_text()):
                yield module.name


LEDGER, SCAN, VALIDATOR = "ledger", "scan", "validator"

DOCUMENT: Sequence[Operation] = (
    Operation(LEDGER, "POST", "/v2/updates", ("ledger_offsets", "ledger_updates")),
    Operation(LEDGER, "POST", "/v2/commands/submit-and-wait", why=WRITES),
    Operation(LEDGER, "POST", "/v2/commands/submit-and-wait-for-transaction", why=WRITES),
    Operation(LEDGER, "POST", "/v2/commands/submit-and-wait-for-reassignment", why=WRITES),
    Operation(LEDGER, "POST", "/v2/commands/submit-and-wait-for-transaction-tree", why=WRITES),
    Operation(LEDGER, "POST", "/v2/commands/async/submit", why=WRITES),
    Operation(LEDGER, "POST", "/v2/commands/async/submit-reassignment", why=WRITES),
    Operation(LEDGER, "POST", "/v2/commands/completions", ("ledger_completions",)),
    Operation(LEDGER, "POST", "/v2/commands/command-completions", ("ledger_completions",)),
    Operation(LEDGER, "POST", "/v2/events/events-by-contract-id", why=DETAIL),
    Operation(LEDGER, "GET", "/v2/version", ("ledger_info", "ledger_offsets", "health")),
    Operation(LEDGER, "POST", "/v2/dars/validate", why="It is for who uploads a package, and needs the package."),
    Operation(LEDGER, "POST", "/v2/dars", why=WRITES),
    Operation(LEDGER, "GET", "/v2/packages", ("ledger_info",)),
    Operation(LEDGER, "POST", "/v2/packages", why=WRITES),
    Operation(LEDGER, "GET", "/v2/packages/{package-id}", why=DETAIL),
    Operation(LEDGER, "GET", "/v2/packages/{package-id}/status", why=f"{DETAIL} The list says as much."),
    Operation(LEDGER, "GET", "/v2/package-vetting", ("ledger_info",)),
    Operation(LEDGER, "POST", "/v2/package-vetting", why=WRITES),
    Operation(LEDGER, "POST", "/v2/package-vetting/list", ("ledger_info",)),
    Operation(LEDGER, "POST", "/v2/package-vetting/update", why=WRITES),
    Operation(LEDGER, "GET", "/v2/parties", ("ledger_parties",)),
    Operation(LEDGER, "POST", "/v2/parties", why=WRITES),
    Operation(LEDGER, "POST", "/v2/parties/external/allocate", why=WRITES),
    Operation(
        LEDGER, "POST", "/v2/parties/external/generate-topology", why="It prepares what is then written, for one party."
    ),
    Operation(LEDGER, "GET", "/v2/parties/participant-id", ("ledger_info",)),
    Operation(LEDGER, "GET", "/v2/parties/{party}", why=DETAIL),
    Operation(LEDGER, "PATCH", "/v2/parties/{party}", why=WRITES),
    Operation(LEDGER, "POST", "/v2/state/active-contracts", ("ledger_contracts",)),
    Operation(LEDGER, "POST", "/v2/state/active-contracts-page", ("ledger_contracts",)),
    Operation(LEDGER, "GET", "/v2/state/active-contracts-page", ("ledger_contracts",)),
    Operation(LEDGER, "GET", "/v2/state/connected-synchronizers", ("ledger_offsets", "ledger_info")),
    Operation(
        LEDGER,
        "GET",
        "/v2/state/ledger-end",
        ("ledger_offsets", "ledger_updates", "ledger_completions", "ledger_contracts"),
    ),
    Operation(
        LEDGER, "GET", "/v2/state/latest-pruned-offsets", ("ledger_offsets", "ledger_updates", "ledger_completions")
    ),
    Operation(SCAN, "POST", "/v0/state/acs", ("acs", "acs_snapshot")),
    Operation(SCAN, "POST", "/v1/state/acs", ("acs", "acs_snapshot")),
    Operation(SCAN, "POST", "/v2/state/acs", ("acs", "acs_snapshot")),
    Operation(SCAN, "GET", "/v0/state/acs/snapshot-timestamp", ("acs_snapshot", "acs")),
    Operation(SCAN, "GET", "/v2/updates/hash/{hash}", ("update_lookup",)),
    Operation(SCAN, "POST", "/v0/coin-rules", ("coin_rules", "traffic")),
    Operation(SCAN, "POST", "/v0/admin/sv/previous-sv-reward-weight", ("sv_reward_weight",)),
    Operation(
        SCAN,
        "GET",
        "/v0/internal/reward-accounting-process/rounds/{round_number}/batches/{batch_hash}",
        ("reward_batches",),
    ),
    Operation(VALIDATOR, "GET", "/v0/scan-proxy/ans-entries/by-party/{party}", ("ans_entries", "health")),
    Operation(VALIDATOR, "GET", "/v0/scan-proxy/transfer-command/status", ("transfer_commands",)),
    Operation(SCAN, "GET", "/v0/feature-support", ("feature_support", "health")),
    Operation(SCAN, "GET", "/v0/synchronizer-bootstrapping-transactions/{domain_id_prefix}", ("bootstrapping",)),
    Operation(SCAN, "GET", "/livez", ("health",)),
)
"""Every operation the document shows or names, in its order."""

NETWORK: Sequence[Operation] = (
    Operation(LEDGER, "GET", "/livez", ("health",)),
    Operation(LEDGER, "GET", "/readyz", ("health",)),
    Operation(SCAN, "GET", "/readyz", ("health",)),
    Operation(VALIDATOR, "GET", "/livez", ("health",)),
    Operation(VALIDATOR, "GET", "/readyz", ("health",)),
    Operation(VALIDATOR, "GET", "/version", ("health",)),
    Operation(VALIDATOR, "GET", "/v0/validator-user", ("health",)),
    Operation(LEDGER, "WS", "/v2/state/active-contracts", ("ledger_contracts",)),
    Operation(SCAN, "GET", "/version", ("scan_status", "health")),
    Operation(SCAN, "GET", "/v0/migrations/last", ("acs_snapshot", "acs", "scan_status")),
    Operation(SCAN, "POST", "/v0/backfilling/migration-info", ("acs_snapshot", "acs", "scan_status")),
    Operation(SCAN, "GET", "/v0/events/latest-record-time", ("scan_status",)),
    Operation(SCAN, "POST", "/v0/amulet-rules", ("coin_rules", "traffic")),
    Operation(SCAN, "GET", "/v0/transfer-command/status", ("transfer_commands",)),
    Operation(SCAN, "GET", "/v0/transfer-command-counter/{party}", ("transfer_commands",)),
    Operation(VALIDATOR, "GET", "/v0/scan-proxy/transfer-command-counter/{party}", ("transfer_commands",)),
    Operation(SCAN, "GET", "/v0/ans-entries/by-party/{party}", ("ans_entries",)),
    Operation(SCAN, "GET", "/v0/ans-entries", ("ans_entries",)),
    Operation(VALIDATOR, "GET", "/v0/scan-proxy/ans-entries", ("ans_entries",)),
    Operation(SCAN, "POST", "/v0/open-and-issuing-mining-rounds", ("rounds", "reward_batches")),
    Operation(VALIDATOR, "GET", "/v0/scan-proxy/open-and-issuing-mining-rounds", ("rounds",)),
    Operation(SCAN, "GET", "/v0/lsu", ("synchronizer_upgrade",)),
    Operation(SCAN, "GET", "/v0/active-synchronizer-serial", ("synchronizer_upgrade",)),
    Operation(SCAN, "GET", "/v0/domains/{domain_id}/members/{member_id}/traffic-status", ("traffic",)),
    Operation(
        SCAN, "GET", "/v0/internal/reward-accounting-process/rounds/{round_number}/root-hash", ("reward_batches",)
    ),
    Operation(
        SCAN, "GET", "/v0/reward-accounting-process/rounds/{round_number}/batches/{batch_hash}", ("reward_batches",)
    ),
    Operation(SCAN, "GET", "/v0/reward-accounting-process/rounds/{round_number}/root-hash", ("reward_batches",)),
)
"""What is read of the network beyond the document."""


def coverage_page() -> str:
    head = ["Of a", "Operation", "Read by, or why not", "Tested in"]
    return "".join(
        [
            f"{NOTICE}# Coverage\n\nEvery operation of the API document, in its order: who reads it and where that is ",
            "tested, or why nobody does. Nothing that writes is ever called.\n\n",
            table(head, rows(DOCUMENT)),
            "\n## Beyond the document\n\nWhat else the network's releases have and the exporter reads.\n\n",
            table(head, rows(NETWORK)),
        ]
    )


def rows(operations: Sequence[Operation]) -> Iterator[Sequence[str]]:
    for operation in operations:
        read = ", ".join(f"[{name}](collectors/{name}.md)" for name in operation.collectors)
        tests = ", ".join(f"`{name}`" for name in operation.tests())
        yield operation.base, f"`{operation.method} {operation.path}`", read or operation.why, tests
