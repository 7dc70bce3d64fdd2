"""ans_entries: whether parties have a name, and when it expires, told by a validator's proxy or by a scan."""

from typing import Any

import pytest

from exporter.collectors.ans_entries import ans_entries
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

ALICE, DSO = "alice::12", "DSO::12"
OPTIONS: dict[str, Any] = {"parties": [ALICE]}
BY_PARTY = "/v0/ans-entries/by-party/"
PROXIED = "/v0/scan-proxy/ans-entries/by-party/"
NONE = {"error": "No ans entry found for party: alice::12"}
SHOWN = [
    'canton_ans_entry_found{party="alice::12"} 1.0',
    'canton_ans_entry_expiry_timestamp_seconds{name="alice.unverified.cns",party="alice::12"} 1.7952228e+09',
]


def entry(**fields: Any) -> dict[str, Any]:
    said = {
        "contract_id": "00an",
        "user": ALICE,
        "name": "alice.unverified.cns",
        "url": "",
        "description": "",
        "expires_at": "2026-11-21T01:00:00Z",
    }
    return {"entry": said | fields}


def path(party: str, begin: str = BY_PARTY) -> str:
    return begin + party.replace(":", "%3A")


def answer_well(node: TestNode) -> None:
    node.get(path(ALICE), answers=entry())


