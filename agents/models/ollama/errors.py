"""What an Ollama server answers when it fails, in memstream's words: wait, give this slice up, or stop and mend the set-up."""

import httpx
import msgspec
from msgspec import Struct

from agents.privacy.scrub import scrub
from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable

# Enough of the server's words to act upon; they may echo the request.
DETAIL_CHARS = 300
UNAUTHORISED = frozenset({401, 403})
ELSEWHERE = frozenset({404, 405})
# 499 is what Ollama answers when a request was cancelled while its model loaded.
TRANSIENT = frozenset({408, 425, 429, 499})
# Since 0.12.6; and as llama-server words it, which answers in newer versions.
OVERLONG = ("exceeds the context length", "exceed_context_size_error", "exceeds the available context size")


class Fault(Struct, frozen=True):
    """The body of every answer that is no success."""

    error: str


def connection_error(error: httpx.HTTPError | httpx.InvalidURL, where: str) -> MemstreamError:
    """The error to raise for a request without an answer."""
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return Misconfigured(
            f"{detail(where)!r} is no address of an Ollama server: write it like http://127.0.0.1:11434"
        )
    said = detail(str(error) or type(error).__name__)
    return Retryable(f"Ollama could not be reached at {where}: {said}; is `ollama serve` running?")


def of_status(status: int, body: bytes, model: str, where: str) -> MemstreamError:
    """The error to raise for an answer with a status other than 200."""
    said = detail(fault_of(body))
    if is_overlong(said):
        return too_large(said)
    if status == 404 and "model" in said:
        return model_missing(model, where, said)
    if status in ELSEWHERE or status < 400:
        return Misconfigured(f"{where} answered {status}: is it the address of an Ollama server? ({said})")
    if status in UNAUTHORISED:
        return Misconfigured(f"Ollama answered {status}: choose a model that runs on this server ({said})")
    if "does not support" in said:
        return Misconfigured(f"the model {model!r} cannot answer a chat: choose one that can ({said})")
    if status in TRANSIENT or status >= 500:
        return Retryable(f"Ollama answered {status}", said)
    return Rejected("refused_request", f"Ollama answered {status}: {said}")


def model_missing(model: str, where: str, said: str = "") -> Misconfigured:
    remedy = f"Ollama at {where} has no model {model!r}: run `ollama pull {model}`"
    return Misconfigured(f"{remedy} ({said})" if said else remedy)


def is_overlong(said: str) -> bool:
    return any(words in said for words in OVERLONG)


def too_large(said: str) -> Rejected:
    return Rejected("too_large", f"the slice does not fit the model's window: lower the policy's slice_tokens ({said})")


def fault_of(body: bytes) -> str:
    """Ollama's own message, or whatever else stands in the body."""
    try:
        return msgspec.json.decode(body, type=Fault).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode(errors="replace")


def detail(said: str) -> str:
    return scrub(said).text[:DETAIL_CHARS]
