"""ledger_info: which participant this is, its release, and what it has vetted."""

from datetime import UTC, datetime
from typing import Any

import pytest

from exporter.collectors.ledger_info import ledger_info
from tests.conftest import NOW, FakeClock, Lines
from tests.nodes import NO_ROUTE, TestNode

VERSION, PARTICIPANT, PACKAGES = "/v2/version", "/v2/parties/participant-id", "/v2/packages"
VETTING, CONNECTED = "/v2/package-vetting/list", "/v2/state/connected-synchronizers"
GOT = "/v2/package-vetting"
US, OTHER = "participant::12", "other::12"
ASKED: dict[str, Any] = {
    "pageSize": 0,
    "pageToken": "",
    "packageMetadataFilter": {"packageNamePrefixes": ["splice-"]},
    "topologyStateFilter": {"participantIds": [US]},
}
KNOWN = [
    f'canton_ledger_info{{participant="{US}",version="3.5.14"}} 1.0',
    "canton_ledger_checkpoint_max_delay_seconds 75.0",
    "canton_ledger_packages 2.0",
]
INFO = [*KNOWN, "canton_ledger_vetting_readable 1.0"]
UNREAD = [*KNOWN, "canton_ledger_vetting_readable 0.0"]
NOT_THERE: dict[str, Any] = {"status": 404, "body": b"The requested resource could not be found."}
CANNOT = "the vetted packages cannot be read"


def delay(**parts: Any) -> dict[str, Any]:
    """Return the features of a node that says how old a checkpoint may get."""
    return {
        "userManagement": {"supported": True, "maxRightsPerUser": 1000},
        "offsetCheckpoint": {"maxOffsetCheckpointEmissionDelay": {**parts, "unknownFields": {"fields": {}}}},
    }


def package(version: str | None = "0.1.23", name: str | None = "splice-amulet", **valid: str | None) -> dict[str, Any]:
    return {"packageId": f"9f{version}", "packageName": name, "packageVersion": version, **valid}


def vetting(*packages: Any, participant: str = US, synchronizer: str = "global::12") -> dict[str, Any]:
    return {
        "packages": packages,
        "participantId": participant,
        "synchronizerId": synchronizer,
        "topologySerial": 12,
    }


def tell(node: TestNode, *vetted: Any, asked: Any = ASKED, **version: Any) -> None:
    node.get(VERSION, answers=version or {"version": "3.5.14", "features": delay(seconds=75, nanos=0)})
    node.get(PARTICIPANT, answers={"participantId": US})
    node.get(PACKAGES, answers={"packageIds": ["9f9f", "a0a0"]})
    node.post(VETTING, asked, answers={"vettedPackages": vetted, "nextPageToken": ""})


def at(seconds: float) -> str:
    """Return the time that many seconds from now."""
    return datetime.fromtimestamp(NOW + seconds, UTC).isoformat().replace("+00:00", "Z")


def vetted(lines: list[str]) -> list[str]:
    return [line for line in lines if "vetted" in line]


def answer_well(node: TestNode) -> None:
    tell(node, vetting(package(), package("0.1.9", "splice-wallet")), vetting(package(), synchronizer="app::34"))


