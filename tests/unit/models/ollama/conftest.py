"""A provider on a local server with Ollama's checks, windows and faults."""

from collections.abc import AsyncIterator

import pytest

from agents.models.ollama.provider import OllamaProvider
from tests.servers.ollama import MODEL, OllamaServer


@pytest.fixture
async def server() -> AsyncIterator[OllamaServer]:
    async with OllamaServer() as started:
        yield started


@pytest.fixture
async def provider(server: OllamaServer) -> AsyncIterator[OllamaProvider]:
    ollama = OllamaProvider(MODEL, server.url, timeout_s=60.0)
    yield ollama
    await ollama.close()
