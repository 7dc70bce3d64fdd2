"""health: whether a node is alive and ready, its clock and its certificate."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import formatdate

import pytest
import trustme
from aiohttp import web

from exporter.auth import Given
from exporter.collectors.health import health
from exporter.transport import Transport
from tests.conftest import NOW, FakeClock, Lines
from tests.nodes import TestNode


def answer_well(node: TestNode) -> None:
    node.get("/livez", body=b"")
    node.get("/readyz", body=b"readyz check passed")


async def states(lines: Lines, kind: str = "ledger") -> dict[str, str]:
    return dict(line.split() for line in await lines(health, kind=kind) if not line.startswith("canton_target"))


async def test_a_node_that_answers_is_up_and_ready(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    assert await states(lines) == {"canton_up": "1.0", "canton_ready": "1.0"}


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 599])
async def test_a_node_that_says_it_is_not_alive_is_down(node: TestNode, lines: Lines, status: int) -> None:
    node.get("/livez", status=status, body=b"")
    node.get("/readyz", status=503, body=b"[-] ledger failed (NOT_SERVING)")
    assert await states(lines) == {"canton_up": "0.0", "canton_ready": "0.0"}


async def test_a_node_that_nobody_reaches_is_down(node: TestNode, lines: Lines) -> None:
    await node.stop()
    assert await lines(health) == ["canton_up 0.0", "canton_ready 0.0"]
    assert [request.outcome for request in lines.run.requests] == ["unreachable", "unreachable"]


async def test_a_node_that_does_not_answer_is_down_before_the_run_is_out_of_time(node: TestNode, lines: Lines) -> None:
    node.silent = True
    assert await lines(health, within=0.2) == ["canton_up 0.0", "canton_ready 0.0"]


@pytest.mark.parametrize("status", [401, 403, 429, 302, 400, 204])
async def test_an_answer_that_says_nothing_of_the_node_gives_no_value(
    node: TestNode, lines: Lines, status: int
) -> None:
    node.get("/livez", status=status, body=b"")
    node.get("/readyz", body=b"")
    reasons = {401: "unauthorized", 403: "unauthorized", 429: "limited"}
    [line] = await lines(health)
    assert line.startswith(f"{reasons.get(status, 'refused')}: GET /livez: {status}")


async def test_readiness_that_may_not_be_asked_for_gives_no_value_either(node: TestNode, lines: Lines) -> None:
    node.get("/livez", body=b"")
    node.get("/readyz", status=403, body=b"")
    assert await lines(health) == ["unauthorized: GET /readyz: 403"]


@pytest.mark.parametrize(("kind", "path"), [("ledger", "/v2/version"), ("scan", "/version"), ("validator", "/version")])
@pytest.mark.parametrize(("status", "up"), [(200, "1.0"), (401, "0.0"), (404, "0.0"), (503, "0.0")])
async def test_a_node_without_livez_is_asked_for_its_version(
    node: TestNode, lines: Lines, kind: str, path: str, status: int, up: str
) -> None:
    node.get("/livez", status=404 if status == 200 else 405, body=b"")
    node.get("/readyz", status=404, body=b"")
    node.get(path, status=status, body=b"{}")
    assert await states(lines, kind) == {"canton_up": up}


async def test_tells_how_far_the_nodes_clock_is_ahead(node: TestNode, lines: Lines) -> None:
    node.get("/livez", body=b"", headers={"Date": formatdate(NOW + 90, usegmt=True)})
    node.get("/readyz", body=b"")
    assert "canton_target_clock_offset_seconds 90.5" in await lines(health)


@pytest.mark.parametrize("date", ["", "yesterday", "Sat, 99 Nov 2026 05:46:40 GMT", "Sat, 21 Nov 99999 05:46:40 GMT"])
async def test_a_date_that_is_none_gives_no_offset(node: TestNode, lines: Lines, date: str) -> None:
    node.get("/livez", body=b"", headers={"Date": date})
    node.get("/readyz", body=b"")
    assert await lines(health) == ["canton_up 1.0", "canton_ready 1.0"]


async def test_sends_a_token_at_hand_and_does_without_where_it_is_not_liked(lines: Lines, node: TestNode) -> None:
    answer_well(node)
    lines.auth = Given("at-hand")
    await lines(health)
    assert {request.headers.get("Authorization") for request in node.requests} == {"Bearer at-hand"}


async def test_a_token_that_expired_does_not_take_a_living_node_for_dead(lines: Lines, node: TestNode) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=401 if "Authorization" in request.headers else 200)

    node._answer = answer  # type: ignore[method-assign]
    await node.stop()
    await node.start()
    lines.auth = Given("expired")
    assert await states(lines) == {"canton_up": "1.0", "canton_ready": "1.0"}


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """Return a certificate authority that the exporter trusts."""
    authority = trustme.CA()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    monkeypatch.setattr("exporter.transport.tls_context", lambda: trusting)
    return authority


async def serve(node: TestNode, certificate: trustme.LeafCert) -> None:
    """Let a node answer well, under TLS."""
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(serving)
    answer_well(node)
    await node.stop()
    await node.start(serving)


async def test_tells_until_when_the_certificate_is_valid(lines: Lines, node: TestNode, authority: trustme.CA) -> None:
    await serve(node, authority.issue_cert("127.0.0.1", not_after=datetime(2030, 1, 1, tzinfo=UTC)))
    assert "canton_target_certificate_expiry_timestamp_seconds 1.893456e+09" in await lines(health)


async def test_sees_within_ten_minutes_that_the_certificate_is_another(
    lines: Lines, node: TestNode, authority: trustme.CA, clock: FakeClock, connect: Callable[..., Transport]
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
    assert await runs(600) == ["canton_up 0.0", "canton_ready 0.0"]
    assert "is not trusted" in lines.run.remarks[0].detail
    answered = len({request.transport for request in node.requests})
    assert answered <= 4, "two questions at once, twice within ten minutes"


async def test_says_why_a_node_is_down_or_not_ready(node: TestNode, lines: Lines) -> None:
    node.get("/livez", body=b"")
    node.get("/readyz", status=503, body=b"[-] ledger failed (NOT_SERVING)")
    await lines(health)
    assert [str(remark) for remark in lines.run.remarks] == [
        "the node is not ready: GET /readyz: 503: [-] ledger failed (NOT_SERVING)"
    ]
    node.get("/livez", status=404, body=b"")
    node.get("/v2/version", status=404, body=b"nothing here")
    await lines(health)
    assert [str(remark) for remark in lines.run.remarks] == ["the node is down: GET /v2/version: 404: nothing here"]
    await node.stop()
    await lines(health)
    assert str(lines.run.remarks[0]).startswith("the node is down: GET /livez: no connection to 127.0.0.1:")


async def test_has_nothing_to_say_of_a_node_that_is_well(node: TestNode, lines: Lines) -> None:
    answer_well(node)
    await lines(health)
    assert lines.run.remarks == ()
