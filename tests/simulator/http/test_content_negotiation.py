"""An answer is given only to a client that takes its media type, as real nodes do."""

import pytest

from exporter.simulator import Dialect, Kind, Network
from exporter.simulator.http.content_negotiation import admits
from tests.simulator.conftest import Client

NEGOTIATED = {"ledger": "/v2/version", "scan": "/v0/feature-support", "validator": "/version"}


@pytest.mark.parametrize(
    ("accept", "fits"),
    [
        ("", True),
        ("*/*", True),
        ("text/plain", True),
        ("text/*", True),
        ("TEXT/PLAIN;charset=utf-8", True),
        ("application/json, */*;q=0.1", True),
        ("application/json", False),
        ("application/*", False),
        ("*/*, text/plain;q=0", False),
        ("text/plain;q=x", False),
    ],
)
def test_the_header_accept_is_read_as_http_has_it(accept: str, fits: bool) -> None:
    assert admits(accept, "text/plain") is fits


@pytest.mark.parametrize(
    ("dialect", "status"), [("0.5", 200), ("0.6", 406), ("0.7.5", 406), ("0.9", 406), ("document", 404)]
)
async def test_readiness_is_text_and_from_canton_3_5_on_only_for_who_takes_text(
    network: Network, client: Client, dialect: str, status: int
) -> None:
    node = network[f"ledger-{dialect}"]
    assert (await client.ask(node, "/readyz", accept="application/json")).status == status
    if status != 404:
        assert (await client.ask(node, "/readyz", accept="*/*")).status == 200


@pytest.mark.parametrize("dialect", [dialect for dialect in Dialect if dialect.is_network])
@pytest.mark.parametrize("kind", Kind)
async def test_an_empty_answer_is_for_everybody_and_json_for_who_takes_it(
    network: Network, client: Client, kind: Kind, dialect: Dialect
) -> None:
    node = network[f"{kind}-{dialect}"]
    assert (await client.ask(node, "/livez", accept="application/json")).status == 200
    path = NEGOTIATED[kind]
    assert (await client.ask(node, path, accept="application/json")).status == 200
    assert (await client.ask(node, path, accept="text/plain")).status == 406


async def test_a_splice_app_says_which_types_there_are(network: Network, client: Client) -> None:
    refused = await client.ask(network["scan-0.9"], "/version", accept="text/plain")
    assert refused.text == "Resource representation is only available with these types:\napplication/json"