async def test_says_who_it_is_and_what_is_vetted_where(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    info = "canton_ledger_vetted_package_info"
    assert await lines(ledger_info) == [
        *INFO,
        f'{info}{{package="splice-amulet",synchronizer="global::12",version="0.1.23"}} 1.0',
        f'{info}{{package="splice-wallet",synchronizer="global::12",version="0.1.9"}} 1.0',
        f'{info}{{package="splice-amulet",synchronizer="app::34",version="0.1.23"}} 1.0',
        'canton_ledger_vetted_packages{synchronizer="global::12"} 2.0',
        'canton_ledger_vetted_packages{synchronizer="app::34"} 1.0',
    ]


async def test_says_until_when_what_is_vetted_stays_valid(node: TestNode, lines: Lines) -> None:
    ends = package("0.1.9", validUntilExclusive=at(86_400))
    over, without = package("0.1.8", validUntilExclusive=at(0)), package("0.1.10", validUntilExclusive=None)
    tell(node, vetting(ends, over, without))
    assert [line for line in await lines(ledger_info) if "until" in line] == [
        "canton_ledger_vetted_package_valid_until_timestamp_seconds"
        '{package="splice-amulet",synchronizer="global::12",version="0.1.9"} 1.7953264e+09'
    ]


async def test_a_node_that_has_nothing_but_a_version_tells_that(node: TestNode, lines: Lines) -> None:
    node.get(VERSION, answers={"version": "3.4.1"})
    for path in (PARTICIPANT, PACKAGES):
        node.get(path, status=404, answers=NO_ROUTE)
    assert await lines(ledger_info) == [
        'canton_ledger_info{participant="",version="3.4.1"} 1.0',
        "canton_ledger_vetting_readable 0.0",
    ]


async def test_a_node_before_canton_3_4_12_is_asked_by_a_get_with_a_body(node: TestNode, lines: Lines) -> None:
    tell(node)
    node.post(VETTING, ASKED, **NOT_THERE)
    node.get(GOT, ASKED, answers={"vettedPackages": [vetting(package())], "nextPageToken": "b"})
    more = {"vettedPackages": [vetting(package("0.1.24"))], "nextPageToken": ""}
    node.get(GOT, {**ASKED, "pageToken": "b"}, answers=more)
    assert await lines(ledger_info) == [
        *INFO,
        'canton_ledger_vetted_package_info{package="splice-amulet",synchronizer="global::12",version="0.1.23"} 1.0',
        'canton_ledger_vetted_package_info{package="splice-amulet",synchronizer="global::12",version="0.1.24"} 1.0',
        'canton_ledger_vetted_packages{synchronizer="global::12"} 2.0',
    ]
    assert lines.run.remarks == ()


async def test_a_node_that_tells_nothing_vetted_by_either_way_says_all_the_rest(node: TestNode, lines: Lines) -> None:
    tell(node)
    node.post(VETTING, ASKED, **NOT_THERE)
    node.get(GOT, ASKED, status=405, body=b"")
    assert await lines(ledger_info) == UNREAD
    said = f"POST {VETTING}: 404: The requested resource could not be found.; GET {GOT}: 405"
    assert list(map(str, lines.run.remarks)) == [f"{CANNOT}: {said}"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"status": 401, "body": b"Unauthorized"}, "401: Unauthorized"),
        ({"status": 403, "answers": {"code": "NA", "cause": "A security error"}}, "403 NA: A security error"),
        ({"status": 400, "answers": {"code": "INVALID_ARGUMENT", "cause": "no"}}, "400 INVALID_ARGUMENT: no"),
        ({"status": 400, "body": b"<html>Bad Request</html>"}, "400 and an HTML page: is this the API's address?"),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_vetting_alone_that_is_refused_leaves_all_the_rest(
    node: TestNode, lines: Lines, answer: dict[str, Any], said: str, method: str
) -> None:
    tell(node)
    if method == "POST":
        node.post(VETTING, ASKED, **answer)
    else:
        node.post(VETTING, ASKED, **NOT_THERE)
        node.get(GOT, ASKED, **answer)
    assert await lines(ledger_info) == UNREAD
    [remark] = lines.run.remarks
    assert remark == (CANNOT, f"{method} {VETTING if method == 'POST' else GOT}: {said}")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"status": 500, "answers": {"code": "LEDGER_API_INTERNAL_ERROR"}}, "refused"),
        ({"status": 503, "body": b"no healthy upstream"}, "refused"),
        ({"status": 504, "body": b"<html>Gateway Timeout</html>"}, "refused"),
        ({"status": 429, "body": b"slower"}, "limited"),
        ({"answers": {"vettedPackages": "many"}}, "malformed"),
    ],
    ids=str,
)
async def test_what_may_pass_or_makes_no_sense_fails_the_run(
    node: TestNode, lines: Lines, answer: dict[str, Any], reason: str
) -> None:
    tell(node)
    node.post(VETTING, ASKED, **NOT_THERE)
    node.get(GOT, ASKED, **answer)
    [line] = await lines(ledger_info, within=0.9)
    assert line.startswith(f"{reason}: GET {GOT}: ")


