"""Models from the settings: providers, token counting, and context sizes."""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Final

import tiktoken

from agents.models.answers.summaries import estimated_tokens
from agents.models.auto import AutoProvider
from agents.models.batches import BatchProvider, ModelBatches
from agents.models.billing import BudgetGuard
from agents.models.offline.provider import OfflineProvider
from agents.models.ollama.provider import OllamaProvider, max_slice_tokens
from agents.models.port import Provider
from agents.models.prompts.extraction import MAX_SLICE_TOKENS
from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from deploy.settings import Settings
from streams.windows.tokens.counting import TokenCount, TokenCounter
from streams.windows.tokens.model_limits import MODEL_LIMITS_FILE, ModelLimits, decoded

# Encoding of token counts. The ratio to each model's billed tokens is learned (docs/windows.md), so another encoding would
# change little.
TOKENIZER: Final = "o200k_base"


def provider(
    settings: Settings, count_tokens: TokenCount | None = None, budget_guard: BudgetGuard | None = None
) -> Provider:
    """The provider. With `count_tokens` it reports counted and billed tokens; with `budget_guard` it respects budgets.

    The caller closes it.
    """
    if settings.provider == "auto":
        return AutoProvider(
            [PROVIDERS[name](settings, count_tokens, budget_guard) for name in provider_names(settings)]
        )
    return PROVIDERS[settings.provider](settings, count_tokens, budget_guard)


def inner_providers(provider: Provider) -> tuple[Provider, ...]:
    """The providers behind a provider: several behind `auto`."""
    return provider.providers if isinstance(provider, AutoProvider) else (provider,)


def provider_names(settings: Settings) -> tuple[str, ...]:
    """The names of the providers, in the order of preference."""
    return tuple(settings.provider_order.split(",")) if settings.provider == "auto" else (settings.provider,)


def configured_models(settings: Settings) -> list[tuple[str, str]]:
    """The models that may be called, as (provider, model) pairs."""
    known = {"claude": [settings.claude_model, settings.claude_compaction_model], "ollama": [settings.ollama_model]}
    return [(name, model) for name in provider_names(settings) for model in known.get(name, [])]


def offline(settings: Settings, count_tokens: TokenCount | None, budget_guard: BudgetGuard | None) -> Provider:
    """The offline provider: rules are free, so no budget applies. Imports onnxruntime, which commands without a model start
    without."""
    classifier = import_module("sinks.classification.sentences").OnnxSentenceClassifier()
    return OfflineProvider(count_tokens or estimated_tokens, classifier)


def claude(settings: Settings, count_tokens: TokenCount | None, budget_guard: BudgetGuard | None) -> Provider:
    """Imports Anthropic's package, which takes seconds: workers with other providers start without it."""
    made: Provider = import_module("deploy.wiring.claude").claude(settings, count_tokens, budget_guard)
    return made


def ollama(settings: Settings, count_tokens: TokenCount | None, budget_guard: BudgetGuard | None) -> Provider:
    return OllamaProvider(
        model=settings.ollama_model,
        base_url=settings.ollama_base_url,
        timeout_s=settings.ollama_timeout_s,
        count_tokens=count_tokens,
        concurrency=settings.ollama_concurrency,
        budget_guard=budget_guard,
        cool_down_s=settings.model_rest_s,
    )


SLICE_TOKENS_BY_PROVIDER = {"ollama": max_slice_tokens()}
PROVIDERS: dict[str, Callable[[Settings, TokenCount | None, BudgetGuard | None], Provider]] = {
    "offline": offline,
    "claude": claude,
    "ollama": ollama,
}


def slice_token_limit(settings: Settings) -> int:
    """The largest slice that every configured model can read."""
    return min(SLICE_TOKENS_BY_PROVIDER.get(name, MAX_SLICE_TOKENS) for name in provider_names(settings))


async def model_batches(provider: Provider) -> ModelBatches | None:
    """The provider's batches, if it has any; with `auto` those of the first available provider that has batches."""
    if isinstance(provider, BatchProvider):
        return provider.batches()
    for one in inner_providers(provider):
        if isinstance(one, BatchProvider) and await one.unavailable_reason() is None:
            return one.batches()
    return None


def token_counter(settings: Settings) -> TokenCounter:
    """A token counter. tiktoken reads its vocabulary from a directory in the environment, and would download it otherwise."""
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(ensure_vocabulary(settings.cache / "vocabulary")))
    return TokenCounter(tiktoken.get_encoding(TOKENIZER))


def model_limits(settings: Settings) -> ModelLimits:
    """The built-in table with the settings' sizes over it. Raises Misconfigured."""
    return decoded(MODEL_LIMITS_FILE.read_bytes()).overridden(settings.model_context_tokens)
