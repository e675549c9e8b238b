"""Provider claude as the settings have it: a module apart, as Anthropic's package takes seconds to load."""

from agents.models.billing import Energy
from agents.models.claude.provider import ClaudeProvider
from deploy.settings import Settings
from streams.windows.tokens.counting import TokenCount


def claude(settings: Settings, count_tokens: TokenCount | None, energy: Energy | None) -> ClaudeProvider:
    return ClaudeProvider(
        model=settings.claude_model,
        api_key=settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key else None,
        base_url=settings.anthropic_base_url,
        count_tokens=count_tokens,
        timeout_s=settings.claude_timeout_s,
        compaction_model=settings.claude_compaction_model,
        concurrency=settings.model_concurrency(),
        tokens_per_minute=settings.claude_tokens_per_minute,
        energy=energy,
        rest_s=settings.model_rest_s,
    )


def reranking_claude(settings: Settings, model: str, energy: Energy | None) -> ClaudeProvider:
    """Asked once: somebody waits for the answer, and can do without it."""
    return ClaudeProvider(
        model=model,
        api_key=settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key else None,
        base_url=settings.anthropic_base_url,
        timeout_s=settings.reranker_within_s,
        max_retries=0,
        tokens_per_minute=settings.claude_tokens_per_minute,
        energy=energy,
        rest_s=settings.model_rest_s,
    )
