"""The command line: flags, their variables, and what is said of a wrong one."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from exporter.config.flag_types import Address, read_address
from exporter.config.flags import FLAGS, VARIABLES, read_flags, variable

PREFIX = "CANTON_EXPORTER_"


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what is said of wrong arguments: the last line, the one after the usage."""
    with pytest.raises(SystemExit) as end:
        read_flags(arguments)
    assert end.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()[-1].removeprefix("canton-exporter: error: ")


def test_nothing_has_to_be_said() -> None:
    flags = read_flags([])
    assert (flags.command, flags.config_file, flags.config_check) == (None, Path("exporter.yaml"), False)
    assert (flags.web_listen_address, flags.web_config_file) == ([Address(None, 10066)], None)
    assert (flags.web_telemetry_path, flags.web_max_requests) == ("/metrics", 40)
    assert (flags.web_external_url, flags.web_route_prefix, flags.web_allowed_host) == (None, None, ())
    assert flags.web_disable_exporter_metrics is False
    assert (flags.shard, flags.total_shards) == (None, 1)
    assert (flags.config_enable_auto_reload, flags.config_auto_reload_interval) == (False, timedelta(seconds=30))
    assert (flags.log_level, flags.log_format) == ("info", "logfmt")
    assert (flags.prefix, flags.external_url) == ("", "")


def test_all_that_can_be_said_is_read() -> None:
    flags = read_flags(
        [
            "--config.file=a.yaml",
            "--config.check",
            "--web.listen-address=127.0.0.1:1",
            "--web.listen-address",
            "[::1]:2",
            "--web.config.file=web.yaml",
            "--web.telemetry-path=m",
            "--web.max-requests=3",
            "--web.external-url=https://host/canton/",
            "--web.route-prefix=/p/",
            "--web.allowed-host=Tools.example",
            "--web.allowed-host=*.lab.example",
            "--web.disable-exporter-metrics",
            "--log.level=debug",
            "--log.format=json",
        ]
    )
    assert (flags.config_file, flags.config_check) == (Path("a.yaml"), True)
    assert flags.web_listen_address == [Address("127.0.0.1", 1), Address("::1", 2)]
    assert (flags.web_config_file, flags.web_telemetry_path) == (Path("web.yaml"), "/m")
    assert (flags.web_max_requests, flags.web_disable_exporter_metrics) == (3, True)
    assert (flags.web_external_url, flags.web_route_prefix) == (urlsplit("https://host/canton/"), "/p")
    assert flags.web_allowed_host == ["tools.example", "*.lab.example"]
    assert (flags.log_level, flags.log_format) == ("debug", "json")


@pytest.mark.parametrize(
    ("text", "address", "written"),
    [
        (":10066", Address(None, 10066), ":10066"),
        ("127.0.0.1:0", Address("127.0.0.1", 0), "127.0.0.1:0"),
        ("localhost:65535", Address("localhost", 65535), "localhost:65535"),
        ("[::1]:80", Address("::1", 80), "[::1]:80"),
        ("[::]:80", Address("::", 80), "[::]:80"),
    ],
)
def test_an_address_is_read_and_written(text: str, address: Address, written: str) -> None:
    assert read_address(text) == address
    assert str(address) == written


