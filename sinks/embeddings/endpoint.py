"""Requests to a model's HTTP endpoint: retried with jitter, and its errors in memstream's words."""

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
LONGEST_WAIT_S: Final = 20.0  # who is told to wait longer tries again later: its caller holds records meanwhile
DETAIL_CHARS: Final = 300
REFUSED: Final = frozenset({401, 403})
ELSEWHERE: Final = frozenset({404, 405})
TRANSIENT: Final = frozenset({408, 425, 429, 499})
TELLS_LENGTH: Final = frozenset({400, 413, 422, 500})  # llama.cpp's server answers 500
# Too many texts at once or a text too long, as OpenAI, vLLM, Text Embeddings Inference, Voyage, Ollama and llama.cpp put it.
TOO_LARGE: Final = re.compile(
    r"context (?:length|size)|batch size|must have less than|too (?:large|long|many)|larger than|exceeds|max(?:imum)? allowed",
    re.IGNORECASE,
)
backoff = wait_random_exponential(multiplier=0.5, max=8.0)


class Passing(Retryable):
    """A failure that may be over in seconds; `after_s` is how long the server asks to be left alone."""

    def __init__(self, message: str, after_s: float = 0.0, said: str = "") -> None:
        super().__init__(message, said)
        self.after_s = after_s


class TooLarge(Rejected):
    """Fewer or shorter texts would be embedded."""


class Endpoint:
    """`base_url` is what stands before the paths; `api_key` goes out as a bearer token and into no message.

    Raises Misconfigured for a `base_url` that is none.
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
            retry=retry_if_exception_type(Passing),
            stop=stop_after_attempt(ATTEMPTS),
            wait=pause_s,
            sleep=sleep,
            reraise=True,
        )

    async def post(self, path: str, body: dict[str, Any], read: Callable[[object], T]) -> T:
        """What `read` makes of the answer's JSON; ValueError of it means that this is no answer.

        Raises Retryable after ATTEMPTS or when asked to wait longer than LONGEST_WAIT_S, Misconfigured for a wrong key,
        model or address, TooLarge, and Rejected `unembeddable` for what else is refused.
        """
        return await self._retrying(self._post, path, body, read)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _post(self, path: str, body: dict[str, Any], read: Callable[[object], T]) -> T:
        try:
            response = await self._client.post(path, json=body)
        except httpx.HTTPError as exc:
            raise Passing(f"no answer from {self.where}: {str(exc) or type(exc).__name__}") from exc
        if response.status_code != httpx.codes.OK:
            raise self._refusal(response)
        try:
            return read(json.loads(response.content))
        except ValueError as exc:
            raise Passing(f"{self.where} answered with something else than vectors", said=str(exc)) from exc

    def _refusal(self, response: httpx.Response) -> MemstreamError:
        status, said = response.status_code, told(response.content)
        answered = f"{self.where} answered {status}"
        if status in REFUSED:  # its words may repeat the key
            return Misconfigured(f"{answered}: set MEMSTREAM_EMBEDDER_API_KEY to a key that it accepts")
        if status in ELSEWHERE or status < 400:
            return Misconfigured(
                f"{answered}: there is no such model or no such address ({said}); "
                "mend MEMSTREAM_EMBEDDER_MODEL or MEMSTREAM_EMBEDDER_BASE_URL"
            )
        if status == 413 or (status in TELLS_LENGTH and TOO_LARGE.search(said)):
            return TooLarge("unembeddable", f"{answered}: {said}")
        if status in TRANSIENT or status >= 500:
            after_s = retry_after_s(response.headers.get("retry-after"), self._clock())
            kind = Passing(answered, after_s, said)
            return kind if after_s <= LONGEST_WAIT_S else Retryable(f"{answered}, wait {after_s:.0f} s", said)
        return Rejected("unembeddable", f"{answered}: {said}")


def client(base_url: str, api_key: str | None, timeout_s: float) -> httpx.AsyncClient:
    shown = base_url.rpartition("@")[2]  # without a password
    wrong = Misconfigured(f"MEMSTREAM_EMBEDDER_BASE_URL={shown!r} is no address: write it like http://host:port/v1")
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
    try:
        named = urlsplit(base_url).hostname
        # A proxy of the environment would be asked for the loopback address, and be sent the texts.
        trusting = not is_loopback(base_url)
        made = httpx.AsyncClient(base_url=base_url, headers=headers, timeout=timeout, trust_env=trusting)
    except (httpx.InvalidURL, ValueError) as exc:
        raise wrong from exc
    if made.base_url.scheme not in ("http", "https") or not named:
        raise wrong
    return made


def pause_s(state: RetryCallState) -> float:
    """Jittered and growing, on top of what the server asks for."""
    error = state.outcome.exception() if state.outcome else None
    return backoff(state) + (error.after_s if isinstance(error, Passing) else 0.0)


def retry_after_s(header: str | None, now: datetime) -> float:
    """The header's seconds, or those until its date; 0 when it says nothing legible."""
    if header is None:
        return 0.0
    try:
        if header.strip().isdigit():
            return float(header)
        until = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    return max(0.0, ((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds())


def told(body: bytes) -> str:
    """The server's own words, cut short: `error` or `detail`, `message` within them, or whatever else stands there."""
    try:
        said = json.loads(body)
    except ValueError:
        said = body.decode(errors="replace")
    for name in ("error", "detail", "message"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return (said if isinstance(said, str) else json.dumps(said))[:DETAIL_CHARS]
