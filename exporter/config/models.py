"""What an operator may configure. Every model is strict: a key nobody reads is an error, not a comment."""

import re
from collections import Counter
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    WithJsonSchema,
    model_validator,
)
from yarl import URL

from exporter import limits
from exporter.config.durations import UNITS, read_duration, write_duration


class Strict(BaseModel):
    """Settings of the operator: nothing unknown, nothing changed later, and no value repeated in an error."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        coerce_numbers_to_str=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
    )


def needs_options(model: type[Strict]) -> bool:
    """Return whether a collector with these options is off until it is configured, as one of them has no default."""
    return any(field.is_required() for field in model.model_fields.values())


# As plain as can be: operators read it where Helm refuses a value, and Go's expressions know no looking ahead.
DURATION_PATTERN = f"^{''.join(f'([1-9][0-9]*{unit})?' for unit in UNITS)}$"
DURATION_SCHEMA = {"type": "string", "minLength": 1, "pattern": DURATION_PATTERN}
Duration = Annotated[
    timedelta, BeforeValidator(read_duration), PlainSerializer(write_duration), WithJsonSchema(DURATION_SCHEMA)
]


class Kind(StrEnum):
    """What a target is."""

    SCAN = "scan"
    LEDGER = "ledger"
    VALIDATOR = "validator"


KIND_ALIASES = {"participant": Kind.LEDGER}
"""What operators call a kind, and we take too."""


HOST_NAME = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?"
IPV6 = r"[0-9A-Fa-f.]*:[0-9A-Fa-f:.]+(%[A-Za-z0-9]+)?"


def check_url(text: str) -> str:
    try:
        url = URL(text)
        is_host = re.fullmatch(f"{HOST_NAME}|{IPV6}", url.raw_host or "")
        good = url.scheme in ("http", "https") and is_host and not url.fragment
    except ValueError:
        good = None
    if not good or not re.fullmatch(r"[\x21-\x7e]+", text):
        raise ValueError("is not an address of a node; write one as https://host[:port][/path]")
    base, mark, query = text.partition("?")
    return f"{base.rstrip('/')}{mark}{query}"


def public(url: str) -> str:
    """Return a url as it may be shown: without user, password and query."""
    return str(URL(url).with_user(None).with_query(None))


def check_text(text: str) -> str:
    if not text.isprintable():
        raise ValueError("contains a character that cannot be printed")
    return text


Text = Annotated[str, AfterValidator(check_text)]


def check_line(text: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[\x20-\x7e]*", text.get_secret_value()):
        raise ValueError("contains a line break or a character that HTTP headers do not allow")
    return text


def check_file(path: Path) -> Path:
    if path == Path() or not str(path).isprintable():
        raise ValueError("must be the path of a file")
    return path


File = Annotated[Path, AfterValidator(check_file)]


def named(pattern: str, words: str) -> AfterValidator:
    """Accept what matches a pattern; `words` are the error of everything else."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(words)
        return text

    return AfterValidator(check)