async def test_says_when_a_name_expires(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await lines(ans_entries, **OPTIONS) == SHOWN


async def test_asks_a_validator_by_the_path_of_its_proxy(node: TestNode, lines: Lines) -> None:
    node.get(path(ALICE, PROXIED), answers=entry())
    assert await lines(ans_entries, **OPTIONS, kind="validator") == SHOWN


@pytest.mark.parametrize("kind", ["scan", "validator"])
async def test_a_party_without_a_name_is_not_found(node: TestNode, lines: Lines, kind: str) -> None:
    node.get(path(ALICE, PROXIED if kind == "validator" else BY_PARTY), status=404, answers=NONE)
    assert await lines(ans_entries, **OPTIONS, kind=kind) == ['canton_ans_entry_found{party="alice::12"} 0.0']


async def test_a_name_of_the_network_itself_never_expires(node: TestNode, lines: Lines) -> None:
    said = entry(contract_id=None, user=DSO, name="dso.cns", expires_at=None)
    for answer in (said, {"entry": {"user": DSO, "name": "dso.cns", "url": "", "description": ""}}):
        node.get(path(DSO), answers=answer)
        assert await lines(ans_entries, parties=[DSO]) == ['canton_ans_entry_found{party="DSO::12"} 1.0']


async def test_parties_are_shown_in_the_order_they_are_listed_and_asked_of_once(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.get(path("bob::12"), status=404, answers=NONE)
    shown = await lines(ans_entries, parties=["bob::12", ALICE, "bob::12", ALICE])
    assert shown == ['canton_ans_entry_found{party="bob::12"} 0.0', *SHOWN]
    assert len(node.requests) == 2


async def test_a_party_may_have_any_characters(node: TestNode, lines: Lines) -> None:
    node.get(BY_PARTY + "a%2F..%2Fb%3Fc%3A%3A12", status=404, answers=NONE)
    shown = await lines(ans_entries, parties=["a/../b?c::12"])
    assert shown == ['canton_ans_entry_found{party="a/../b?c::12"} 0.0']


LISTED = "/v0/ans-entries?name_prefix={}&page_size=1000"
LISTED_BY_PROXY = "/v0/scan-proxy/ans-entries?name_prefix={}&page_size=1000"


def tell_listed(node: TestNode, begin: str, *entries: Any, path: str = LISTED) -> None:
    whole = path.format(begin) if begin else path.replace("name_prefix={}&", "")
    node.get(whole, answers={"entries": entries})


def expiry(name: str, seconds: str, party: str = ALICE) -> str:
    return f'canton_ans_entry_expiry_timestamp_seconds{{name="{name}",party="{party}"}} {seconds}'


@pytest.mark.parametrize("kind", ["scan", "validator"])
async def test_shows_every_name_of_a_party_that_begins_as_was_said(node: TestNode, lines: Lines, kind: str) -> None:
    proxied = kind == "validator"
    path = LISTED_BY_PROXY if proxied else LISTED
    node.get(path_of(ALICE, proxied), answers=entry())
    node.get(path_of("bob::12", proxied), status=404, answers=NONE)
    shop = entry(name="shop.unverified.cns", expires_at="2026-11-22T01:00:00Z")["entry"]
    theirs = entry(name="shop-of-others.unverified.cns", user="others::12")["entry"]
    bobs = entry(name="bob.unverified.cns", user="bob::12")["entry"]
    tell_listed(node, "shop", shop, theirs, path=path)
    tell_listed(node, "", entry()["entry"], bobs, shop, path=path)
    options: dict[str, Any] = {"parties": [ALICE, "bob::12"], "name_prefixes": ["shop", "", "shop"]}
    assert await lines(ans_entries, **options, kind=kind) == [
        'canton_ans_entry_found{party="alice::12"} 1.0',
        'canton_ans_entry_found{party="bob::12"} 1.0',
        expiry("alice.unverified.cns", "1.7952228e+09"),
        expiry("shop.unverified.cns", "1.7953092e+09"),
        expiry("bob.unverified.cns", "1.7952228e+09", "bob::12"),
    ]
    assert len(node.requests) == 4


def path_of(party: str, proxied: bool) -> str:
    return path(party, PROXIED if proxied else BY_PARTY)


async def test_a_name_that_was_renewed_between_two_answers_is_shown_once(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    tell_listed(node, "alice", entry(expires_at="2026-11-22T01:00:00Z")["entry"])
    assert await lines(ans_entries, **OPTIONS, name_prefixes=["alice"]) == [
        SHOWN[0],
        expiry("alice.unverified.cns", "1.7953092e+09"),
    ]


async def test_says_when_there_may_be_more_names_than_were_listed(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    tell_listed(node, "a", *(entry(name=f"a{number}", user="x::12")["entry"] for number in range(1_000)))
    assert await lines(ans_entries, **OPTIONS, name_prefixes=["a"]) == SHOWN
    assert [str(remark) for remark in lines.run.remarks] == [
        "more names begin with 'a' than a node lists; write longer name_prefixes"
    ]


@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_node_that_lists_no_names_shows_the_first_of_each_party(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    answer_well(node)
    for begin in ("a", "b"):
        node.get(LISTED.format(begin), status=404, **answer)
    node.lenient = True
    assert await lines(ans_entries, **OPTIONS, name_prefixes=["a", "b"]) == SHOWN
    assert [str(remark) for remark in lines.run.remarks] == [
        "the node does not list names, so only the first of each party is seen"
    ]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"entries": None},
        {"entries": [{"name": "a.cns"}]},
        {"entries": [{"user": ALICE, "name": None}]},
        {"entries": [{"user": ALICE, "name": "a", "expires_at": "soon"}]},
        {"entries": [{"user": "x", "name": "a"}] * 1_001},
    ],
    ids=lambda value: str(value)[:80],
)
async def test_a_list_that_makes_no_sense_is_malformed(node: TestNode, lines: Lines, answer: Any) -> None:
    answer_well(node)
    node.get(LISTED.format("a"), answers=answer)
    [line] = await lines(ans_entries, **OPTIONS, name_prefixes=["a"])
    assert line.startswith("malformed: GET /v0/ans-entries: not the documented answer: ")


async def test_one_party_that_fails_fails_the_run(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.get(path("bob::12"), status=500, answers={"error": "An unexpected error occurred."})
    node.lenient = True
    [line] = await lines(ans_entries, parties=[ALICE, "bob::12"])
    assert line == f"refused: GET {BY_PARTY}{{party}}: 500: An unexpected error occurred."


@pytest.mark.parametrize("kind", ["scan", "validator"])
@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_node_without_the_operation_is_unsupported(
    node: TestNode, lines: Lines, kind: str, answer: dict[str, Any]
) -> None:
    node.get(path(ALICE, PROXIED if kind == "validator" else BY_PARTY), status=404, **answer)
    [line] = await lines(ans_entries, **OPTIONS, kind=kind)
    assert line.startswith("unsupported: GET /v0/")


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"entry": None},
        entry(name=None),
        entry(name="x" * 2_101),
        entry(expires_at="soon"),
        entry(expires_at="2026-11-21T01:00:00"),
        entry(expires_at=1_795_222_800),
    ],
    ids=lambda value: str(value)[:80],
)
async def test_an_entry_that_makes_no_sense_is_malformed(node: TestNode, lines: Lines, answer: Any) -> None:
    node.get(path(ALICE), answers=answer)
    [line] = await lines(ans_entries, **OPTIONS)
    assert line.startswith(f"malformed: GET {BY_PARTY}{{party}}: not the documented answer: ")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({}, "parties"),
        ({"parties": []}, "needs at least one entry"),
        ({"parties": [""]}, "must not be empty"),
        ({"parties": ["x" * 401]}, "at most 400 characters"),
        ({"parties": [ALICE], "names": ["alice.cns"]}, "names"),
        ({"parties": [ALICE], "name_prefixes": ["x" * 101]}, "at most 100 characters"),
        ({"parties": [ALICE], "name_prefixes": ["x"] * 51}, "must have at most 50 entries"),
    ],
)
async def test_refuses_what_names_no_party(node: TestNode, lines: Lines, options: dict[str, Any], fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(ans_entries, **options)
