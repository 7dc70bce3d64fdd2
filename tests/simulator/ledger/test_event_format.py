"""What a caller of a ledger may ask for: parties, templates and interfaces."""

from typing import Any

import pytest

from exporter.simulator import Dialect, Network
from exporter.simulator.ledger.app_templates import APP_PACKAGES, package_id
from tests.simulator.conftest import EVERYBODY, Client, Reply, ledger, transactions
from tests.simulator.ledger.updates import events_of, everything, follow, only, template_of

BEGIN, END = 183_000, 183_900
ASSET, MARGIN, HOLDING = (
    "#demo-pkg:Main:Asset",
    "#demo-trading:Trading.Trade:Margin",
    "#demo-interfaces:Holding:Holding",
)


async def shown(client: Client, network: Network, filters: dict[str, Any], dialect: str = "0.7.5") -> list[Any]:
    asked = everything("ACS_DELTA", filters) | {"includeTopologyEvents": None}
    return events_of(await follow(client, ledger(network, dialect), BEGIN, END, asked))


async def refused(client: Client, network: Network, filters: dict[str, Any], dialect: str = "0.7.5") -> Reply:
    body = {"beginExclusive": BEGIN, "endInclusive": END, "updateFormat": transactions(filters)}
    return await client.updates(ledger(network, dialect), body, limit=5)


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_template_filter_shows_its_template_alone(network: Network, client: Client, dialect: Dialect) -> None:
    node = ledger(network, dialect)
    events = await shown(client, network, only("TemplateFilter", {"templateId": ASSET}), dialect)
    assert {template_of(event) for _, event in events} == {ASSET[1:]}
    truth = node.totals(BEGIN, END).events
    for kind in ("CreatedEvent", "ArchivedEvent", "JsAssignmentEvent", "JsUnassignedEvent"):
        assert sum(1 for name, _ in events if name == kind) == truth[kind, ASSET[1:]]


async def test_an_interface_filter_shows_all_that_implement_it(network: Network, client: Client) -> None:
    events = await shown(client, network, only("InterfaceFilter", {"interfaceId": HOLDING}))
    assert {template_of(event) for _, event in events} == {ASSET[1:], MARGIN[1:]}
    holding = f"{package_id('demo-interfaces', '1.0.0')}:Holding:Holding"
    archived = [event for kind, event in events if kind == "ArchivedEvent"]
    assert all(event["implementedInterfaces"] == [holding] for event in archived)


@pytest.mark.parametrize("dialect", ["0.5", "0.7.5"])
async def test_views_and_blobs_are_shown_if_they_were_asked_for(network: Network, client: Client, dialect: str) -> None:
    asked = {"interfaceId": HOLDING, "includeInterfaceView": True, "includeCreatedEventBlob": True}
    events = await shown(client, network, only("InterfaceFilter", asked), dialect)
    created = [event for kind, event in events if kind == "CreatedEvent"]
    assert all(event["createdEventBlob"] for event in created)
    for event in created:
        [view] = event["interfaceViews"]
        assert view["viewStatus"]["code"] == 0
        assert view["viewValue"]["owner"] in event["signatories"]
        assert ("implementationPackageId" in view) == (dialect != "0.5")
    plain = await shown(client, network, only("InterfaceFilter", {"interfaceId": HOLDING}), dialect)
    assert not any(event["interfaceViews"] or event["createdEventBlob"] for kind, event in plain if kind[0] == "C")


async def test_each_filter_widens_what_is_shown_and_empty_ones_do_not_count(network: Network, client: Client) -> None:
    whole = await shown(client, network, EVERYBODY)
    empty: dict[str, Any] = {"identifierFilter": {"Empty": {}}}
    wildcard = {"identifierFilter": {"WildcardFilter": {"value": {"includeCreatedEventBlob": False}}}}
    margin = {"identifierFilter": {"TemplateFilter": {"value": {"templateId": MARGIN}}}}
    for filters in ([empty], [wildcard], [margin, wildcard], []):
        assert await shown(client, network, {"filtersForAnyParty": {"cumulative": filters}}) == whole
    some = await shown(client, network, {"filtersForAnyParty": {"cumulative": [empty, margin]}})
    assert {template_of(event) for _, event in some} == {MARGIN[1:]}


