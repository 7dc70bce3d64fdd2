"""What aiohttp ran into, in our words; its own would name the url, whose query may be a secret."""

import os
import ssl

import aiohttp
from aiohttp.http_exceptions import BadHttpMessage, ContentEncodingError

from exporter.errors import Failed, Malformed, NotHttp, TimedOut, Unreachable
from exporter.node.redaction import Redaction


def explain(error: Exception, operation: str, host: str, limit: float, redact: Redaction) -> Failed:  # noqa: C901, PLR0911 - a table of what can happen
    """Return what an exception of a request to `host` means; `operation` is its method and route."""
    match error:
        case TimeoutError():
            return TimedOut(f"{operation}: no answer within {limit:.3g} s")
        case aiohttp.ClientConnectorCertificateError():
            reason = getattr(error.certificate_error, "verify_message", "") or str(error.certificate_error)
            return Unreachable(
                f"{operation}: the certificate of {error.host}:{error.port} is not trusted: {reason}", "tls"
            )
        case aiohttp.ClientConnectorSSLError():
            return Unreachable(
                f"{operation}: TLS with {error.host}:{error.port} failed: {error.os_error.reason}", "tls"
            )
        case aiohttp.ClientConnectorDNSError() | UnicodeError():
            return Unreachable(f"{operation}: the name {host} does not resolve", "dns")
        case aiohttp.ClientConnectorError():
            number = error.os_error.errno
            reason = os.strerror(number) if number and number > 0 else str(error.os_error) or "it was cut off"
            return Unreachable(f"{operation}: no connection to {error.host}:{error.port}: {reason}")
        case aiohttp.ClientOSError() if isinstance(error.__cause__, ssl.SSLError):
            # With TLS 1.3 a node that wants a client certificate refuses only after the handshake.
            return Unreachable(f"{operation}: the node ended the TLS connection: {error.__cause__.reason}", "tls")
        case aiohttp.ClientPayloadError() if isinstance(error.__cause__, ContentEncodingError):
            return Malformed(f"{operation}: the answer does not match its Content-Encoding")
        case aiohttp.ClientPayloadError() if type(error.__cause__) is BadHttpMessage:  # ours: aiohttp's are subclasses
            return Malformed(f"{operation}: {error.__cause__.message}")
        case aiohttp.ClientPayloadError():
            return Unreachable(f"{operation}: the connection closed before the end of the answer")
        case aiohttp.ClientHttpProxyError():
            return Unreachable(f"{operation}: the proxy refuses to connect: {error.status}")
        case aiohttp.ClientResponseError():
            return NotHttp(f"{operation}: the answer is not HTTP: {redact(' '.join(error.message.split()))[:200]}")
        case _:
            return Unreachable(f"{operation}: the connection was closed before an answer came")
