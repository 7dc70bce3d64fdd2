"""Settings: what an operator may say of a target, and what of it is never shown."""

import math
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from exporter.config.models import BearerAuth, Budget, CollectorConfig, NoAuth, TargetConfig, public

SECRET = "hunter2"


def target(**said: Any) -> TargetConfig:
    return TargetConfig.model_validate({"kind": "ledger", "url": "https://node", **said})


def errors(model: type[BaseModel], **said: Any) -> list[tuple[str, str]]:
    """Return what is wrong, and where."""
    with pytest.raises(ValidationError) as refused:
        model.model_validate(said)
    return [(".".join(map(str, error["loc"])), error["msg"]) for error in refused.value.errors(include_url=False)]


def target_errors(**said: Any) -> list[tuple[str, str]]:
    return errors(TargetConfig, **{"kind": "ledger", "url": "https://node", **said})


def test_a_target_needs_only_its_kind_and_its_url() -> None:
    plain = target()
    assert (plain.kind, plain.url) == ("ledger", "https://node")
    assert (plain.network, plain.role, plain.labels, plain.headers) == ("default", "own", {}, {})
    assert (plain.auth, plain.timeout) == (NoAuth(), timedelta(seconds=9))


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://node", "http://node"),
        ("https://node:5011/api/json-api/", "https://node:5011/api/json-api"),
        ("http://[::1]:7575", "http://[::1]:7575"),
        ("HTTPS://node/", "HTTPS://node"),
        ("http://user:password@node?key=value", "http://user:password@node?key=value"),
    ],
)
def test_an_address_is_kept_without_the_slash_at_its_end(url: str, kept: str) -> None:
    assert target(url=url).url == kept


def test_a_slash_that_belongs_to_the_query_stays() -> None:
    assert target(url="http://node?signature=abc/").url == "http://node?signature=abc/"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "node",
        "node:5011",
        "//node",
        "/path",
        "ftp://node",
        "unix:///socket",
        "http://",
        "http:///path",
        "http://:80",
        "http://node:99999",
        "http://node:port",
        "http://node:-1",
        "http://[::1",
        "http://node#part",
        "http://no\\de",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "\u2028http://node",
    ],
)
def test_what_is_no_address_of_a_node_is_refused(url: str) -> None:
    assert target_errors(url=url) == [
        ("url", "Value error, is not an address of a node; write one as https://host[:port][/path]")
    ]


@pytest.mark.parametrize(
    "url", ["http://a..b", "http://node ", " http://node", "http://node\n", "http://node/a\tb", "http://node%zz"]
)
def test_an_address_that_no_request_can_be_sent_to_is_refused(url: str) -> None:
    assert target_errors(url=url) == [
        ("url", "Value error, is not an address of a node; write one as https://host[:port][/path]")
    ]


def test_an_address_may_be_of_another_script_as_dns_spells_it() -> None:
    assert target(url="http://xn--mnchen-3ya.de:5011/api").url == "http://xn--mnchen-3ya.de:5011/api"


def test_the_public_address_has_no_user_no_password_and_no_query() -> None:
    assert public(f"https://me:{SECRET}@node:5011/api?key={SECRET}") == "https://node:5011/api"


@pytest.mark.parametrize("name", ["team", "_team", "Team_2"])
def test_labels_have_names_that_prometheus_accepts(name: str) -> None:
    assert target(labels={name: 2}).labels == {name: "2"}


@pytest.mark.parametrize("name", ["", "__team", "2team", "te-am", "te am", "team\n", "tëam", "te.am"])
def test_labels_of_other_names_are_refused(name: str) -> None:
    assert target_errors(labels={name: "x"}) == [
        (
            f"labels.{name}.[key]",
            "Value error, is not a label name; use letters, digits and _; it must not begin with __ or a digit",
        )
    ]


def test_series_carry_the_targets_labels() -> None:
    assert target(network="mainnet", role="observed", labels={"team": "x"}).series_labels("a") == {
        "target": "a",
        "network": "mainnet",
        "role": "observed",
        "team": "x",
    }


