"""What the Anthropic SDK raises, in memstream's words: wait, give this slice up, or stop and mend the configuration."""

import anthropic

from agents.models.calls.rate_limits import RateLimited
from agents.models.claude.rate_limits import allowances, retry_after_s
from agents.privacy.scrub import scrub
from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable

# Enough of the server's words to act upon; they may echo the request.
DETAIL_CHARS = 300
UNAUTHORISED = {
    401: "the key was not accepted: check ANTHROPIC_API_KEY",
    403: "the key may not use this model or endpoint",
}
TRANSIENT = frozenset({402, 408, 409, 425})


def translated(error: anthropic.AnthropicError, model: str) -> MemstreamError:
    """The error to raise from `error`."""
    if isinstance(error, anthropic.APIStatusError):
        return of_status(error, model)
    if isinstance(error, anthropic.APIConnectionError):
        return Retryable(f"Claude could not be reached: {detail(error)}")
    if isinstance(error, anthropic.APIResponseValidationError):
        return Retryable("Claude's answer was no Messages response", detail(error))
    return Misconfigured(f"the Anthropic client cannot make a request: {detail(error)}")


def of_status(error: anthropic.APIStatusError, model: str) -> MemstreamError:
    status, said, headers = error.status_code, detail(error), error.response.headers
    if status == 429:
        return RateLimited("Claude answered 429", retry_after_s(headers), allowances(headers), said=said)
    if status < 400:
        return Misconfigured(f"Claude answered {status}: is this the address of the API? ({said})")
    if status in UNAUTHORISED:
        return Misconfigured(f"Claude answered {status}: {UNAUTHORISED[status]} ({said})")
    if status == 404:
        return Misconfigured(f"Claude answered 404: is there a model {model!r} at this address? ({said})")
    if status in TRANSIENT or status >= 500 or is_billing_error(said):
        return Retryable(f"Claude answered {status}", said)
    if status == 400 and "output_config" in said:
        return Misconfigured(f"the model {model!r} has no structured outputs, choose one that has ({said})")
    if status == 400 and is_about_thinking(said):
        return Misconfigured(f"the model {model!r} cannot be asked without thinking, choose one that can ({said})")
    return Rejected("too_large" if status == 413 else "refused_request", f"Claude answered {status}: {said}")


def is_about_thinking(said: str) -> bool:
    return "thinking." in said or "thinking:" in said


def is_billing_error(said: str) -> bool:
    """An empty account is told as a bad request, yet the slice is not at fault: it waits until the account is filled."""
    return "credit balance" in said


def detail(error: anthropic.AnthropicError) -> str:
    """What the server said, and the request's id for its support."""
    request_id = error.request_id if isinstance(error, anthropic.APIStatusError) else None
    said = scrub(str(error)).text[:DETAIL_CHARS]
    return f"{said}, request {request_id}" if request_id and request_id not in said else said
