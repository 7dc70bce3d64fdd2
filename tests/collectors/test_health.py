"""health: whether a node is alive and ready, its clock and its certificate."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import formatdate
from itertools import permutations

import pytest
import trustme
from aiohttp import web

from exporter.collectors.health import health
from exporter.node.auth import StaticToken
from tests.conftest import NOW, Connect, FakeClock, Lines
from tests.nodes import RawNode, TestNode, server_tls

LIVEZ, READYZ, VERSION = "/livez", "/readyz", "/v2/version"
NO_ROUTE = {"error": "The requested resource could not be found: /api/validator/livez"}
LOGIN = b"<!DOCTYPE html><title>Sign in</title>"


def answer_well(node: TestNode) -> None:
    node.get("/livez", body=b"")
    node.get("/readyz", body=b"readyz check passed")
    node.get("/v2/version", answers={"version": "3.5.14"})


def lack(node: TestNode, *paths: str) -> None:
    for path in paths:
        node.get(path, status=404, body=b"404 page not found")


async def states(lines: Lines, kind: str = "ledger") -> dict[str, str]:
    """Return what a run said of up and ready, each as what stands behind `canton_`."""
    said = [line.removeprefix("canton_") for line in await lines(health, kind=kind)]
    return {line.split()[0]: line.split()[1] for line in said if not line.startswith("target")}


def down(cause: str) -> dict[str, str]:
    return {"up": "0.0", f'down_info{{cause="{cause}"}}': "1.0"}


UP = {"up": "1.0"}
READY, NOT_READY = {"ready": "1.0"}, {"ready": "0.0"}


# What says that a node is up


async def test_a_node_that_answers_is_up_and_ready(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await states(lines) == UP | READY


async def test_health_is_asked_for_in_any_media_type(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(health)
    assert {request.path: request.headers["Accept"] for request in node.requests} == {
        "/livez": "*/*",
        "/readyz": "*/*",
        "/v2/version": "*/*",
    }


@pytest.mark.parametrize("status", [200, 204])
async def test_an_empty_answer_is_a_good_one(node: TestNode, lines: Lines, status: int) -> None:
    node.get("/livez", status=status, body=b"")
    node.get("/readyz", status=status, body=b"")
    node.get("/v2/version", answers={"version": "3.5.14"})
    assert await states(lines) == UP | READY


@pytest.mark.parametrize("status", [404, 405])
async def test_a_node_without_livez_is_up_if_it_is_ready(node: TestNode, lines: Lines, status: int) -> None:
    answer_well(node)
    node.get("/livez", status=status, body=b"")
    assert await states(lines) == UP | READY


async def test_a_readiness_that_hangs_does_not_hide_the_version(lines: Lines, connect: Connect) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/readyz":
            await asyncio.sleep(3600)
        return web.json_response({"version": "3.5.14"}, status=404 if request.path == "/livez" else 200)

    node = TestNode()
    node._answer = answer  # type: ignore[method-assign]
    await node.start()
    lines.kept = connect(node.url)
    assert (await lines(health, within=0.5))[:2] == ["canton_up 1.0", "canton_ready 0.0"]
    await node.stop()


@pytest.mark.parametrize(("kind", "path"), [("ledger", "/v2/version"), ("scan", "/version"), ("validator", "/version")])
async def test_a_node_that_has_neither_is_up_if_it_names_its_version(
    node: TestNode, lines: Lines, kind: str, path: str
) -> None:
    lack(node, "/livez", "/readyz")
    node.get(path, answers={"version": "0.7.4"})
    mark_well(node, kind)
    assert await states(lines, kind) == UP


def mark_well(node: TestNode, kind: str) -> None:
    """Let a node have what only nodes of its kind have."""
    match kind:
        case "ledger":
            node.get("/v2/version", answers={"version": "3.5.14"})
        case "scan":
            node.get("/v0/feature-support", answers={})
        case "validator":
            node.get("/v0/validator-user", answers={"party_id": "v::1220", "user_name": "u", "featured": False})


async def test_a_node_that_is_not_ready_and_has_no_livez_is_up_if_it_names_its_version(
    node: TestNode, lines: Lines
) -> None:
    lack(node, "/livez")
    node.get("/readyz", status=503, body=b"")
    node.get("/v2/version", answers={"version": "3.4.12"})
    assert await states(lines) == UP | NOT_READY


async def test_not_being_ready_alone_is_no_verdict_on_being_up(node: TestNode, lines: Lines) -> None:
    lack(node, "/livez", "/v2/version")
    node.get("/readyz", status=503, body=b"")
    assert await states(lines) == NOT_READY


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (404, {"error": "No ANS entry found for party: health"}),
        (200, {"entry": {"name": "a.cns", "user": "health", "url": "", "description": ""}}),
    ],
)
async def test_a_validator_to_the_letter_of_the_document_is_up_if_it_answers_for_names(
    node: TestNode, lines: Lines, status: int, answer: object
) -> None:
    for path in ("/livez", "/readyz", "/version", "/v2/version", "/v0/feature-support", "/v0/validator-user"):
        node.get(path, status=404, answers={"error": "not found"})
    node.get("/v0/scan-proxy/ans-entries/by-party/health", status=status, answers=answer)
    assert await states(lines, "validator") == UP


async def test_a_validator_that_wants_a_token_for_names_gives_no_value(node: TestNode, lines: Lines) -> None:
    lack(node, "/livez", "/readyz", "/version")
    node.get("/v0/scan-proxy/ans-entries/by-party/health", status=401, body=b"")
    route = "/v0/scan-proxy/ans-entries/by-party/{party}"
    assert await lines(health, kind="validator") == [f"unauthorized: GET {route}: 401"]


# What says that it is down, and why


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 599])
async def test_a_node_that_says_it_is_not_alive_is_down(node: TestNode, lines: Lines, status: int) -> None:
    node.get("/livez", status=status, body=b"")
    node.get("/readyz", status=503, body=b"[-] ledger failed (NOT_SERVING)")
    assert await states(lines) == down("http_5xx") | NOT_READY


async def test_a_gateway_that_reaches_no_node_says_so_in_html(node: TestNode, lines: Lines) -> None:
    node.answer_everything(status=502, body=b"<html>502 Bad Gateway</html>")
    assert await states(lines) == down("http_5xx") | NOT_READY


async def test_a_node_that_nobody_reaches_is_down(node: TestNode, lines: Lines) -> None:
    await node.stop()
    assert await states(lines) == down("connect") | NOT_READY
    assert [request.outcome for request in lines.run.requests] == ["unreachable", "unreachable"]


async def test_a_node_whose_name_does_not_resolve_is_down(lines: Lines, connect: Connect) -> None:
    lines.kept = connect("http://node.invalid")
    assert await states(lines) == down("dns") | NOT_READY


async def test_a_node_whose_certificate_is_not_trusted_is_down(node: TestNode, lines: Lines) -> None:
    await serve(node, trustme.CA().issue_cert("127.0.0.1"))
    node.lenient = True
    assert await states(lines) == down("tls") | NOT_READY


async def test_a_node_that_speaks_something_else_is_down(lines: Lines, connect: Connect) -> None:
    async with RawNode(b"220 smtp.example ESMTP\r\n") as node:
        lines.kept = connect(node.url)
        assert await states(lines) == down("connect") | NOT_READY


async def test_a_node_that_does_not_answer_is_down_before_the_run_is_out_of_time(node: TestNode, lines: Lines) -> None:
    node.silent = True
    said = await lines(health, within=0.2)
    assert said == ["canton_up 0.0", 'canton_down_info{cause="timeout"} 1.0', "canton_ready 0.0"]


@pytest.mark.parametrize("headers", [{"Content-Type": "text/html"}, {"Content-Type": "text/plain"}])
@pytest.mark.parametrize(
    "body",
    [
        LOGIN,
        b"\xef\xbb\xbf" + LOGIN,
        LOGIN.decode().encode("utf-16"),
        b"<!-- a --> <!-- <b> -->\n<html>",
        b"<!-- never ends",
        b"<!---->" * 1000,
        b" <head><title>x",
    ],
)
async def test_an_html_page_is_not_a_node(node: TestNode, lines: Lines, headers: dict[str, str], body: bytes) -> None:
    node.answer_everything(body=body, headers=headers)
    assert await states(lines) == down("html")


async def test_an_empty_answer_is_a_good_one_whatever_it_says_of_itself(node: TestNode, lines: Lines) -> None:
    node.answer_everything(body=b"", headers={"Content-Type": "text/html"})
    assert await states(lines) == UP | READY


async def test_an_html_page_is_not_a_node_however_long_it_is(node: TestNode, lines: Lines) -> None:
    node.answer_everything(body=LOGIN + b" " * 200_000)
    assert await states(lines) == down("html")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_to_a_login_is_not_a_node(node: TestNode, lines: Lines, status: int) -> None:
    node.answer_everything(status=status, body=b"", headers={"Location": "https://login.example/"})
    assert await states(lines) == down("redirect")


@pytest.mark.parametrize("body", [b"404 page not found", b"<html>404 Not Found</html>", b'{"error":"not found"}'])
@pytest.mark.parametrize("kind", ["ledger", "scan"])
async def test_a_node_that_lacks_all_three_is_not_there(node: TestNode, lines: Lines, kind: str, body: bytes) -> None:
    node.answer_everything(status=404, body=body)
    assert await states(lines, kind) == down("not_found")


@pytest.mark.parametrize("body", [b"404 page not found", json.dumps(NO_ROUTE).encode()])
async def test_a_validator_that_lacks_names_too_is_not_there(node: TestNode, lines: Lines, body: bytes) -> None:
    node.answer_everything(status=404, body=body)
    assert await states(lines, "validator") == down("not_found")


@pytest.mark.parametrize("body", [b"", b"{}", b"ok", b'{"version": 3}', b'["version"]', b"[" * 100_000])
async def test_a_version_is_json_that_names_one(node: TestNode, lines: Lines, body: bytes) -> None:
    lack(node, "/livez", "/readyz")
    node.get("/v2/version", body=body)
    assert await states(lines) == down("not_found")


@pytest.mark.parametrize(("status", "cause"), [(503, "http_5xx"), (302, "redirect")])
async def test_the_version_says_why_a_node_without_livez_is_down(
    node: TestNode, lines: Lines, status: int, cause: str
) -> None:
    lack(node, "/livez", "/readyz")
    node.get("/v2/version", status=status, body=b"")
    assert await states(lines) == down(cause)


# What says nothing


@pytest.mark.parametrize("status", [401, 403, 429, 400, 406, 418])
async def test_an_answer_that_says_nothing_of_the_node_gives_no_value(
    node: TestNode, lines: Lines, status: int
) -> None:
    node.get("/livez", status=status, body=b"")
    node.get("/readyz", body=b"")
    reasons = {401: "unauthorized", 403: "unauthorized", 429: "limited"}
    [line] = await lines(health)
    assert line.startswith(f"{reasons.get(status, 'refused')}: GET /livez: {status}")


async def test_an_answer_that_cannot_be_unpacked_gives_no_value(node: TestNode, lines: Lines) -> None:
    node.answer_everything(body=b"no gzip", headers={"Content-Encoding": "gzip"})
    assert await lines(health) == ["malformed: GET /livez: the answer does not match its Content-Encoding"]


async def test_a_version_that_may_not_be_asked_for_gives_no_value(node: TestNode, lines: Lines) -> None:
    lack(node, "/livez", "/readyz")
    node.get("/v2/version", status=401, body=b"")
    assert await lines(health) == ["unauthorized: GET /v2/version: 401"]


@pytest.mark.parametrize(("status", "body"), [(403, b""), (404, b""), (302, b""), (200, LOGIN)])
async def test_a_node_that_does_not_tell_whether_it_is_ready_is_up_all_the_same(
    node: TestNode, lines: Lines, status: int, body: bytes
) -> None:
    answer_well(node)
    node.get("/readyz", status=status, body=body)
    assert await states(lines) == UP


async def test_a_406_names_the_media_type_that_was_asked_for(node: TestNode, lines: Lines) -> None:
    node.get("/livez", status=406, body=b"")
    node.get("/readyz", body=b"")
    [line] = await lines(health)
    assert line == (
        "refused: GET /livez: 406: it has no answer of the type that the request's header Accept asked for, */*"
    )


# Whether it is of the configured kind


MARKS = {"ledger": "/v2/version", "scan": "/v0/feature-support", "validator": "/v0/validator-user"}


@pytest.mark.parametrize(("kind", "other"), list(permutations(MARKS, 2)))
async def test_a_node_of_another_kind_is_a_failure_that_says_what_to_write(
    node: TestNode, lines: Lines, kind: str, other: str
) -> None:
    node.get("/livez", body=b"")
    node.get("/readyz", body=b"")
    lack(node, "/version", *MARKS.values())
    mark_well(node, other)
    node.lenient = True
    assert await lines(health, kind=kind) == [
        f"wrong_kind: the node answers like a {other}: it has GET {MARKS[other]} and not GET {MARKS[kind]}; "
        f"set kind: {other}, or the url of a {kind}"
    ]


@pytest.mark.parametrize("status", [200, 401, 403, 500])
async def test_what_settles_nothing_is_no_proof_of_another_kind(node: TestNode, lines: Lines, status: int) -> None:
    answer_well(node)
    for path in MARKS.values():
        node.get(path, status=status, body=b"{}")
    assert await states(lines) == UP | READY


@pytest.mark.parametrize("status", [401, 403, 200])
async def test_another_kind_is_seen_behind_a_proxy_that_answers_whatever_is_asked(
    node: TestNode, lines: Lines, status: int
) -> None:
    answer_well(node)
    for path in MARKS.values():
        node.get(path, status=status, body=b"{}")
    mark_well(node, "validator")
    [line] = await lines(health)
    assert line.startswith("wrong_kind: the node answers like a validator")


async def test_a_node_of_no_known_kind_is_left_alone(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    lack(node, *MARKS.values())
    assert await states(lines) == UP | READY


@pytest.fixture
def asked(node: TestNode) -> Callable[[], list[str]]:
    """Return what gives the paths that were asked for since it was last called, those of each run left out."""

    def asked() -> list[str]:
        paths, node.requests[:] = [request.path for request in node.requests], []
        return sorted({*paths} - {"/livez", "/readyz"})

    return asked


async def test_the_kind_is_asked_for_again_every_five_minutes(
    node: TestNode, lines: Lines, clock: FakeClock, asked: Callable[[], list[str]]
) -> None:
    node.get("/livez", body=b"")
    node.get("/readyz", body=b"")
    node.get("/v0/feature-support", answers={})
    assert await states(lines, "scan") == UP | READY
    assert asked() == ["/v0/feature-support"]
    clock.advance(299)
    await lines(health)
    assert asked() == []
    clock.advance(2)
    lack(node, "/v0/feature-support", "/v2/version")
    mark_well(node, "validator")
    [line] = await lines(health)
    assert line.startswith("wrong_kind: the node answers like a validator")


async def test_what_nothing_told_is_asked_for_again_after_a_minute(
    node: TestNode, lines: Lines, clock: FakeClock, asked: Callable[[], list[str]]
) -> None:
    answer_well(node)
    for path in MARKS.values():
        node.get(path, status=503, body=b"")
    assert await states(lines) == UP | READY
    assert asked() == sorted(MARKS.values())
    clock.advance(59)
    await lines(health)
    assert asked() == []
    clock.advance(2)
    lack(node, *MARKS.values())
    mark_well(node, "validator")
    [line] = await lines(health)
    assert line.startswith("wrong_kind: the node answers like a validator")


async def test_the_kind_is_asked_for_again_after_the_node_was_down(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(health)
    node.get("/livez", status=503, body=b"")
    await lines(health)
    answer_well(node)
    lack(node, "/v2/version", "/v0/feature-support")
    mark_well(node, "validator")
    [line] = await lines(health)
    assert line.startswith("wrong_kind: the node answers like a validator")


# What else the answer tells


async def test_tells_how_far_the_nodes_clock_is_ahead(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    node.get("/livez", body=b"", headers={"Date": formatdate(NOW + 90, usegmt=True)})
    assert "canton_target_clock_offset_seconds 90.5" in await lines(health)


@pytest.mark.parametrize("date", ["", "yesterday", "Sat, 99 Nov 2026 05:46:40 GMT", "Sat, 21 Nov 99999 05:46:40 GMT"])
async def test_a_date_that_is_none_gives_no_offset(node: TestNode, lines: Lines, date: str) -> None:
    answer_well(node)
    node.get("/livez", body=b"", headers={"Date": date})
    assert await lines(health) == ["canton_up 1.0", "canton_ready 1.0"]


async def test_sends_a_token_at_hand_and_does_without_where_it_is_not_liked(lines: Lines, node: TestNode) -> None:
    answer_well(node)
    lines.auth = StaticToken("at-hand")
    await lines(health)
    assert {request.headers.get("Authorization") for request in node.requests} == {"Bearer at-hand"}


async def test_a_token_that_expired_does_not_take_a_living_node_for_dead(lines: Lines, node: TestNode) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=401 if "Authorization" in request.headers else 200, text='{"version": "3.5.14"}')

    node._answer = answer  # type: ignore[method-assign]
    await node.stop()
    await node.start()
    lines.auth = StaticToken("expired")
    assert await states(lines) == UP | READY


async def serve(node: TestNode, certificate: trustme.LeafCert) -> None:
    """Let a node answer well, under TLS."""
    answer_well(node)
    await node.stop()
    await node.start(server_tls(certificate))


async def test_tells_until_when_the_certificate_is_valid(lines: Lines, node: TestNode, authority: trustme.CA) -> None:
    await serve(node, authority.issue_cert("127.0.0.1", not_after=datetime(2030, 1, 1, tzinfo=UTC)))
    assert "canton_target_certificate_expiry_timestamp_seconds 1.893456e+09" in await lines(health)


async def test_sees_within_ten_minutes_that_the_certificate_is_another(
    lines: Lines, node: TestNode, authority: trustme.CA, clock: FakeClock, connect: Connect
) -> None:
    async def runs(seconds: int) -> list[str]:
        """Ask every 15 seconds for a while and return the last lines."""
        for _ in range(0, seconds, 15):
            clock.advance(15)
            said = await lines(health)
        return said

    expiry = "canton_target_certificate_expiry_timestamp_seconds"
    await serve(node, authority.issue_cert("127.0.0.1", not_after=datetime(2030, 1, 1, tzinfo=UTC)))
    lines.kept = connect(node.url)
    assert f"{expiry} 1.893456e+09" in await runs(15)
    assert f"{expiry} 1.893456e+09" in await runs(300)
    node.renew(authority.issue_cert("127.0.0.1", not_after=datetime(2031, 1, 1, tzinfo=UTC)))
    assert f"{expiry} 1.924992e+09" in await runs(300)
    node.renew(trustme.CA().issue_cert("127.0.0.1"))
    assert await runs(600) == ["canton_up 0.0", 'canton_down_info{cause="tls"} 1.0', "canton_ready 0.0"]
    assert "is not trusted" in lines.run.remarks[0].detail
    answered = len({request.transport for request in node.requests})
    assert answered <= 4, "two questions at once, twice within ten minutes"


async def test_says_why_a_node_is_down_or_not_ready(node: TestNode, lines: Lines) -> None:
    def said() -> list[str]:
        return [str(remark) for remark in lines.run.remarks]

    answer_well(node)
    node.get("/readyz", status=503, body=b"[-] ledger failed (NOT_SERVING)")
    await lines(health)
    assert said() == ["the node is not ready: GET /readyz: 503: [-] ledger failed (NOT_SERVING)"]
    node.get("/livez", status=404, body=b"")
    node.get("/readyz", status=404, body=b"")
    node.get("/v2/version", status=404, body=b"nothing here")
    await lines(health)
    assert said() == ["the node is down: GET /v2/version: 404: nothing here"]
    node.get("/livez", body=LOGIN)
    await lines(health)
    assert said() == ["the node is down: GET /livez: 200 and an HTML page: is this the API's address?"]
    await node.stop()
    await lines(health)
    assert said()[0].startswith("the node is down: GET /livez: no connection to 127.0.0.1:")


async def test_has_nothing_to_say_of_a_node_that_is_well(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(health)
    assert lines.run.remarks == ()
