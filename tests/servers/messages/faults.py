"""The API's errors: status, type, message and body."""

from typing import Any, NamedTuple


class Fault(NamedTuple):
    """An error of the API."""

    status: int
    kind: str
    text: str

    def body(self, request_id: str | None) -> dict[str, Any]:
        error = {"type": self.kind, "message": self.text}
        return {"type": "error", "error": error, "request_id": request_id}


FAULTS = {
    "bad_request": Fault(400, "invalid_request_error", "messages: text content blocks must be non-empty"),
    "no_structured_outputs": Fault(400, "invalid_request_error", "output_config.format: not supported by this model"),
    "no_credit": Fault(400, "invalid_request_error", "Your credit balance is too low to access the API."),
    "unauthorized": Fault(401, "authentication_error", "invalid x-api-key"),
    "forbidden": Fault(403, "permission_error", "Your API key does not have permission to use the specified resource."),
    "not_found": Fault(404, "not_found_error", "model: no-such-model"),
    "too_large": Fault(413, "request_too_large", "Request exceeds the maximum size"),
    "rate_limited": Fault(429, "rate_limit_error", "This request would exceed your organization's rate limit"),
    "server_error": Fault(500, "api_error", "Internal server error"),
    "overloaded": Fault(529, "overloaded_error", "Overloaded"),
}


def bad_request(text: str) -> Fault:
    return Fault(400, "invalid_request_error", text)