async def test_parties_may_have_filters_each_of_their_own(network: Network, client: Client) -> None:
    alice, bob, _ = ledger(network).participant.parties
    filters = {
        "filtersByParty": only("TemplateFilter", {"templateId": ASSET}, [alice])["filtersByParty"]
        | only("TemplateFilter", {"templateId": MARGIN}, [bob])["filtersByParty"]
    }
    events = [event for _, event in await shown(client, network, filters)]
    assert {template_of(event) for event in events if alice in event["witnessParties"]} == {ASSET[1:]}
    assert {template_of(event) for event in events if bob in event["witnessParties"]} == {MARGIN[1:]}
    assert {party for event in events for party in event["witnessParties"]} == {alice, bob}


@pytest.mark.parametrize(
    ("dialect", "status"), [("document", 200), ("0.5", 200), ("0.6", 400), ("0.7.5", 400), ("0.9", 400)]
)
async def test_since_canton_3_5_a_filter_names_no_package_id(
    network: Network, client: Client, dialect: str, status: int
) -> None:
    template = f"{package_id('demo-pkg', APP_PACKAGES['demo-pkg'])}:Main:Asset"
    answer = await refused(client, network, only("TemplateFilter", {"templateId": template}), dialect)
    assert answer.status == status
    assert status == 200 or answer.json["code"] == "INVALID_FIELD"


async def test_the_document_names_a_template_without_a_hash(network: Network, client: Client) -> None:
    named = only("TemplateFilter", {"templateId": ASSET[1:]})
    assert await shown(client, network, named, "document") != []
    assert (await refused(client, network, named)).status == 400


@pytest.mark.parametrize(("dialect", "status"), [("document", 400), ("0.5", 500), ("0.7.5", 500), ("0.9", 400)])
async def test_a_malformed_name_is_the_callers_error_since_canton_3_6(
    network: Network, client: Client, dialect: str, status: int
) -> None:
    answer = await refused(client, network, only("TemplateFilter", {"templateId": "Asset"}), dialect)
    assert (answer.status, answer.media) == (status, "application/json")


@pytest.mark.parametrize(
    ("kind", "of", "code"),
    [
        ("TemplateFilter", {"templateId": "#other:Main:Asset"}, "PACKAGE_NAMES_NOT_FOUND"),
        ("TemplateFilter", {"templateId": "#demo-pkg:Main:Other"}, "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"),
        ("InterfaceFilter", {"interfaceId": ASSET}, "NO_INTERFACES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"),
    ],
)
async def test_an_unknown_name_is_not_found(
    network: Network, client: Client, kind: str, of: dict[str, Any], code: str
) -> None:
    answer = await refused(client, network, only(kind, of))
    assert (answer.status, answer.json["code"], answer.json["grpcCodeValue"]) == (404, code, 5)


async def test_of_the_networks_own_packages_there_is_nothing_here(network: Network, client: Client) -> None:
    assert await shown(client, network, only("TemplateFilter", {"templateId": "#splice-amulet:Splice.Amulet:A"})) == []


@pytest.mark.parametrize(
    "identifier",
    [None, {}, {"Other": {}}, {"TemplateFilter": {}}, {"TemplateFilter": {"value": {}}}, {"Empty": {}, "Other": {}}],
)
async def test_an_identifier_filter_is_one_of_four(network: Network, client: Client, identifier: Any) -> None:
    filters = {"filtersForAnyParty": {"cumulative": [{"identifierFilter": identifier}]}}
    answer = await refused(client, network, filters)
    assert (answer.status, answer.media) == (400, "text/plain")
