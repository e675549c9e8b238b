"""The Ollama provider: a model on one's own machine, asked over HTTP with the answer's JSON Schema."""

from typing import Final

import httpx
import msgspec
from msgspec import Struct

from agents.llm.model_provider import ModelProvider
from agents.llm.ollama_calls import CONNECT_S, OllamaCalls
from agents.llm.ollama_errors import unreached
from streams.windows.tokens import TokenCount

LATEST: Final = ":latest"
AVAILABLE_S: Final = 2.0


class Installed(Struct, frozen=True):
    """A model that was pulled."""

    name: str


class Models(Struct, frozen=True):
    models: list[Installed] = []


class OllamaProvider(ModelProvider):
    """Asks `model`, with or without its tag, of the Ollama server at `base_url`. It retries nothing.

    `timeout_s` is one call's, a model that must be loaded first included: the first call after a pause may need most of it.
    The window is as large as a slice needs, at most `most_window_tokens`: its memory is the server's.
    Raises Misconfigured for a `base_url` that is none.
    """

    def __init__(
        self,
        model: str,
        base_url: str = "http://127.0.0.1:11434",
        timeout_s: float = 120.0,
        count_tokens: TokenCount | None = None,
        most_window_tokens: int = 32_768,
    ) -> None:
        self._model = model
        self._client = client_at(base_url, timeout_s)
        where = self._client.base_url.copy_with(username="", password="")
        calls = OllamaCalls(self._client, model, str(where).rstrip("/"), timeout_s, most_window_tokens)
        super().__init__("ollama", calls, count_tokens)

    def __repr__(self) -> str:
        return f"OllamaProvider(model={self._model!r})"

    async def available(self) -> bool:
        """Whether the server answers within AVAILABLE_S seconds and has the model; loads nothing."""
        try:
            response = await self._client.get("/api/tags", timeout=AVAILABLE_S)
            pulled = msgspec.json.decode(response.content, type=Models).models
        except (httpx.HTTPError, msgspec.DecodeError, UnicodeDecodeError):
            return False
        return tagged(self._model) in {tagged(each.name) for each in pulled}

    async def close(self) -> None:
        """Closes the connections to the server; the model stays loaded until its time is up."""
        await self._client.aclose()


def client_at(base_url: str, timeout_s: float) -> httpx.AsyncClient:
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
    try:
        # A proxy of the environment would be asked for the loopback address, and be sent the conversation.
        return httpx.AsyncClient(base_url=base_url, timeout=timeout, trust_env=False)
    except httpx.InvalidURL as exc:
        raise unreached(exc, base_url) from exc


def tagged(model: str) -> str:
    """A name as Ollama compares it: its tag is `latest` unless told otherwise, and case does not matter."""
    return (model if ":" in model.rpartition("/")[2] else model + LATEST).casefold()
