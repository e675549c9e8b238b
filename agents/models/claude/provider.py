"""The Claude provider: a model of Anthropic, called through its SDK."""

import anthropic

from agents.models.billing import BudgetGuard
from agents.models.calls.breaker import Breaker
from agents.models.calls.guarded_calls import MAX_WAIT_S, GuardedCalls
from agents.models.claude.batches import ClaudeBatches
from agents.models.claude.calls import ClaudeCalls
from agents.models.model_provider import ModelProvider
from schemas.addresses import is_loopback
from streams.windows.tokens.counting import TokenCount


class ClaudeProvider(ModelProvider):
    """Calls a Claude model, and `compaction_model` for compaction, if given.

    The SDK retries with backoff and jitter and respects `retry-after`; `timeout_s` is per attempt. At most `concurrency`
    calls run at a time. `tokens_per_minute` is the operator's own limit, besides the API's; a call waits `max_wait_s` seconds
    at most for either. After five outages in a row no call is made for `cool_down_s` seconds.

    Without `base_url` or `api_key` the SDK reads ANTHROPIC_BASE_URL and its credentials itself. The caller closes a `client`
    that it passes.
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
        compaction_model: str | None = None,
        concurrency: int = 8,
        tokens_per_minute: int | None = None,
        budget_guard: BudgetGuard | None = None,
        cool_down_s: float = 30.0,
        max_wait_s: float = MAX_WAIT_S,
    ) -> None:
        self._model = model
        self._budget_guard = budget_guard
        self._owned = client is None
        self._client = client or client_at(base_url, api_key, timeout_s, max_retries)
        calls = ClaudeCalls(self._client, model, timeout_s * (max_retries + 1), compaction_model)
        guarded = GuardedCalls(
            calls, concurrency, tokens_per_minute, Breaker(cool_down_s=cool_down_s), max_wait_s=max_wait_s
        )
        super().__init__(guarded, count_tokens, budget_guard=budget_guard)

    def __repr__(self) -> str:
        return f"ClaudeProvider(model={self._model!r})"

    def batches(self) -> ClaudeBatches:
        """Batches of questions to the same model."""
        return ClaudeBatches(self._client, self._model, self._calls, self, self._budget_guard)

    async def close(self) -> None:
        """Closes the client's connections if this provider created the client."""
        if self._owned:
            await self._client.close()


def client_at(
    base_url: str | None, api_key: str | None, timeout_s: float, max_retries: int
) -> anthropic.AsyncAnthropic:
    client = anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url, timeout=timeout_s, max_retries=max_retries)
    if not is_loopback(str(client.base_url)):
        return client
    # A proxy of the environment, or a redirect, would receive conversations that must stay on this machine. The SDK
    # reads proxies from the environment whatever `trust_env` says; these mounts take precedence.
    direct = dict.fromkeys(("all://", "http://", "https://"))
    return client.copy(http_client=anthropic.DefaultAsyncHttpxClient(mounts=direct, follow_redirects=False))
