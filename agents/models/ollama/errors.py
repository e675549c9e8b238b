"""Translates errors of an Ollama server: retry, reject the slice, or stop for a wrong configuration."""

import httpx
import msgspec
from msgspec import Struct

from agents.privacy.scrub import scrub
from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable

# Characters shown of the server's message, which may echo the request.
DETAIL_CHARS = 300
UNAUTHORISED = frozenset({401, 403})
WRONG_ADDRESS = frozenset({404, 405})
# Ollama answers 499 if a request was cancelled while its model was loading.
TRANSIENT = frozenset({408, 425, 429, 499})
# The messages of Ollama since 0.12.6, and of llama-server in newer versions.
TOO_LONG_MESSAGES = ("exceeds the context length", "exceed_context_size_error", "exceeds the available context size")


class ErrorBody(Struct, frozen=True):
    """The body of an error response."""

    error: str


def connection_error(error: httpx.HTTPError | httpx.InvalidURL, where: str) -> MemstreamError:
    """The error to raise for a request without a response."""
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return Misconfigured(
            f"{detail(where)!r} is not the address of an Ollama server: write it like http://127.0.0.1:11434"
        )
    server_message = detail(str(error) or type(error).__name__)
    return Retryable(f"Ollama could not be reached at {where}: {server_message}; is `ollama serve` running?")


def status_error(status: int, body: bytes, model: str, where: str) -> MemstreamError:
    """The error to raise for a response with a status other than 200."""
    server_message = detail(error_message(body))
    if is_too_long(server_message):
        return too_large(server_message)
    if status == 404 and "model" in server_message:
        return model_missing(model, where, server_message)
    if status in WRONG_ADDRESS or status < 400:
        return Misconfigured(f"{where} answered {status}: is it the address of an Ollama server? ({server_message})")
    if status in UNAUTHORISED:
        return Misconfigured(f"Ollama answered {status}: choose a model that runs on this server ({server_message})")
    if "does not support" in server_message:
        return Misconfigured(f"the model {model!r} cannot answer a chat: choose one that can ({server_message})")
    if status in TRANSIENT or status >= 500:
        return Retryable(f"Ollama answered {status}", server_message)
    return Rejected("refused_request", f"Ollama answered {status}: {server_message}")


def model_missing(model: str, where: str, server_message: str = "") -> Misconfigured:
    remedy = f"Ollama at {where} has no model {model!r}: run `ollama pull {model}`"
    return Misconfigured(f"{remedy} ({server_message})" if server_message else remedy)


def is_too_long(server_message: str) -> bool:
    return any(words in server_message for words in TOO_LONG_MESSAGES)


def too_large(server_message: str) -> Rejected:
    return Rejected(
        "too_large", f"the slice does not fit the model's window: lower the policy's slice_tokens ({server_message})"
    )


def error_message(body: bytes) -> str:
    """Ollama's error message, or the whole body."""
    try:
        return msgspec.json.decode(body, type=ErrorBody).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode(errors="replace")


def detail(server_message: str) -> str:
    return scrub(server_message).text[:DETAIL_CHARS]
