"""The Claude provider: a model of Anthropic's, asked through its SDK."""

import anthropic

from agents.llm.claude_calls import ClaudeCalls, has_credentials
from agents.llm.model_provider import ModelProvider
from streams.windows.tokens import TokenCount


class ClaudeProvider(ModelProvider):
    """Asks a Claude model. Retries with backoff are the SDK's: it honours `retry-after`; `timeout_s` is one attempt's.

    Without `base_url` or `api_key` the SDK looks for ANTHROPIC_BASE_URL and its credentials itself.
    A `client` given from outside is used as it is and stays the caller's to close.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 30.0,
        max_retries: int = 2,
        client: anthropic.AsyncAnthropic | None = None,
        count_tokens: TokenCount | None = None,
    ) -> None:
        self._model = model
        self._owned = client is None
        self._client = client or anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, timeout=timeout_s, max_retries=max_retries
        )
        super().__init__("claude", ClaudeCalls(self._client, model, timeout_s * (max_retries + 1)), count_tokens)

    def __repr__(self) -> str:
        return f"ClaudeProvider(model={self._model!r})"

    async def available(self) -> bool:
        """Whether there are credentials; asking the API would cost a call."""
        return has_credentials(self._client)

    async def close(self) -> None:
        """Closes the client's connections, if this provider made the client."""
        if self._owned:
            await self._client.close()