@pytest.mark.parametrize(
    "text", ["", ":", "10066", "localhost", "localhost:", "::1", "::1:80", "a:b", ":-1", ":65536", ":1.5", ": 1", ":²"]
)
def test_what_is_no_address_is_refused(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert refusal(capsys, f"--web.listen-address={text}") == (
        f"argument --web.listen-address: {text!r} is not an address to listen on; write [host]:port, such as :10066"
    )


@pytest.mark.parametrize("text", ["[::1:80", "a]:80", "[]:80", "[[::1]]:80", "a..b:80", ":٣", "a b:80"])
def test_what_only_looks_like_an_address_is_refused(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert refusal(capsys, f"--web.listen-address={text}").startswith("argument --web.listen-address: ")


def test_a_port_without_end_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "--web.listen-address=:" + "9" * 5000).startswith("argument --web.listen-address: ")


@pytest.mark.parametrize("text", ["0", "-1", "", "many", "1.5", "1e3", "²"])
def test_a_count_is_a_number_above_zero(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert refusal(capsys, f"--web.max-requests={text}") == (
        f"argument --web.max-requests: {text!r} is not a number above zero"
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("12", 12), ("canton-exporter-2", 2), ("a-10", 10), ("my.pod_3-7-0", 0), ("1-2", 2)],
)
def test_a_shard_is_a_number_or_the_name_of_a_pod_that_ends_in_one(text: str, number: int) -> None:
    assert read_flags([f"--shard={text}"]).shard == number


@pytest.mark.parametrize(
    "text", ["", "-1", "-", "a-", "a", "a2", "a-02", "01", "1.5", "a-b", "²", "a b-1", "a--x", "1\n"]
)
def test_what_names_no_shard_is_refused(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert refusal(capsys, f"--shard={text}") == (
        f"argument --shard: {text!r} is neither a number, counted from 0, nor a name that ends with -NUMBER"
    )


@pytest.mark.parametrize("text", ["", "0", "0s", "30", "often", "-1s"])
def test_an_interval_is_a_duration_above_zero(capsys: pytest.CaptureFixture[str], text: str) -> None:
    said = "is not a duration; write one above zero as Prometheus does, such as 15s, 500ms or 1h30m"
    flag = "--config.auto-reload-interval"
    assert refusal(capsys, f"{flag}={text}") == f"argument {flag}: {text!r} {said}"


def test_there_are_a_thousand_shards_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_flags(["--total-shards=1000"]).total_shards == 1000
    assert refusal(capsys, "--total-shards=1001") == "argument --total-shards: '1001' is more than 1000 shards"
    assert refusal(capsys, "--total-shards=0") == "argument --total-shards: '0' is not a number above zero"


@pytest.mark.parametrize(
    ("text", "path"), [("/metrics", "/metrics"), ("metrics", "/metrics"), ("/a/b/", "/a/b"), ("//a", "/a"), ("/", "/")]
)
def test_a_path_has_one_slash_before_and_none_behind(text: str, path: str) -> None:
    assert read_flags([f"--web.telemetry-path={text}"]).web_telemetry_path == path


@pytest.mark.parametrize("text", ["a b", "{x}", "/a{", "a?b", "a#b", "ä", "a\n", "%zz", "a\\b"])
def test_what_is_no_path_is_refused(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert refusal(capsys, f"--web.telemetry-path={text}") == (
        f"argument --web.telemetry-path: {text!r} is not a path of a URL"
    )


@pytest.mark.parametrize("text", ["", "https://a.example", "a.example:80", "a.example/b", "*", "a.*.b", "[::1]", "ä.b"])
def test_an_allowed_host_is_a_name_and_no_more(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert refusal(capsys, f"--web.allowed-host={text}") == (
        f"argument --web.allowed-host: {text!r} is not a host name; write it without scheme, port and path, such as "
        "exporter.example.org"
    )


@pytest.mark.parametrize("path", ["/-/healthy", "/-/ready", "/-/reload", "/probe", "/config"])
def test_metrics_do_not_take_the_place_of_another_page(capsys: pytest.CaptureFixture[str], path: str) -> None:
    assert refusal(capsys, f"--web.telemetry-path={path}").startswith("argument --web.telemetry-path: ")


@pytest.mark.parametrize(
    ("arguments", "prefix", "external"),
    [
        (["--web.external-url=https://host"], "", ""),
        (["--web.external-url=https://host/"], "", ""),
        (["--web.external-url=https://host/canton/"], "/canton", "/canton"),
        (["--web.route-prefix=/"], "", ""),
        (["--web.route-prefix=p"], "/p", "/p"),
        (["--web.external-url=https://host/canton", "--web.route-prefix=/"], "", "/canton"),
        (["--web.external-url=https://host/canton", "--web.route-prefix=/p"], "/p", "/canton"),
    ],
)
def test_paths_begin_with_the_prefix_and_links_with_the_external_path(
    arguments: list[str], prefix: str, external: str
) -> None:
    flags = read_flags(arguments)
    assert (flags.prefix, flags.external_url) == (prefix, external)


def test_an_external_url_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "--web.external-url=http://host:99999").startswith("argument --web.external-url: ")


@pytest.mark.parametrize("text", ["canton", "", "ftp://host", "//host", "http://host/{x}", "http://host/{", "/canton"])
def test_an_external_url_that_no_browser_could_follow_is_refused(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert refusal(capsys, f"--web.external-url={text}").startswith("argument --web.external-url: ")


def test_a_target_is_named_before_or_after_the_flags() -> None:
    for arguments in (["probe", "a", "--collector=acs"], ["--collector", "acs", "probe", "a"]):
        flags = read_flags(arguments)
        assert (flags.command, flags.target, flags.collector) == ("probe", "a", "acs")
    assert read_flags(["probe", "--log.level=debug", "a"]).target == "a"


@pytest.mark.parametrize("arguments", [["probe"], ["demo", "a"], ["--collector=acs"], ["demo", "--collector=acs"]])
def test_a_probe_needs_a_target_and_nothing_else_does(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    said = "write canton-exporter probe TARGET [--collector NAME]"
    assert refusal(capsys, *arguments) == said


def test_the_demo_has_nothing_to_check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said = "the demo has no configuration file to check; leave out demo or --config.check"
    assert refusal(capsys, "demo", "--config.check") == said
    monkeypatch.setenv("CANTON_EXPORTER_CONFIG__CHECK", "true")
    assert refusal(capsys, "demo") == said


def test_the_help_has_the_rule_for_names_of_variables(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_flags(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "with __ for each dot and _ for each hyphen" in text
    assert variable("web.listen-address") in text


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("--log.level=loud", "argument --log.level: invalid choice: 'loud'"),
        ("--log.format=xml", "argument --log.format: invalid choice: 'xml'"),
        ("--qqq", "unrecognized arguments: --qqq"),
        ("--config.file", "argument --config.file: expected one argument"),
        ("start", "argument command: invalid choice: 'start'"),
    ],
)
def test_what_is_no_flag_is_refused(capsys: pytest.CaptureFixture[str], argument: str, said: str) -> None:
    assert refusal(capsys, argument).startswith(said)


def test_half_a_flag_is_no_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "--config.c") == "unrecognized arguments: --config.c"


def test_the_help_names_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read_flags(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert not [flag for flag in FLAGS if f"--{flag}" not in text]


# The environment


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("config.file", "CANTON_EXPORTER_CONFIG__FILE"),
        ("web.listen-address", "CANTON_EXPORTER_WEB__LISTEN_ADDRESS"),
        ("web.config.file", "CANTON_EXPORTER_WEB__CONFIG__FILE"),
        ("shard", "CANTON_EXPORTER_SHARD"),
        ("total-shards", "CANTON_EXPORTER_TOTAL_SHARDS"),
    ],
)
def test_each_flag_has_a_variable(flag: str, name: str) -> None:
    assert variable(flag) == name
    assert name in VARIABLES
    assert len(VARIABLES) == len(FLAGS)


def test_the_environment_says_what_the_command_line_leaves_open(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "CONFIG__FILE": "e.yaml",
        "CONFIG__CHECK": "true",
        "WEB__LISTEN_ADDRESS": "127.0.0.1:1,[::1]:2",
        "WEB__CONFIG__FILE": "web.yaml",
        "WEB__TELEMETRY_PATH": "m",
        "WEB__MAX_REQUESTS": "3",
        "WEB__EXTERNAL_URL": "https://host/canton",
        "WEB__ROUTE_PREFIX": "p",
        "WEB__ALLOWED_HOST": "tools.example,other.example",
        "WEB__DISABLE_EXPORTER_METRICS": "1",
        "LOG__LEVEL": "error",
        "LOG__FORMAT": "json",
        "CONFIG__ENABLE_AUTO_RELOAD": "true",
        "CONFIG__AUTO_RELOAD_INTERVAL": "1m30s",
        "SHARD": "canton-exporter-2",
        "TOTAL_SHARDS": "3",
    }.items():
        monkeypatch.setenv(PREFIX + name, text)
    flags = read_flags(["--log.level=debug", "--config.file=a.yaml"])
    assert (flags.config_file, flags.config_check) == (Path("a.yaml"), True)
    assert flags.web_listen_address == [Address("127.0.0.1", 1), Address("::1", 2)]
    assert (flags.web_config_file, flags.web_telemetry_path) == (Path("web.yaml"), "/m")
    assert (flags.web_max_requests, flags.web_disable_exporter_metrics) == (3, True)
    assert (flags.external_url, flags.prefix) == ("/canton", "/p")
    assert flags.web_allowed_host == ["tools.example", "other.example"]
    assert (flags.shard, flags.total_shards) == (2, 3)
    assert (flags.config_enable_auto_reload, flags.config_auto_reload_interval) == (True, timedelta(seconds=90))
    assert (flags.log_level, flags.log_format) == ("debug", "json")


def test_the_command_line_wins_over_the_environment_for_addresses_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "WEB__LISTEN_ADDRESS", "127.0.0.1:1")
    assert read_flags(["--web.listen-address=:2"]).web_listen_address == [Address(None, 2)]


@pytest.mark.parametrize(
    ("text", "is_said"), [("true", True), ("TRUE", True), ("1", True), ("false", False), ("0", False)]
)
def test_a_switch_is_true_or_false(monkeypatch: pytest.MonkeyPatch, text: str, is_said: bool) -> None:
    monkeypatch.setenv(PREFIX + "CONFIG__CHECK", text)
    assert read_flags([]).config_check is is_said


def test_lower_case_names_count_for_flags_as_they_do_for_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("canton_exporter_log__level", "debug")
    assert read_flags([]).log_level == "debug"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("CONFIG__CHECK", "yes", "write true or false"),
        ("CONFIG__CHECK", "", "write true or false"),
        ("LOG__LEVEL", "loud", "choose from debug, info, warning, error"),
        ("LOG__LEVEL", "", "choose from debug, info, warning, error"),
        ("LOG__FORMAT", "xml", "choose from logfmt, json"),
        ("WEB__MAX_REQUESTS", "0", "'0' is not a number above zero"),
        ("SHARD", "pod", "'pod' is neither a number, counted from 0, nor a name that ends with -NUMBER"),
        ("WEB__TELEMETRY_PATH", "a b", "'a b' is not a path of a URL"),
        (
            "WEB__LISTEN_ADDRESS",
            ":1,nowhere",
            "'nowhere' is not an address to listen on; write [host]:port, such as :10066",
        ),
        ("WEB__LISTEN_ADDRESS", "", "'' is not an address to listen on; write [host]:port, such as :10066"),
    ],
)
def test_a_wrong_variable_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, text: str, said: str
) -> None:
    monkeypatch.setenv(PREFIX + name, text)
    assert refusal(capsys) == f"environment variable {PREFIX}{name}: {said}"


def test_a_wrong_variable_with_an_address_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PREFIX + "WEB__EXTERNAL_URL", "http://host:99999")
    assert refusal(capsys).startswith(f"environment variable {PREFIX}WEB__EXTERNAL_URL: ")
