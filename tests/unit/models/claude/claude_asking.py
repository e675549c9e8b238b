"""Slices and drafts for the Claude provider, and providers at a local server."""

from agents.models.claude.provider import ClaudeProvider
from tests.builders.slices import slice_of
from tests.servers.messages import KEY, MessagesServer

SLICE = slice_of("I am allergic to peanuts.", "I prefer tea over coffee.")


def provider_at(
    server: MessagesServer, model: str = "claude-test-1", key: str = KEY, **settings: float
) -> ClaudeProvider:
    return ClaudeProvider(
        model,
        api_key=key,
        base_url=server.url,
        timeout_s=settings.get("timeout_s", 5.0),
        max_retries=int(settings.get("max_retries", 2)),
    )


def draft(**changed: object) -> dict[str, object]:
    return {"kind": "fact", "text": "User is allergic to peanuts.", "messages": [1], "confidence": 0.9, **changed}
