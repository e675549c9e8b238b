"""A reranker behind an HTTP endpoint. It is called once without retries: search can do without it."""

import asyncio
import json
from collections.abc import Sequence
from itertools import chain
from typing import Final

import httpx

from schemas.addresses import is_loopback
from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable
from sinks.reranking.dialects import Dialect

MOST_CHARS: Final = 4_000  # about 1,000 tokens of English; longer texts are truncated
DETAIL_CHARS: Final = 300
REFUSED: Final = frozenset({401, 403})
ELSEWHERE: Final = frozenset({404, 405})


class RemoteReranker:
    """`base_url` is the part before the dialect's path; `api_key` is sent as a bearer token and appears in no message.

    Raises Misconfigured for an invalid `base_url`.
    """

    def __init__(
        self, dialect: Dialect, base_url: str, model: str | None, api_key: str | None, *, timeout_s: float
    ) -> None:
        self._dialect = dialect
        self._model = model
        self._client = client(base_url, api_key, timeout_s)
        self._where = str(self._client.base_url.copy_with(username="", password="")).rstrip("/")

    async def scores(self, query: str, texts: Sequence[str], namespaces: Sequence[str]) -> list[float]:
        """Scores in the order of the texts. Raises Retryable, Misconfigured for a wrong key, model or address, and Rejected
        for any other refusal."""
        size = self._dialect.batch
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        return list(chain.from_iterable(await asyncio.gather(*(self._scores(query, batch) for batch in batches))))

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        body = self._dialect.request(self._model, query, [text[:MOST_CHARS] for text in texts])
        try:
            response = await self._client.post(self._dialect.path, json=body)
        except httpx.HTTPError as exc:
            raise Retryable(f"no answer from {self._where}: {str(exc) or type(exc).__name__}") from exc
        if response.status_code != httpx.codes.OK:
            raise self._refusal(response)
        try:
            return self._dialect.scores(json.loads(response.content), len(texts))
        except ValueError as exc:
            raise Retryable(f"{self._where} returned something other than scores", said=str(exc)) from exc

    def _refusal(self, response: httpx.Response) -> MemstreamError:
        status, detail = response.status_code, response.text[:DETAIL_CHARS]
        answer_text = f"{self._where} answered {status}"
        if status in REFUSED:  # the error text may repeat the key
            return Misconfigured(f"{answer_text}: set MEMSTREAM_RERANKER_API_KEY to a key that it accepts")
        if status in ELSEWHERE or status < 400:
            return Misconfigured(
                f"{answer_text}: correct MEMSTREAM_RERANKER_BASE_URL or MEMSTREAM_RERANKER_MODEL ({detail})"
            )
        if status >= 500 or status in (408, 429):
            return Retryable(answer_text, detail)
        return Rejected("unrankable", f"{answer_text}: {detail}")


def client(base_url: str, api_key: str | None, timeout_s: float) -> httpx.AsyncClient:
    """An HTTP client. It ignores proxies of the environment for a loopback address, as they would see the texts."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        made = httpx.AsyncClient(
            base_url=base_url, headers=headers, timeout=timeout_s, trust_env=not is_loopback(base_url)
        )
    except (httpx.InvalidURL, ValueError) as exc:
        raise wrong_address(base_url) from exc
    if made.base_url.scheme not in ("http", "https") or not made.base_url.host:
        raise wrong_address(base_url)
    return made


def wrong_address(base_url: str) -> Misconfigured:
    shown = base_url.rpartition("@")[2]  # the shown address has no password
    return Misconfigured(
        f"MEMSTREAM_RERANKER_BASE_URL={shown!r} is not an HTTP address: use a form like http://host:port"
    )
