"""The settings of the Prometheus exporter-toolkit's web configuration file, and the TLS made from them.

As with the toolkit, paths begin at the file's folder, and blank or null is as good as absent.
"""

import os
import re
import ssl
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from exporter.config.models import Duration, Strict, named
from exporter.config.validation_errors import ConfigError, validate
from exporter.config.yaml_file import Tree
from exporter.errors import WrongConfiguration
from exporter.files import read

VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
CLIENTS = {
    "NoClientCert": ssl.CERT_NONE,
    "RequestClientCert": ssl.CERT_NONE,  # it lets everybody in, and nothing here reads what nobody verified
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
CURVES = {"CurveP256": "prime256v1", "CurveP384": "secp384r1", "CurveP521": "secp521r1", "X25519": "X25519"}
CIPHERS = {  # Go's names, and OpenSSL's
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
}
CIPHERS_OF_TLS13 = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
FILES = ("cert_file", "key_file", "client_ca_file")
BCRYPT = r"\$2[aby]\$(0[4-9]|[12][0-9]|3[01])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{31}"

OLD = "is too old for OpenSSL; write TLS12 or TLS13"
UNVERIFIED = (
    "is not supported in Python, which verifies each certificate that it requires; write RequireAndVerifyClientCert"
)


def without_blanks(tree: Tree) -> Tree:
    return {key: value for key, value in tree.items() if value not in ("", None)}


def one_of(names: Iterable[str], refused: Mapping[str, str]) -> AfterValidator:
    """Accept names only; `refused` are those that the toolkit knows too, each with the reason why we do not."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(refused.get(name) or f"must be one of {', '.join(names)}")
        return name

    return AfterValidator(check)


def check_curves(names: list[str]) -> list[str]:
    if len(names) > 1:
        raise ValueError("has more curves than the one that Python can use; keep the best, or none")
    return names


def check_hash(text: SecretStr) -> SecretStr:
    if not re.fullmatch(BCRYPT, text.get_secret_value()):
        raise ValueError("is not a bcrypt hash; make one with htpasswd -nBC 10 NAME")
    return text


Version = Annotated[str, one_of(VERSIONS, {"TLS10": OLD, "TLS11": OLD})]
Clients = Annotated[str, one_of(CLIENTS, {"RequireAnyClientCert": UNVERIFIED, "RequireClientCert": UNVERIFIED})]
Cipher = Annotated[str, one_of((*CIPHERS, *CIPHERS_OF_TLS13), {})]
Curve = Annotated[str, one_of(CURVES, {})]
UserName = Annotated[str, named("[^:]+", "must not contain a colon, nor be empty")]
HeaderValue = Annotated[str, named(r"[\x20-\x7e]+", "must be printable ASCII")]
IntervalOrNone = Annotated[Duration | None, BeforeValidator(lambda text: None if text in (0, "0", "0s") else text)]


class IgnoresBlanks(Strict):
    @model_validator(mode="before")
    @classmethod
    def _drop_blanks(cls, tree: object) -> object:
        return without_blanks(tree) if isinstance(tree, dict) else tree


class Tls(IgnoresBlanks):
    """TLS as the exporter serves it. `cert` and `key` are needed, each here as PEM or in a file."""

    cert: str | None = None
    cert_file: Path | None = None
    key: SecretStr | None = None
    key_file: Path | None = None
    client_auth_type: Clients = "NoClientCert"
    client_ca: str | None = None
    client_ca_file: Path | None = None
    client_allowed_sans: list[str] | None = Field(default=None, min_length=1)
    """The names, addresses, e-mail addresses or URIs of which a client's certificate needs one."""
    min_version: Version = "TLS12"
    max_version: Version = "TLS13"
    cipher_suites: list[Cipher] = []
    """Go's names, for TLS 1.2; those of TLS 1.3 cannot be chosen, neither here nor in Go."""
    curve_preferences: Annotated[list[Curve], AfterValidator(check_curves)] = []
    prefer_server_cipher_suites: bool = True

    @property
    def requires_certificates(self) -> bool:
        """Whether every client needs a certificate."""
        return CLIENTS[self.client_auth_type] is ssl.CERT_REQUIRED


class Headers(IgnoresBlanks):
    """The headers that may be added to every answer."""

    content_security_policy: HeaderValue | None = Field(default=None, alias="Content-Security-Policy")
    x_frame_options: Literal["deny", "sameorigin"] | None = Field(default=None, alias="X-Frame-Options")
    x_content_type_options: Literal["nosniff"] | None = Field(default=None, alias="X-Content-Type-Options")
    x_xss_protection: HeaderValue | None = Field(default=None, alias="X-XSS-Protection")
    strict_transport_security: HeaderValue | None = Field(default=None, alias="Strict-Transport-Security")


class Http(IgnoresBlanks):
    http2: bool = True
    """Accepted for the toolkit's sake: the exporter speaks HTTP/1.1, which every client of HTTP/2 does too."""
    headers: Headers = Headers()


class RateLimit(IgnoresBlanks):
    """How many requests there may be, of all clients together; as many more with passwords that were right before."""

    interval: IntervalOrNone = None
    """The time between two requests in the long run; 0 means no limit."""
    burst: int = Field(default=0, ge=0)
    """How many requests may come at once."""

    @model_validator(mode="after")
    def _lets_somebody_in(self) -> Self:
        if self.interval and not self.burst:
            raise ValueError("burst must be 1 or more, else no request is accepted")
        return self


class WebConfig(IgnoresBlanks):
    """The whole file."""

    tls_server_config: Tls | None = None
    http_server_config: Http = Http()
    basic_auth_users: dict[UserName, Annotated[SecretStr, AfterValidator(check_hash)]] = {}
    """bcrypt hashes of passwords, by user; without users no password is needed."""
    rate_limit: RateLimit = RateLimit()


def files(tree: Tree, path: Path) -> list[Path]:
    """Return the files that the tree of the file at `path` names, whatever else is wrong with it."""
    tls = tree.get("tls_server_config")
    return [path.parent / str(tls[key]) for key in FILES if tls.get(key)] if isinstance(tls, dict) else []


def check(tree: Tree, path: Path) -> tuple[WebConfig, ssl.SSLContext | None]:
    """Return the settings of the file at `path`, and their TLS, if any. Raises WrongConfiguration with every error."""
    config, errors = validate(WebConfig, tree, ())
    context = None
    if isinstance(written := tree.get("tls_server_config"), dict):
        errors += tls_errors(without_blanks(written), path.parent)
    if config and config.tls_server_config and not errors:
        context, errors = make_context(config.tls_server_config, path.parent)
    if errors or config is None:
        raise WrongConfiguration([f"{path}: {'.'.join(place)}: {text}" for place, text in errors])
    return config, context


def tls_errors(written: Tree, folder: Path) -> Iterator[ConfigError]:
    """Give an error for settings that do not fit together, or for files they name."""
    place = ("tls_server_config",)
    for key in ("cert", "key"):
        if len({key, f"{key}_file"} & written.keys()) != 1:
            yield (*place, key), f"needs exactly one of {key} and {key}_file"
    authorities = {"client_ca", "client_ca_file"} & written.keys()
    if len(authorities) > 1:
        yield (*place, "client_ca"), "needs only one of client_ca and client_ca_file"
    clients = str(written.get("client_auth_type", "NoClientCert"))
    if authorities and CLIENTS.get(clients) is ssl.CERT_NONE:
        yield (*place, "client_auth_type"), "does not use client_ca; write RequireAndVerifyClientCert"
    if "client_allowed_sans" in written and clients != "RequireAndVerifyClientCert":
        yield (*place, "client_allowed_sans"), "needs client_auth_type: RequireAndVerifyClientCert"
    if written.get("min_version") == "TLS13" and written.get("max_version") == "TLS12":
        yield (*place, "min_version"), "is above max_version"
    suites = written.get("cipher_suites")
    only_13 = isinstance(suites, list) and {*map(str, suites)} <= {*CIPHERS_OF_TLS13}
    if only_13 and written.get("min_version") != "TLS13":
        yield (*place, "cipher_suites"), "has none for TLS 1.2; add one, or write min_version: TLS13"
    for key in [key for key in FILES if key in written]:
        try:
            read(folder / str(written[key]))
        except OSError as error:
            yield (*place, key), f"{written[key]} cannot be read ({error.strerror})"


def make_context(tls: Tls, folder: Path) -> tuple[ssl.SSLContext, list[ConfigError]]:
    """Return the TLS of new connections, and what of it cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version, context.maximum_version = VERSIONS[tls.min_version], VERSIONS[tls.max_version]
    if suites := [CIPHERS[name] for name in tls.cipher_suites if name in CIPHERS]:
        context.set_ciphers(":".join(suites))
    for name in tls.curve_preferences:
        context.set_ecdh_curve(CURVES[name])
    if not tls.prefer_server_cipher_suites:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    errors: list[ConfigError] = []
    key = tls.key.get_secret_value() if tls.key else None
    with as_file(tls.cert, tls.cert_file, folder) as cert_file, as_file(key, tls.key_file, folder) as key_file:
        try:
            context.load_cert_chain(cert_file, key_file, password="")  # without one OpenSSL would ask on the terminal
        except OSError:
            text = "is not a PEM certificate, or its key is not a PEM key, or has a password"
            errors.append((("tls_server_config", "cert" if tls.cert else "cert_file"), text))
    context.verify_mode = CLIENTS[tls.client_auth_type]
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as in Go, whose authorities need not be roots
    if tls.client_ca or tls.client_ca_file:
        with as_file(tls.client_ca, tls.client_ca_file, folder) as file:
            try:
                context.load_verify_locations(file)
            except OSError:
                place = ("tls_server_config", "client_ca" if tls.client_ca else "client_ca_file")
                errors.append((place, "contains no PEM certificate"))
    elif context.verify_mode:
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)  # the machine's authorities, as in Go
    return context, errors


@contextmanager
def as_file(text: str | None, file: Path | None, folder: Path) -> Iterator[Path]:
    """Lend a file's path, or one under which `text` can be read: Python reads keys from nowhere else."""
    if file:
        yield folder / file
    elif sys.platform == "linux":  # in memory: no key meets a disk, and the disk may be read-only
        with open(os.memfd_create("pem"), "w+", encoding="utf-8") as memory:
            memory.write(text or "")
            memory.flush()
            yield Path(f"/proc/self/fd/{memory.fileno()}")
    else:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as disk:
            disk.write(text or "")
            disk.flush()
            yield Path(disk.name)
