"""bootstrapping: the hash and the length of each part of what a new node needs to join."""

from hashlib import sha256
from typing import Any

import pytest

from exporter.collectors.bootstrapping import bootstrapping
from tests.conftest import Lines
from tests.nodes import NO_ROUTE, TestNode

PREFIX = "global-domain"
OPTIONS: dict[str, Any] = {"prefixes": [PREFIX]}
PATH = "/v0/synchronizer-bootstrapping-transactions/"
ROUTE = PATH + "{prefix}"
TEXTS = {"domain_parameters": "Cg==", "sequencer_domain_state": "CgI=", "mediator_domain_state": ""}
NONE = {"error": "No synchronizer found with prefix other"}


def shown(prefix: str, texts: dict[str, str]) -> list[str]:
    """Return the lines of a synchronizer's parts, the hashes first."""
    name, of = "canton_synchronizer_bootstrapping", f'synchronizer_prefix="{prefix}"'
    hashed = {part: sha256(text.encode()).hexdigest() for part, text in texts.items()}
    hashes = [f'{name}_info{{part="{part}",sha256="{hashed[part]}",{of}}} 1.0' for part in texts]
    sizes = [f'{name}_size_bytes{{part="{part}",{of}}} {float(len(text.encode()))}' for part, text in texts.items()]
    return [*hashes, *sizes]


def answer_well(node: TestNode) -> None:
    node.get(PATH + PREFIX, answers=TEXTS)


async def test_says_the_hash_and_the_length_of_each_part(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    said = await lines(bootstrapping, **OPTIONS)
    assert said == shown(PREFIX, TEXTS)
    assert said[2:4] == [
        'canton_synchronizer_bootstrapping_info{part="mediator_domain_state",'
        'sha256="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",'
        'synchronizer_prefix="global-domain"} 1.0',
        'canton_synchronizer_bootstrapping_size_bytes{part="domain_parameters",'
        'synchronizer_prefix="global-domain"} 4.0',
    ]


async def test_a_length_is_in_bytes(node: TestNode, lines: Lines) -> None:
    texts = TEXTS | {"domain_parameters": "\u00e4\u20ac"}
    node.get(PATH + PREFIX, answers=texts)
    said = await lines(bootstrapping, **OPTIONS)
    assert said == shown(PREFIX, texts)
    assert said[3].endswith(" 5.0")


async def test_what_changes_has_another_hash(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    before = await lines(bootstrapping, **OPTIONS)
    node.get(PATH + PREFIX, answers=TEXTS | {"domain_parameters": "Cw=="})
    after = await lines(bootstrapping, **OPTIONS)
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, True, True, True, True]


async def test_a_prefix_nobody_knows_shows_nothing_and_says_so(node: TestNode, lines: Lines) -> None:
    node.get(PATH + "other", status=404, answers=NONE)
    assert await lines(bootstrapping, prefixes=["other"]) == []
    assert [str(remark) for remark in lines.run.remarks] == ["there is no synchronizer of the prefix other"]


async def test_one_unknown_prefix_hides_no_other_and_each_is_asked_for_once(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.get(PATH + "other", status=404, answers=NONE)
    assert await lines(bootstrapping, prefixes=["other", PREFIX, "other", PREFIX]) == shown(PREFIX, TEXTS)
    assert [str(remark) for remark in lines.run.remarks] == ["there is no synchronizer of the prefix other"]
    assert len(node.requests) == 2


async def test_a_prefix_may_have_any_characters(node: TestNode, lines: Lines) -> None:
    node.get(PATH + "a%2Fb%3A%3A12", answers=TEXTS)
    assert await lines(bootstrapping, prefixes=["a/b::12"]) == shown("a/b::12", TEXTS)


@pytest.mark.parametrize("answer", [{"answers": NO_ROUTE}, {"body": b"Not Found"}], ids=["json", "text"])
async def test_a_release_without_the_operation_is_unsupported(
    node: TestNode, lines: Lines, answer: dict[str, Any]
) -> None:
    node.get(PATH + PREFIX, status=404, **answer)
    [line] = await lines(bootstrapping, **OPTIONS)
    assert line.startswith(f"unsupported: GET {ROUTE}: 404: ")


@pytest.mark.parametrize("part", TEXTS)
@pytest.mark.parametrize("value", [None, 1, {}], ids=str)
async def test_a_part_that_is_no_text_is_malformed(node: TestNode, lines: Lines, part: str, value: Any) -> None:
    node.get(PATH + PREFIX, answers={**TEXTS, part: value})
    [line] = await lines(bootstrapping, **OPTIONS)
    assert line.startswith(f"malformed: GET {ROUTE}: not the documented answer: ")


async def test_a_part_that_is_absent_is_malformed(node: TestNode, lines: Lines) -> None:
    node.get(PATH + PREFIX, answers={"domain_parameters": "Cg=="})
    [line] = await lines(bootstrapping, **OPTIONS)
    assert line.startswith(f"malformed: GET {ROUTE}: not the documented answer: ")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({}, "prefixes"),
        ({"prefixes": []}, "needs at least one entry"),
        ({"prefixes": [""]}, "must not be empty"),
        ({"prefixes": PREFIX}, "prefixes"),
    ],
)
async def test_refuses_what_names_no_prefix(node: TestNode, lines: Lines, options: dict[str, Any], fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        await lines(bootstrapping, **options)
