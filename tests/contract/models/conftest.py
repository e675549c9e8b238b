"""Every provider: offline rules, and models behind local servers."""

from collections.abc import AsyncIterator

import pytest

from agents.models.auto import AutoProvider
from agents.models.claude.provider import ClaudeProvider
from agents.models.offline.provider import OfflineProvider
from agents.models.ollama.provider import OllamaProvider
from agents.models.port import Provider
from tests.servers.messages import KEY, MessagesServer
from tests.servers.ollama import MODEL, OllamaServer


@pytest.fixture(params=["offline", "claude", "ollama", "auto"])
async def provider(request: pytest.FixtureRequest) -> AsyncIterator[Provider]:
    if request.param == "offline":
        yield OfflineProvider()
        return
    if request.param in ("ollama", "auto"):
        async with OllamaServer() as ollama_server:
            ollama = OllamaProvider(MODEL, ollama_server.url, timeout_s=5.0)
            chosen = ollama if request.param == "ollama" else AutoProvider([ollama, OfflineProvider()])
            yield chosen
            await chosen.close()
        return
    async with MessagesServer() as server:
        claude = ClaudeProvider("claude-test-1", api_key=KEY, base_url=server.url, timeout_s=5.0)
        yield claude
        await claude.close()
