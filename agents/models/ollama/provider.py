"""The Ollama provider: a model on one's own machine, asked over HTTP with the answer's JSON Schema."""

from typing import Final

import httpx

from agents.models.billing import Energy
from agents.models.calls.breaker import Breaker
from agents.models.calls.guarded_calls import GuardedCalls
from agents.models.model_provider import ModelProvider
from agents.models.ollama.calls import CONNECT_S, OllamaCalls
from agents.models.ollama.errors import connection_error
from streams.windows.tokens.counting import TokenCount

MOST_WINDOW_TOKENS: Final = 32_768  # unless told otherwise: its memory is the server's
PROMPT_TOKENS: Final = 3_000  # with its schema, the known memories, and the messages before the slice
MOST_BILLED: Final = 1.4  # tokens of a model's for each of memstream's, lines of a transcript included
FEWEST_TOKENS: Final = 200


class OllamaProvider(ModelProvider):
    """Asks `model`, with or without its tag, of the Ollama server at `base_url`. It retries nothing.

    `timeout_s` is one call's, a model that must be loaded first included: the first call after a pause may need most of it.
    At most `concurrency` calls run at a time: what the server has no room for it queues, and their time runs meanwhile.
    After five outages in a row it is left alone for `rest_s`.
    The window is as large as a slice needs, at most `most_window_tokens`: its memory is the server's.
    Raises Misconfigured for a `base_url` that is none.
    """

    def __init__(
        self,
        model: str,
        base_url: str = "http://127.0.0.1:11434",
        timeout_s: float = 120.0,
        count_tokens: TokenCount | None = None,
        most_window_tokens: int = MOST_WINDOW_TOKENS,
        concurrency: int = 1,
        energy: Energy | None = None,
        rest_s: float = 30.0,
    ) -> None:
        self._model = model
        self._client = client_at(base_url, timeout_s)
        where = self._client.base_url.copy_with(username="", password="")
        calls = OllamaCalls(self._client, model, str(where).rstrip("/"), timeout_s, most_window_tokens)
        room = slice_room(most_window_tokens)
        guarded = GuardedCalls(calls, concurrency, breaker=Breaker(cool_down_s=rest_s))
        super().__init__(guarded, count_tokens, room, energy)

    def __repr__(self) -> str:
        return f"OllamaProvider(model={self._model!r})"

    async def close(self) -> None:
        """Closes the connections to the server; the model stays loaded until its time is up."""
        await self._client.aclose()


def slice_room(window_tokens: int = MOST_WINDOW_TOKENS) -> int:
    """How many tokens of a slice fit a window beside the prompt and the answer, by memstream's count of them."""
    return max(int((window_tokens - OllamaCalls.larger_max_tokens - PROMPT_TOKENS) / MOST_BILLED), FEWEST_TOKENS)


def client_at(base_url: str, timeout_s: float) -> httpx.AsyncClient:
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
    try:
        # A proxy of the environment would be asked for the loopback address, and be sent the conversation.
        return httpx.AsyncClient(base_url=base_url, timeout=timeout, trust_env=False)
    except httpx.InvalidURL as exc:
        raise connection_error(exc, base_url) from exc
