"""Models as the settings have them: who is asked, how tokens are counted, and how much a model reads."""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Final

import tiktoken

from agents.models.auto import AutoProvider
from agents.models.batches import Batching, ModelBatches
from agents.models.billing import Energy
from agents.models.offline.provider import OfflineProvider
from agents.models.ollama.provider import OllamaProvider, slice_room
from agents.models.port import Provider
from agents.models.prompts.extraction import MOST_TOKENS
from deploy.embedded.vocabulary import ensure_vocabulary
from deploy.settings import Settings
from streams.windows.tokens.counting import TokenCount, TokenCounter
from streams.windows.tokens.model_limits import MODEL_LIMITS_FILE, ModelLimits, decoded

# Of counts of tokens. What each model bills beside them is learned (docs/windows.md), so another encoding would change little.
TOKENIZER: Final = "o200k_base"


def provider(settings: Settings, count_tokens: TokenCount | None = None, energy: Energy | None = None) -> Provider:
    """With `count_tokens` it tells what it counted of what was billed; with `energy` it keeps within budgets.

    To be closed by the caller.
    """
    if settings.provider == "auto":
        return AutoProvider([PROVIDERS[name](settings, count_tokens, energy) for name in provider_names(settings)])
    return PROVIDERS[settings.provider](settings, count_tokens, energy)


def each(provider: Provider) -> tuple[Provider, ...]:
    """Those that are asked, of which `auto` has several."""
    return provider.providers if isinstance(provider, AutoProvider) else (provider,)


def provider_names(settings: Settings) -> tuple[str, ...]:
    """Those that may be asked, in order."""
    return tuple(settings.provider_order.split(",")) if settings.provider == "auto" else (settings.provider,)


def asked(settings: Settings) -> list[tuple[str, str]]:
    """The models that may be asked, each behind its provider's name."""
    known = {"claude": [settings.claude_model, settings.claude_compaction_model], "ollama": [settings.ollama_model]}
    return [(name, model) for name in provider_names(settings) for model in known.get(name, [])]


def offline(settings: Settings, count_tokens: TokenCount | None, energy: Energy | None) -> Provider:
    """Rules cost nothing: no budget holds them up."""
    return OfflineProvider(count_tokens) if count_tokens else OfflineProvider()


def claude(settings: Settings, count_tokens: TokenCount | None, energy: Energy | None) -> Provider:
    """Loads Anthropic's package, which takes seconds: workers that ask others start without it."""
    made: Provider = import_module("deploy.wiring.claude").claude(settings, count_tokens, energy)
    return made


def ollama(settings: Settings, count_tokens: TokenCount | None, energy: Energy | None) -> Provider:
    return OllamaProvider(
        model=settings.ollama_model,
        base_url=settings.ollama_base_url,
        timeout_s=settings.ollama_timeout_s,
        count_tokens=count_tokens,
        concurrency=settings.ollama_concurrency,
        energy=energy,
        rest_s=settings.model_rest_s,
    )


SLICE_ROOM = {"ollama": slice_room()}
PROVIDERS: dict[str, Callable[[Settings, TokenCount | None, Energy | None], Provider]] = {
    "offline": offline,
    "claude": claude,
    "ollama": ollama,
}


def most_slice_tokens(settings: Settings) -> int:
    """What every model that may be asked reads whole."""
    return min(SLICE_ROOM.get(name, MOST_TOKENS) for name in provider_names(settings))


async def model_batches(provider: Provider) -> ModelBatches | None:
    """The provider's batches, if it has any; of `auto` those of the first that has batches, if it lacks nothing."""
    if isinstance(provider, Batching):
        return provider.batches()
    for one in each(provider):
        if isinstance(one, Batching) and await one.trouble() is None:
            return one.batches()
    return None


def token_counter(settings: Settings) -> TokenCounter:
    """tiktoken reads its vocabulary from a directory named by the environment, and would download it otherwise."""
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(ensure_vocabulary(settings.cache / "vocabulary")))
    return TokenCounter(tiktoken.get_encoding(TOKENIZER))


def model_limits(settings: Settings) -> ModelLimits:
    """The built-in table with the settings' sizes over it. Raises Misconfigured."""
    return decoded(MODEL_LIMITS_FILE.read_bytes()).overridden(settings.model_context_tokens)
