"""Requests to the HTTP endpoint of a model: retries with jitter, and errors translated to memstream's."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from schemas.addresses import is_loopback
from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable

T = TypeVar("T")

CONNECT_S: Final = 5.0
ATTEMPTS: Final = 3
MAX_WAIT_S: Final = 20.0  # after a longer Retry-After the caller retries, as it holds records meanwhile
DETAIL_CHARS: Final = 300
REFUSED: Final = frozenset({401, 403})
WRONG_ADDRESS: Final = frozenset({404, 405})
TRANSIENT: Final = frozenset({408, 425, 429, 499})
SIZE_STATUSES: Final = frozenset({400, 413, 422, 500})  # llama.cpp's server returns 500 for a text that is too long
# Error texts of OpenAI, vLLM, Text Embeddings Inference, Voyage, Ollama and llama.cpp for too many texts or a text too long.
TOO_LARGE: Final = re.compile(
    r"context (?:length|size)|batch size|must have less than|too (?:large|long|many)|larger than|exceeds|max(?:imum)? allowed",
    re.IGNORECASE,
)
backoff = wait_random_exponential(multiplier=0.5, max=8.0)


class TransientFailure(Retryable):
    """A failure that may be over in seconds; `after_s` is the server's Retry-After in seconds."""

    def __init__(self, message: str, after_s: float = 0.0, said: str = "") -> None:
        super().__init__(message, said)
        self.after_s = after_s


class TooLarge(Rejected):
    """The server refuses the request for its size: fewer or shorter texts would fit."""


class Endpoint:
    """`base_url` is the part before the path; `api_key` is sent as a bearer token and appears in no message.

    Raises Misconfigured for an invalid `base_url`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout_s: float = 60.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._clock = clock
        self._client = client(base_url, api_key, timeout_s)
        self.where = str(self._client.base_url.copy_with(username="", password="")).rstrip("/")
        self._retrying = AsyncRetrying(
            retry=retry_if_exception_type(TransientFailure),
            stop=stop_after_attempt(ATTEMPTS),
            wait=pause_s,
            sleep=sleep,
            reraise=True,
        )

    async def post(self, path: str, body: dict[str, Any], read: Callable[[object], T]) -> T:
        """Posts a JSON body and returns what `read` makes of the JSON of the answer. A ValueError of `read` means an invalid
        answer.

        Raises Retryable after ATTEMPTS or a Retry-After above MAX_WAIT_S, Misconfigured for a wrong key, model or
        address, TooLarge, and Rejected `unembeddable` for any other refusal.
        """
        return await self._retrying(self._post, path, body, read)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _post(self, path: str, body: dict[str, Any], read: Callable[[object], T]) -> T:
        try:
            response = await self._client.post(path, json=body)
        except httpx.HTTPError as exc:
            raise TransientFailure(f"no answer from {self.where}: {str(exc) or type(exc).__name__}") from exc
        if response.status_code != httpx.codes.OK:
            raise self._refusal(response)
        try:
            return read(json.loads(response.content))
        except ValueError as exc:
            raise TransientFailure(f"{self.where} returned something other than vectors", said=str(exc)) from exc

    def _refusal(self, response: httpx.Response) -> MemstreamError:
        status, text = response.status_code, error_text(response.content)
        answer_text = f"{self.where} answered {status}"
        if status in REFUSED:  # the error text may repeat the key
            return Misconfigured(f"{answer_text}: set MEMSTREAM_EMBEDDER_API_KEY to a key that it accepts")
        if status in WRONG_ADDRESS or status < 400:
            return Misconfigured(
                f"{answer_text}: the model or the address does not exist ({text}); "
                "correct MEMSTREAM_EMBEDDER_MODEL or MEMSTREAM_EMBEDDER_BASE_URL"
            )
        if status == 413 or (status in SIZE_STATUSES and TOO_LARGE.search(text)):
            return TooLarge("unembeddable", f"{answer_text}: {text}")
        if status in TRANSIENT or status >= 500:
            after_s = retry_after_s(response.headers.get("retry-after"), self._clock())
            kind = TransientFailure(answer_text, after_s, text)
            return kind if after_s <= MAX_WAIT_S else Retryable(f"{answer_text}, wait {after_s:.0f} s", text)
        return Rejected("unembeddable", f"{answer_text}: {text}")


def client(base_url: str, api_key: str | None, timeout_s: float) -> httpx.AsyncClient:
    shown = base_url.rpartition("@")[2]  # the shown address has no password
    wrong = Misconfigured(
        f"MEMSTREAM_EMBEDDER_BASE_URL={shown!r} is not an HTTP address: use a form like http://host:port/v1"
    )
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
    try:
        named = urlsplit(base_url).hostname
        # With a proxy from the environment, texts for the loopback address would go to the proxy.
        trusting = not is_loopback(base_url)
        made = httpx.AsyncClient(base_url=base_url, headers=headers, timeout=timeout, trust_env=trusting)
    except (httpx.InvalidURL, ValueError) as exc:
        raise wrong from exc
    if made.base_url.scheme not in ("http", "https") or not named:
        raise wrong
    return made


def pause_s(state: RetryCallState) -> float:
    """Seconds before the next attempt: exponential with jitter, in addition to the server's Retry-After."""
    error = state.outcome.exception() if state.outcome else None
    return backoff(state) + (error.after_s if isinstance(error, TransientFailure) else 0.0)


def retry_after_s(header: str | None, now: datetime) -> float:
    """The seconds of a Retry-After header, also if it is a date; 0 if it is missing or illegible."""
    if header is None:
        return 0.0
    try:
        if header.strip().isdigit():
            return float(header)
        until = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    return max(0.0, ((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds())


def error_text(body: bytes) -> str:
    """The server's error text, truncated: `error`, `detail` or the `message` within them, else the whole body."""
    try:
        said = json.loads(body)
    except ValueError:
        said = body.decode(errors="replace")
    for name in ("error", "detail", "message"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return (said if isinstance(said, str) else json.dumps(said))[:DETAIL_CHARS]