TARGET_NAME = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}"
TargetName = Annotated[str, named(TARGET_NAME, "is not a valid name; use only letters, digits and - _ . :")]
HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
FRAMING_HEADERS = {"connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
"""They are about one connection or the length of one message, and only who sends them can know them."""


def check_header(name: str) -> str:
    if name.lower() in FRAMING_HEADERS or name.lower().startswith("proxy-"):
        raise ValueError("is a header of a single connection; the HTTP client sets it")
    return name


HeaderName = Annotated[
    str,
    named(HEADER_NAME, "is not a header name; write it without spaces and colons"),
    AfterValidator(check_header),
]
LABEL_NAME = r"_?[a-zA-Z][a-zA-Z0-9_]*"


def check_label(name: str) -> str:
    if name in ("job", "instance"):
        raise ValueError("is a label that Prometheus sets on every series; choose another")
    return name


LabelName = Annotated[
    str,
    named(LABEL_NAME, "is not a label name; use letters, digits and _; it must not begin with __ or a digit"),
    AfterValidator(check_label),
]
TEMPLATE = r"[^:#\s]{1,1000}(:[^:\s]{1,1000}){2}"
TemplateName = Annotated[
    str,
    named(TEMPLATE, "is not a template; write PACKAGE:MODULE:ENTITY, such as splice-amulet:Splice.Amulet:Amulet"),
]
Hash = Annotated[str, named(r"[0-9A-Fa-f]{2,200}", "is not a hash; write it in hex digits")]
Line = Annotated[SecretStr, AfterValidator(check_line)]


class IsParty:
    """Marks options that hold the id of a party."""


PartyId = Annotated[str, IsParty(), Field(min_length=1, max_length=limits.PARTY_LENGTH)]


class NoAuth(Strict):
    type: Literal["none"] = "none"
    """Requests carry no token."""


class BearerAuth(Strict):
    type: Literal["bearer"]
    """Requests carry `Authorization: Bearer` and a token, given by exactly one of the two keys below."""
    token: Line | None = None
    """The token itself; better kept in a file or set by the environment."""
    token_file: File | None = None
    """A file that holds the token, its path from this file's folder on; read again when it changes."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.token is None) == (self.token_file is None):
            raise ValueError("needs exactly one of token and token_file")
        if self.token is not None and not self.token.get_secret_value():
            raise ValueError("token is empty; write it, or token_file")
        return self


class Budget(Strict):
    """How many requests a node may get from us, of all its collectors together; health checks are not counted."""

    rate: float = Field(default=5, gt=0)
    """Requests a second, in the long run."""
    burst: int = Field(default=10, ge=1)
    """Requests that may come at once."""
    per: Literal["target", "host"] = "target"
    """`target`: each ledger and validator has a budget of its own, and scans at one host share one, as scans limit by
    caller; `host`: all targets at one host share one, for a gateway that limits."""

    def is_shared(self, kind: Kind) -> bool:
        """Return whether targets of a kind share a budget with others at their host."""
        return self.per == "host" or kind is Kind.SCAN


class TargetConfig(Strict):
    """A node, and how it is reached."""

    kind: Kind
    """What the node is: `scan`, `ledger` (a participant's JSON Ledger API; `participant` too) or `validator`."""
    url: Annotated[str, AfterValidator(check_url)] | None = Field(repr=False)
    """Where its API begins, such as `https://host/api/json-api`; a query is sent along. Or give `url_file`."""
    url_file: File | None = None
    """A file that holds the url instead, where that has a secret in it; read again when it changes."""
    network: Text = "default"
    """The network it belongs to, such as `mainnet`; a label on all its series."""
    role: Literal["own", "observed"] = "own"
    """`own`: yours to keep running; `observed`: somebody else's, never a reason to wake anybody. A scan needs it."""
    labels: dict[LabelName, Text] = {}
    """More labels for all its series; every target needs the same names."""
    auth: Annotated[NoAuth | BearerAuth, Field(discriminator="type")] = NoAuth()
    """How requests are authorized."""
    headers: dict[HeaderName, Line] = {}
    """Headers sent with every request; values are secrets."""
    header_files: dict[HeaderName, File] = {}
    """Files that hold the values of more headers, by header; read again when they change."""
    timeout: Duration = timedelta(seconds=9)
    """How long one request may take."""

    @model_validator(mode="before")
    @classmethod
    def _no_url_beside_its_file(cls, given: Any) -> Any:
        return {"url": None, **given} if isinstance(given, dict) and given.get("url_file") is not None else given

    @model_validator(mode="after")
    def _each_thing_once(self) -> Self:
        errors = []
        if (self.url is None) == (self.url_file is None):
            errors.append("needs exactly one of url and url_file")
        if self.ways_besides_url + (URL(self.url or "").user is not None) > 1:
            errors.append(
                "has more than one authorization; keep one of auth, a user in the url, the header Authorization"
            )
        counted = Counter(map(str.lower, (*self.headers, *self.header_files)))
        errors += [f"has the header {name} {times} times; keep one" for name, times in counted.items() if times > 1]
        if errors:
            raise ValueError("; ".join(errors))
        return self

    @property
    def ways_besides_url(self) -> int:
        """In how many ways its requests are authorized, a user in the url aside."""
        return (self.auth.type != "none") + ("authorization" in map(str.lower, (*self.headers, *self.header_files)))

    def files(self) -> dict[str, Path]:
        """Return the files of what its requests carry, by what they hold."""
        token = self.auth.token_file if isinstance(self.auth, BearerAuth) else None
        headers = {f"header {name}": path for name, path in self.header_files.items()}
        return {"token": token, **headers} if token else headers

    def series_labels(self, name: str) -> dict[str, str]:
        """Return the labels that all series of the target called `name` carry."""
        return {"target": name, "network": self.network, "role": self.role, **self.labels}


class CollectorConfig(Strict):
    """How one collector runs on one target; a collector's own defaults stand in the reference."""

    enabled: bool = True
    """Whether it runs at all."""
    interval: Duration
    """How often it runs."""
    timeout: Duration
    """How long one run may take; a run may outlast its interval, two never overlap."""
    stale_after: Duration | None = None
    """How long values are shown after their run; by default 3 intervals, or an interval and a timeout if longer."""
    max_series: int = Field(default=500, ge=1)
    """How many series it may have; the known ones stay, new ones are dropped and counted. Ten times as many fail."""
    options: Strict = Strict()
    """What only this collector has."""

    @property
    def shown_for(self) -> timedelta:
        # A count that may take longer than three intervals must not lose its last values while it is under way.
        return self.stale_after or max(3 * self.interval, self.interval + self.timeout)
