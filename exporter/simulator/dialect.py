"""What differs between the API as documented and as the network's releases speak it."""

import json
from enum import StrEnum
from typing import Any


class Dialect(StrEnum):
    """The document to the letter, or a release of the network. What differs is asked by a property, not by a name."""

    DOCUMENT = "document"
    V0_5_10 = "0.5.10"
    V0_5 = "0.5"
    V0_6 = "0.6"
    V0_7_5 = "0.7.5"
    V0_9 = "0.9"

    @property
    def splice(self) -> str:
        """The release that scan and validator report."""
        return {"0.5.10": "0.5.10", "0.5": "0.5.15", "0.6": "0.6.1", "0.7.5": "0.7.5", "0.9": "0.9.0"}.get(self, "")

    @property
    def canton(self) -> str:
        """The version that the ledger reports."""
        return {
            "document": "3.5.14",
            "0.5.10": "3.4.11",
            "0.5": "3.4.12",
            "0.6": "3.5.1",
            "0.7.5": "3.5.15",
            "0.9": "3.6.1",
        }[self]

    @property
    def is_canton_3_4(self) -> bool:
        return self in (Dialect.V0_5_10, Dialect.V0_5)

    @property
    def lists_vetting(self) -> bool:
        """Vetting is asked for by a POST too, and later by that alone (Canton 3.4.12)."""
        return self is not Dialect.V0_5_10

    @property
    def tells_traffic_cost(self) -> bool:
        """A ledger says what its own submissions cost (Canton 3.4.12)."""
        return self is not Dialect.V0_5_10

    @property
    def is_network(self) -> bool:
        return self is not Dialect.DOCUMENT

    @property
    def documents_health(self) -> bool:
        """Health is an operation of the ledger like any other, which negotiates its media type (Canton 3.5)."""
        return not self.is_canton_3_4

    @property
    def ledger_end_has_times(self) -> bool:
        return self is Dialect.V0_9

    @property
    def legacy_is_disabled(self) -> bool:
        """The fields `filter` and `verbose` of /v2/updates are refused."""
        return self is Dialect.V0_9

    @property
    def checks_early_for_a_checkpoint(self) -> bool:
        """A stream without updates gets a checkpoint soon after it was opened (Canton 3.5.1)."""
        return not self.is_canton_3_4

    @property
    def takes_package_ids(self) -> bool:
        """A template in a filter of the ledger may be named by a package id in place of a package name."""
        return self is Dialect.DOCUMENT or self.is_canton_3_4

    @property
    def fails_on_malformed_names(self) -> bool:
        """A malformed name of a template is an error of the ledger's, not of the caller's."""
        return self.is_canton_3_4 or self in (Dialect.V0_6, Dialect.V0_7_5)

    @property
    def has_update_pages(self) -> bool:
        """Updates are told in pages too; the document's list of operations ends before that one."""
        return self in (Dialect.V0_6, Dialect.V0_7_5, Dialect.V0_9)

    @property
    def posts_acs_pages(self) -> bool:
        """Pages of a ledger's active contracts are asked for by POST; where they are not, by GET alone."""
        return not self.is_canton_3_4 and self is not Dialect.V0_6

    @property
    def has_command_completions(self) -> bool:
        """The newer operation for completions, which Canton 3.5.1 does not have yet, and 3.5.10 has."""
        return not self.is_canton_3_4 and self is not Dialect.V0_6

    @property
    def knows_descending_order(self) -> bool:
        return not self.is_canton_3_4

    @property
    def acs_versions(self) -> tuple[int, ...]:
        """The versions of the operation /vN/state/acs that there are."""
        return {"document": (0, 2), "0.5.10": (0,), "0.5": (0,), "0.6": (0, 1), "0.7.5": (0, 1, 2), "0.9": (2,)}[self]

    @property
    def names_last_migration(self) -> bool:
        return self in (Dialect.V0_7_5, Dialect.V0_9)

    @property
    def tells_the_serial(self) -> bool:
        """A scan tells which synchronizer is active, of those that follow each other."""
        return self in (Dialect.V0_6, Dialect.V0_7_5, Dialect.V0_9)

    @property
    def tells_of_upgrades(self) -> bool:
        return self in (Dialect.V0_7_5, Dialect.V0_9)

    @property
    def tells_the_newest_record_time(self) -> bool:
        return self is Dialect.V0_9

    @property
    def tells_sv_weights(self) -> bool:
        return self in (Dialect.DOCUMENT, Dialect.V0_7_5, Dialect.V0_9)

    @property
    def reward_accounting(self) -> str | None:
        """Below which path the accounting of rewards is, if there is any."""
        if self.is_canton_3_4:
            return None
        return f"/v0{'' if self is Dialect.V0_6 else '/internal'}/reward-accounting-process/rounds"

    @property
    def tells_reward_status(self) -> bool:
        """What is known of a round's rewards comes with a status; where not, there is 404 for what is not known."""
        return self is not Dialect.V0_6

    @property
    def tells_bootstrapping(self) -> bool:
        return self is not Dialect.V0_9

    @property
    def finds_hashes(self) -> bool:
        """A scan finds an update by the hash of the prepared transaction."""
        return not self.is_canton_3_4

    @property
    def encoding_parameter(self) -> str:
        """How the parameter is called that says how a scan is to write the values in contracts."""
        return "daml_value_encoding" if self.is_network else "contract_value_encoding"

    @property
    def rules(self) -> str:
        """How the rules are called in fields, and with a dash in paths."""
        return "amulet_rules" if self.is_network else "coin_rules"

    @property
    def proxies_transfer_commands(self) -> bool:
        """A validator tells of transfer commands."""
        return self is not Dialect.V0_9

    @property
    def caps_lists(self) -> bool:
        """Lists in a request may be only so long."""
        return self is Dialect.V0_9

    def write(self, body: Any) -> str:
        """JSON as it is sent: with explicit nulls on the network, without absent fields (None) in the document.

        The network writes compact UTF-8. The document does not say, so it has the spaces and escapes that JSON allows.
        """
        if self.is_network:
            return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return json.dumps(without_absent(body))


def without_absent(body: Any) -> Any:
    if isinstance(body, dict):
        return {key: without_absent(value) for key, value in body.items() if value is not None}
    if isinstance(body, list):
        return [without_absent(item) for item in body]
    return body
