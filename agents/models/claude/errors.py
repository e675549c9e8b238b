"""Translates errors of Anthropic's SDK: retry, reject the slice, or stop for a wrong configuration."""

import anthropic

from agents.models.calls.rate_limits import RateLimited
from agents.models.claude.rate_limits import allowances, retry_after_s
from agents.privacy.scrub import scrub
from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable

# Characters shown of the server's message, which may echo the request.
DETAIL_CHARS = 300
UNAUTHORISED = {
    401: "the key was not accepted: check ANTHROPIC_API_KEY",
    403: "the key may not use this model or endpoint",
}
TRANSIENT = frozenset({402, 408, 409, 425})


def translated(error: anthropic.AnthropicError, model: str) -> MemstreamError:
    """The error to raise instead of `error`."""
    if isinstance(error, anthropic.APIStatusError):
        return status_error(error, model)
    if isinstance(error, anthropic.APIConnectionError):
        return Retryable(f"Claude could not be reached: {detail(error)}")
    if isinstance(error, anthropic.APIResponseValidationError):
        return Retryable("Claude's answer was no Messages response", detail(error))
    return Misconfigured(f"the Anthropic client cannot make a request: {detail(error)}")


def status_error(error: anthropic.APIStatusError, model: str) -> MemstreamError:
    status, server_message, headers = error.status_code, detail(error), error.response.headers
    if status == 429:
        return RateLimited("Claude answered 429", retry_after_s(headers), allowances(headers), said=server_message)
    if status < 400:
        return Misconfigured(f"Claude answered {status}: is this the address of the API? ({server_message})")
    if status in UNAUTHORISED:
        return Misconfigured(f"Claude answered {status}: {UNAUTHORISED[status]} ({server_message})")
    if status == 404:
        return Misconfigured(f"Claude answered 404: is there a model {model!r} at this address? ({server_message})")
    if status in TRANSIENT or status >= 500 or is_billing_error(server_message):
        return Retryable(f"Claude answered {status}", server_message)
    if status == 400 and "output_config" in server_message:
        return Misconfigured(f"the model {model!r} has no structured outputs, choose one that has ({server_message})")
    if status == 400 and is_about_thinking(server_message):
        return Misconfigured(
            f"the model {model!r} cannot be asked without thinking, choose one that can ({server_message})"
        )
    return Rejected("too_large" if status == 413 else "refused_request", f"Claude answered {status}: {server_message}")


def is_about_thinking(server_message: str) -> bool:
    return "thinking." in server_message or "thinking:" in server_message


def is_billing_error(server_message: str) -> bool:
    """Whether the account is empty. The API reports a bad request, but the slice is valid and waits."""
    return "credit balance" in server_message


def detail(error: anthropic.AnthropicError) -> str:
    """The server's message, and the request id for Anthropic's support."""
    request_id = error.request_id if isinstance(error, anthropic.APIStatusError) else None
    server_message = scrub(str(error)).text[:DETAIL_CHARS]
    return (
        f"{server_message}, request {request_id}" if request_id and request_id not in server_message else server_message
    )
