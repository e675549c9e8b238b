"""The Ollama provider: a local model, called over HTTP with the JSON Schema of the answer."""

from typing import Final

import httpx

from agents.models.billing import BudgetGuard
from agents.models.calls.breaker import Breaker
from agents.models.calls.guarded_calls import GuardedCalls
from agents.models.model_provider import ModelProvider
from agents.models.ollama.calls import CONNECT_S, OllamaCalls
from agents.models.ollama.errors import connection_error
from streams.windows.tokens.counting import TokenCount

MAX_WINDOW_TOKENS: Final = 32_768  # by default: the context uses the server's memory
PROMPT_TOKENS: Final = 3_000  # the prompt with schema, known memories and earlier messages
MAX_BILLED_RATIO: Final = 1.4  # most billed tokens per counted token, transcript lines included
MIN_TOKENS: Final = 200


class OllamaProvider(ModelProvider):
    """Calls `model`, with or without its tag, on the Ollama server at `base_url`, without retries.

    `timeout_s` is per call, loading the model included: the first call after a pause may need most of it. At most
    `concurrency` calls run at a time; the server queues further ones, and their timeouts run meanwhile. After five outages
    in a row no call is made for `cool_down_s` seconds. The context is as large as a slice needs, at most `max_window_tokens`: it
    uses the server's memory.

    Raises Misconfigured for an invalid `base_url`.
    """

    def __init__(
        self,
        model: str,
        base_url: str = "http://127.0.0.1:11434",
        timeout_s: float = 120.0,
        count_tokens: TokenCount | None = None,
        max_window_tokens: int = MAX_WINDOW_TOKENS,
        concurrency: int = 1,
        budget_guard: BudgetGuard | None = None,
        cool_down_s: float = 30.0,
    ) -> None:
        self._model = model
        self._client = client_at(base_url, timeout_s)
        where = self._client.base_url.copy_with(username="", password="")
        calls = OllamaCalls(self._client, model, str(where).rstrip("/"), timeout_s, max_window_tokens)
        room = max_slice_tokens(max_window_tokens)
        guarded = GuardedCalls(calls, concurrency, breaker=Breaker(cool_down_s=cool_down_s))
        super().__init__(guarded, count_tokens, room, budget_guard)

    def __repr__(self) -> str:
        return f"OllamaProvider(model={self._model!r})"

    async def close(self) -> None:
        """Closes the connections; the model stays loaded until its keep-alive ends."""
        await self._client.aclose()


def max_slice_tokens(window_tokens: int = MAX_WINDOW_TOKENS) -> int:
    """The tokens of a slice, as memstream counts them, that fit a context beside the prompt and the answer."""
    return max(int((window_tokens - OllamaCalls.max_reply_tokens - PROMPT_TOKENS) / MAX_BILLED_RATIO), MIN_TOKENS)


def client_at(base_url: str, timeout_s: float) -> httpx.AsyncClient:
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
    try:
        # A proxy of the environment would receive the conversation, even for the loopback address.
        return httpx.AsyncClient(base_url=base_url, timeout=timeout, trust_env=False)
    except httpx.InvalidURL as exc:
        raise connection_error(exc, base_url) from exc
