"""Slices and drafts for the Ollama provider, and the error of a request."""

import pytest

from agents.models.ollama.provider import OllamaProvider
from schemas.conversations.window_settings import WindowSettings
from schemas.errors import MemstreamError
from schemas.policies.policies import Policy
from tests.builders.slices import knowing, slice_of
from tests.servers.ollama import MODEL

SLICE = slice_of("I am allergic to peanuts.", "I prefer tea over coffee.")

LONG = slice_of("I live in Turin.", *["It rains a lot in these weeks of the year. " * 20] * 40)

DIGITS = slice_of("I live in Turin.", "7" * 40_000)

SHORT = Policy(name="short", window=WindowSettings(summarise=True, summary_tokens=20))

NOBODY = "http://127.0.0.1:9"


def draft(**changed: object) -> dict[str, object]:
    return {"kind": "fact", "text": "User is allergic to peanuts.", "messages": [1], "confidence": 0.9, **changed}


async def raised_at(url: str, model: str = MODEL, timeout_s: float = 5.0) -> MemstreamError:
    """Returns the error of a request to a server."""
    provider = OllamaProvider(model, url, timeout_s=timeout_s)
    with pytest.raises(MemstreamError) as caught:
        await provider.extract(SLICE, knowing())
    await provider.close()
    return caught.value
