"""The errors of the ledger API (JsCantonError), and which of them a bare status stands for."""

from dataclasses import dataclass, field
from typing import Any

REDACTED = "A security-sensitive error has been received"


@dataclass(eq=False)
class CantonError(Exception):
    status: int
    code: str
    cause: str
    category: int
    grpc: int
    context: dict[str, str] = field(default_factory=dict)
    retry: str | None = None

    def body(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "cause": self.cause,
            "correlationId": None,
            "traceId": "77aa",
            "context": self.context,
            "resources": [],
            "errorCategory": self.category,
            "grpcCodeValue": self.grpc,
            "retryInfo": self.retry,
            "definiteAnswer": None if self.category < 0 else False,
        }


def invalid_argument(cause: str) -> CantonError:
    return CantonError(
        400, "INVALID_ARGUMENT", f"The submitted request has invalid arguments: {cause}", category=8, grpc=3
    )


def error_of(status: int) -> CantonError:
    """A plausible error for a status that nothing in the request explains."""
    match status:
        case 400:
            return invalid_argument("Expected something else.")
        case 401:
            return CantonError(401, "NA", REDACTED, -1, 16, context={"ledger_api_error": "invalid token"})
        case 403:
            return CantonError(403, "NA", REDACTED, -1, 7)
        case 501:
            return CantonError(501, "UNSUPPORTED_OPERATION", "The operation is not supported.", 14, 12)
        case 503:
            return CantonError(503, "SERVER_IS_SHUTTING_DOWN", "Server is shutting down", 1, 14, retry="1 second")
        case _:
            cause = "An error occurred. Please contact the operator."
            return CantonError(status, "LEDGER_API_INTERNAL_ERROR", cause, 4, 13)
