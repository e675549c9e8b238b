"""Builds the Claude provider. A separate module, as importing Anthropic's package takes seconds."""

from agents.models.billing import BudgetGuard
from agents.models.claude.provider import ClaudeProvider
from agents.models.reranking import CONCURRENCY
from deploy.settings import Settings
from streams.windows.tokens.counting import TokenCount


def claude(settings: Settings, count_tokens: TokenCount | None, budget_guard: BudgetGuard | None) -> ClaudeProvider:
    return ClaudeProvider(
        model=settings.claude_model,
        api_key=settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key else None,
        base_url=settings.anthropic_base_url,
        count_tokens=count_tokens,
        timeout_s=settings.claude_timeout_s,
        compaction_model=settings.claude_compaction_model,
        concurrency=settings.model_concurrency(),
        tokens_per_minute=settings.claude_tokens_per_minute,
        budget_guard=budget_guard,
        cool_down_s=settings.model_rest_s,
    )


def reranking_claude(settings: Settings, model: str, budget_guard: BudgetGuard | None) -> ClaudeProvider:
    """A provider without retries: a search waits and can do without the answer. Claude bills an answer that comes after the
    search gave up, too, so a call has the time of other calls, in which its bill arrives."""
    return ClaudeProvider(
        model=model,
        api_key=settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key else None,
        base_url=settings.anthropic_base_url,
        timeout_s=max(settings.reranker_within_s, settings.claude_timeout_s),
        max_retries=0,
        concurrency=CONCURRENCY,
        tokens_per_minute=settings.claude_tokens_per_minute,
        budget_guard=budget_guard,
        cool_down_s=settings.model_rest_s,
        max_wait_s=settings.reranker_within_s,
    )
