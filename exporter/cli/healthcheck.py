"""`canton-exporter health`: asks the exporter that runs with the same flags whether it lives, for who has no curl.

A container starts it every few seconds, so it imports nothing that takes long.
"""

import http.client
import ssl
import sys

from exporter.config.flag_types import Address
from exporter.config.flags import Flags, variable

TIMEOUT_SECONDS = 3.0
"""How long to wait for each connection and each answer."""
EVERY_INTERFACE = {None: "localhost", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where to ask, not to listen
FORBIDDEN = 403


def health(flags: Flags) -> int:
    """Return 0 if the exporter lives, else 1 and say on standard error why it seems not to."""
    trouble = check_health(flags)
    if trouble:
        print(f"canton-exporter: {trouble}", file=sys.stderr)
    return 1 if trouble else 0


def check_health(flags: Flags) -> str:
    """Return what is the matter, or nothing: an exporter that listens on several addresses is asked on the first."""
    address = flags.web_listen_address[0]
    host = EVERY_INTERFACE.get(address.host) or str(address.host)
    where = str(Address(host, address.port))
    if address.port == 0:
        return f"{where} is a random free port; set a fixed one with --web.listen-address"
    try:
        status = get_status(
            host, address.port, f"{flags.prefix}/-/healthy", may_be_tls=flags.web_config_file is not None
        )
    except (OSError, http.client.HTTPException) as error:
        told = (error.strerror or str(error)) if isinstance(error, OSError) else "the answer is not HTTP"
        return f"no exporter answers on {where}: {told}; if it listens elsewhere, set {variable('web.listen-address')}"
    return f"the exporter on {where} answers {status}; see its log" if status >= 500 else ""


def get_status(host: str, port: int, path: str, *, may_be_tls: bool) -> int:
    """Return the status of the answer. Raises OSError or HTTPException if there is none.

    Whether it speaks TLS is found out by asking: the file may say by now what only a restart would put in force.
    """
    try:
        return status_of(http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS), path)
    except (http.client.HTTPException, ConnectionResetError, BrokenPipeError):
        if not may_be_tls:
            raise
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # it asks itself
    try:
        return status_of(http.client.HTTPSConnection(host, port, timeout=TIMEOUT_SECONDS, context=context), path)
    except (ssl.SSLError, http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
        # It wants a certificate. Python's servers hang up without the alert that would say so; one that hangs would
        # not even do that.
        return FORBIDDEN


def status_of(connection: http.client.HTTPConnection, path: str) -> int:
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()