@pytest.mark.parametrize("name", ["X Key", "X:Key", "", "X\n", "Schlüssel", "(X)"])
def test_headers_of_names_that_http_does_not_have_are_refused(name: str) -> None:
    assert target_errors(headers={name: "x"}) == [
        (f"headers.{name}.[key]", "Value error, is not a header name; write it without spaces and colons")
    ]


@pytest.mark.parametrize("key", ["headers", "header_files"])
@pytest.mark.parametrize(
    "name", ["Connection", "KEEP-ALIVE", "Proxy-Authorization", "proxy-connection", "TE", "Trailer",
             "Transfer-Encoding", "Upgrade", "Content-Length"],
)  # fmt: skip
def test_headers_of_a_single_connection_are_refused(key: str, name: str) -> None:
    said = "Value error, is a header of a single connection; the HTTP client sets it"
    assert target_errors(**{key: {name: "x"}}) == [(f"{key}.{name}.[key]", said)]


def test_the_header_host_may_be_set() -> None:
    assert list(target(headers={"Host": "node"}).headers) == ["Host"]


@pytest.mark.parametrize("name", ["job", "instance"])
def test_labels_that_prometheus_sets_are_refused(name: str) -> None:
    said = "Value error, is a label that Prometheus sets on every series; choose another"
    assert target_errors(labels={name: "x"}) == [(f"labels.{name}.[key]", said)]


@pytest.mark.parametrize("text", ["a\nb", "a\r\nHost: b", "a\x00", "a\x7f", "ä", "a\u2028b", "a\n"])
def test_no_secret_can_smuggle_in_another_header(text: str) -> None:
    said = "Value error, contains a line break or a character that HTTP headers do not allow"
    assert target_errors(headers={"X-Key": text}) == [("headers.X-Key", said)]
    assert errors(BearerAuth, type="bearer", token=text) == [("token", said)]


@pytest.mark.parametrize("role", ["OWN", "", "mine", None])
def test_a_role_is_own_or_observed(role: object) -> None:
    assert target_errors(role=role) == [("role", "Input should be 'own' or 'observed'")]


@pytest.mark.parametrize("tokens", [{}, {"token": "a", "token_file": "b"}, {"token": None, "token_file": None}])
def test_a_token_stands_in_exactly_one_place(tokens: dict[str, Any]) -> None:
    assert errors(BearerAuth, type="bearer", **tokens) == [
        ("", "Value error, needs exactly one of token and token_file")
    ]


def test_a_token_may_be_written_or_lie_in_a_file() -> None:
    assert target(auth={"type": "bearer", "token": "t"}).auth == BearerAuth(type="bearer", token=SecretStr("t"))
    assert target(auth={"type": "bearer", "token_file": "/t"}).auth == BearerAuth(type="bearer", token_file=Path("/t"))


BEARER = {"auth": {"type": "bearer", "token": "t"}}
USER = {"url": "http://me:word@node"}


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("url_file", {"url_file": ""}),
        ("header_files.X", {"header_files": {"X": "."}}),
        ("auth.bearer.token_file", {"auth": {"type": "bearer", "token_file": ""}}),
    ],
)
def test_a_file_has_a_name(place: str, named: dict[str, Any]) -> None:
    assert target_errors(**named) == [(place, "Value error, must be the path of a file")]


def test_a_target_has_its_url_or_the_file_of_it() -> None:
    said = "Value error, needs exactly one of url and url_file"
    assert target_errors(url=None) == target_errors(url_file="/run/url") == [("", said)]
    assert TargetConfig.model_validate({"kind": "ledger", "url_file": "/run/url"}).url is None