async def test_pages_that_end_in_the_middle_are_no_lack(node: TestNode, lines: Lines) -> None:
    tell(node)
    node.post(VETTING, ASKED, answers={"vettedPackages": [vetting(package())], "nextPageToken": "b"})
    node.post(VETTING, {**ASKED, "pageToken": "b"}, **NOT_THERE)
    [line] = await lines(ledger_info)
    assert line.endswith("in the middle of the pages")


@pytest.mark.parametrize(
    ("features", "seconds"),
    [
        (delay(seconds=10, nanos=500_000_000), ["10.5"]),
        (delay(seconds=3), ["3.0"]),
        (delay(nanos=250_000_000), ["0.25"]),
        (delay(), ["0.0"]),
        ({"offsetCheckpoint": {"maxOffsetCheckpointEmissionDelay": None}}, []),
        ({"offsetCheckpoint": {}}, []),
        ({"experimental": {}}, []),
        (None, []),
    ],
    ids=str,
)
async def test_says_how_old_a_checkpoint_may_get_where_the_node_does(
    node: TestNode, lines: Lines, features: Any, seconds: list[str]
) -> None:
    tell(node, vetting(package()), version="3.5.14", features=features)
    said = [line.split()[1] for line in await lines(ledger_info) if "max_delay" in line]
    assert said == seconds


async def test_reads_what_the_specification_allows_a_node_to_leave_out(node: TestNode, lines: Lines) -> None:
    tell(node, vetting(package(name=None), package(None), {"packageId": "9f9f"}), features=None)
    node.get(PACKAGES, answers={})
    assert await lines(ledger_info) == [
        f'canton_ledger_info{{participant="{US}",version=""}} 1.0',
        "canton_ledger_packages 0.0",
        "canton_ledger_vetting_readable 1.0",
        'canton_ledger_vetted_package_info{package="splice-amulet",synchronizer="global::12",version=""} 1.0',
        'canton_ledger_vetted_packages{synchronizer="global::12"} 1.0',
    ]


def on(*synchronizers: str) -> dict[str, Any]:
    """Return the answer of a participant that is connected to these."""
    parts = {"synchronizerAlias": "global", "permission": "PARTICIPANT_PERMISSION_SUBMISSION"}
    return {"connectedSynchronizers": [{**parts, "synchronizerId": synchronizer} for synchronizer in synchronizers]}