@pytest.mark.parametrize(
    "headers",
    [
        {"headers": {"X-Key": "a", "x-key": "b"}},
        {"headers": {"X-Key": "a"}, "header_files": {"x-KEY": "/b"}},
        {"header_files": {"X-KEY": "/a", "x-key": "/b"}},
    ],
)
def test_a_header_is_given_once(headers: dict[str, Any]) -> None:
    assert target_errors(**headers) == [("", "Value error, has the header x-key 2 times; keep one")]


HEADER = {"headers": {"authorization": "Basic x"}}


FILE = {"header_files": {"Authorization": "/run/header"}}


@pytest.mark.parametrize(
    "ways",
    [BEARER | USER, BEARER | HEADER, USER | HEADER, BEARER | USER | HEADER, BEARER | FILE, USER | FILE],
)
def test_a_target_is_authorized_in_one_way(ways: dict[str, Any]) -> None:
    said = "Value error, has more than one authorization; keep one of auth, a user in the url, the header Authorization"
    assert target_errors(**ways) == [("", said)]


@pytest.mark.parametrize("way", [BEARER, USER, HEADER])
def test_any_one_way_is_fine(way: dict[str, Any]) -> None:
    assert target(**way)


def test_what_nobody_reads_is_refused() -> None:
    said = "Extra inputs are not permitted"
    assert target_errors(urll="x") == [("urll", said)]
    assert errors(Budget, rates=1) == [("rates", said)]
    assert target_errors(auth={"type": "none", "token": "x"}) == [("auth.none.token", said)]


@pytest.mark.parametrize(
    ("rate", "burst"), [(0, 1), (-1, 1), ("x", 1), (math.inf, 1), (math.nan, 1), (1, math.inf), (1, 0), (1, 1.5)]
)
def test_a_budget_is_above_zero(rate: object, burst: object) -> None:
    assert len(errors(Budget, rate=rate, burst=burst)) == 1


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ({}, 45),
        ({"timeout": "5m"}, 315),
        ({"timeout": "30s"}, 45),
        ({"stale_after": "20s", "timeout": "5m"}, 20),
    ],
)
def test_values_are_shown_for_three_intervals_or_as_long_as_a_run_may_take(said: dict[str, str], seconds: int) -> None:
    config = CollectorConfig.model_validate({"interval": "15s", "timeout": "5s", **said})
    assert config.shown_for == timedelta(seconds=seconds)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        setattr(target(), "url", "http://other")  # noqa: B010 - mypy knows it too


def test_targets_that_say_the_same_are_equal() -> None:
    assert target(**BEARER) == target(**BEARER)
    assert target(**BEARER) != target(auth={"type": "bearer", "token": "other"})
    assert target(headers={"X": "a"}) != target(headers={"X": "b"})


def test_secrets_are_not_shown() -> None:
    shown = target(auth={"type": "bearer", "token": SECRET}, headers={"X-Key": SECRET})
    for text in (repr(shown), str(shown), repr(shown.model_dump()), shown.model_dump_json()):
        assert SECRET not in text


def test_secrets_in_an_address_are_not_shown_either() -> None:
    assert SECRET not in repr(target(url=f"https://me:{SECRET}@node?key={SECRET}"))


@pytest.mark.parametrize(
    "said",
    [
        {"url": f"ftp://me:{SECRET}@node"},
        {"url": [SECRET]},
        {"headers": {"X-Key": f"{SECRET}\n"}},
        {"headers": {"X-Key": [SECRET]}},
        {"headers": SECRET},
        {"auth": SECRET},
        {"auth": {"type": "bearer", "token": f"{SECRET}\n"}},
        {"auth": {"type": "bearer", "token": {"a": SECRET}}},
        {"auth": {"type": "bearer", "token": SECRET, "token_file": "x"}},
        {"auth": {"type": "none", "token": SECRET}},
        {"auth": {"type": "bearer", "token": SECRET}, "url": f"http://me:{SECRET}@node"},
    ],
)
def test_no_error_repeats_what_may_be_a_secret(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        target(**said)
    assert SECRET not in str(refused.value)
    assert SECRET not in repr(refused.value)