@pytest.mark.parametrize("answer", [{}, {"vettedPackages": []}, {"vettedPackages": [vetting(participant=OTHER)]}])
async def test_nothing_vetted_is_zero_on_each_connected_synchronizer(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    tell(node)
    node.post(VETTING, ASKED, answers=answer)
    node.get(CONNECTED, answers=on("global::12", "app::34", "app::34"))
    assert await lines(ledger_info) == [
        *INFO,
        'canton_ledger_vetted_packages{synchronizer="global::12"} 0.0',
        'canton_ledger_vetted_packages{synchronizer="app::34"} 0.0',
    ]


async def test_before_canton_3_4_12_a_vetting_may_leave_out_that_it_has_no_packages(
    node: TestNode, lines: Lines
) -> None:
    tell(node)
    bare = {key: value for key, value in vetting().items() if key != "packages"}
    node.post(VETTING, ASKED, answers={"vettedPackages": [bare]})
    assert (await lines(ledger_info))[-1] == 'canton_ledger_vetted_packages{synchronizer="global::12"} 0.0'


@pytest.mark.parametrize(
    "answer",
    [
        {"answers": {}},
        {"answers": on()},
        {"answers": {"connectedSynchronizers": "many"}},
        {"status": 404, "answers": NO_ROUTE},
        {"status": 403, "answers": {"code": "NA", "cause": "A security-sensitive error"}},
        {"status": 500, "body": b""},
    ],
    ids=str,
)
async def test_nothing_vetted_who_knows_where_is_no_series(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    tell(node)
    node.get(CONNECTED, **answer)
    assert await lines(ledger_info) == INFO


async def test_no_package_vetted_on_a_synchronizer_is_zero_there(node: TestNode, lines: Lines) -> None:
    tell(node, vetting(), vetting(package(validUntilExclusive=at(-1)), synchronizer="app::34"))
    assert vetted(await lines(ledger_info)) == [
        'canton_ledger_vetted_packages{synchronizer="global::12"} 0.0',
        'canton_ledger_vetted_packages{synchronizer="app::34"} 0.0',
    ]


async def test_reads_what_is_vetted_page_after_page(node: TestNode, lines: Lines) -> None:
    tell(node)
    for number, token in enumerate(["b", "c", None]):
        asked = {**ASKED, "pageToken": "_bc"[number].strip("_")}
        page = {"vettedPackages": [vetting(package(f"0.1.{number}"))], "nextPageToken": token}
        node.post(VETTING, asked, answers=page)
    assert vetted(await lines(ledger_info))[-1] == 'canton_ledger_vetted_packages{synchronizer="global::12"} 3.0'


async def test_what_others_vetted_is_passed_over(node: TestNode, lines: Lines) -> None:
    tell(node, vetting(package("9.9"), participant=OTHER), vetting(package()))
    assert vetted(await lines(ledger_info)) == [
        'canton_ledger_vetted_package_info{package="splice-amulet",synchronizer="global::12",version="0.1.23"} 1.0',
        'canton_ledger_vetted_packages{synchronizer="global::12"} 1.0',
    ]


async def test_a_version_of_two_packages_is_one(node: TestNode, lines: Lines) -> None:
    tell(node, vetting(package(), {**package(), "packageId": "a0a0"}), vetting(package()))
    assert len(vetted(await lines(ledger_info))) == 2


async def test_a_package_is_vetted_from_the_first_moment_on_and_until_the_last(
    node: TestNode, lines: Lines, clock: FakeClock
) -> None:
    async def valid() -> list[str]:
        said = vetted(await lines(ledger_info))
        return [line.partition('version="')[2].partition('"')[0] for line in said if "_info" in line]

    begun = package("begun", validFromInclusive=at(60), validUntilExclusive=None)
    ended = package("ended", validUntilExclusive=at(60))
    between = package("between", validFromInclusive=at(30), validUntilExclusive=at(90))
    tell(node, vetting(begun, ended, between))
    assert await valid() == ["ended"]
    clock.advance(59)
    assert await valid() == ["ended", "between"]
    clock.advance(1)
    assert await valid() == ["begun", "between"]
    clock.advance(30)
    assert await valid() == ["begun"]


async def test_looks_at_the_packages_it_is_told(node: TestNode, lines: Lines) -> None:
    asked = {**ASKED, "packageMetadataFilter": {"packageNamePrefixes": ["splice-amulet", "my-"]}}
    tell(node, vetting(package("1.0", "my-app")), asked=asked)
    assert len(vetted(await lines(ledger_info, package_prefixes=["splice-amulet", "my-"]))) == 2


async def test_more_versions_than_anybody_vets_are_too_large(
    node: TestNode, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporter.collectors.ledger_info.MOST_VETTED", 2)
    tell(node, vetting(*(package(str(number)) for number in range(3))))
    fault = "more than 2 package versions; name longer package_prefixes"
    assert await lines(ledger_info) == [f"too_large: POST {VETTING}: {fault}"]


@pytest.mark.parametrize("prefixes", [[], [""]])
async def test_refuses_to_look_at_every_package(lines: Lines, node: TestNode, prefixes: list[str]) -> None:
    with pytest.raises(AssertionError, match="package_prefixes"):
        await lines(ledger_info, package_prefixes=prefixes)
