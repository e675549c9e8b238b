"""Context blocks during extraction contain recent messages and memories, each once."""

import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx

from schemas.kafka import topics
from tests.builders.chat_events import message
from tests.deployment import Deployment, Event, eventually
from tests.integration.conftest import Deploy

FRESH_WITHIN_S = 5.0  # the archive stores in batches, and the machine may be busy
REMEMBERED_WITHIN_S = 60.0
SAID = "Hi! I'm allergic to peanuts."
REMEMBERED = "User is allergic to peanuts."


async def said(deployment: Deployment, conversation: str, number: int, role: str, content: str) -> None:
    whose = {"role": role, "app_id": "kitchen", "user_id": "ada"}
    await deployment.publish(message(conversation, number, content, at=datetime.now(UTC), **whose))


async def block(api: httpx.AsyncClient, conversation: str) -> Any:
    body = {"namespaces": ["kitchen/ada"], "conversation_id": conversation, "text": "What is User allergic to?"}
    return (await api.post("/v1/context", json=body)).raise_for_status().json()


async def test_a_recent_message_is_in_the_context_block_until_its_memory_replaces_it_without_duplicates(
    deploy: Deploy,
) -> None:
    deployment = await deploy("freshness")
    await deployment.worker()
    async with httpx.AsyncClient(base_url=await deployment.api(), timeout=30) as api:
        before, conversation = uuid4().hex, uuid4().hex

        async def block_with_messages(of: str) -> Any:
            answer = await block(api, of)
            return answer if answer["messages"] else None

        await said(deployment, before, 0, "user", "Hello!")  # whoever reads first waits for connections
        await eventually(lambda: block_with_messages(before), "the worker archives")
        await said(deployment, conversation, 0, "user", SAID)
        began = time.monotonic()
        first = await eventually(lambda: block_with_messages(conversation), "what was said is in the block")
        assert time.monotonic() - began < FRESH_WITHIN_S
        assert SAID in first["text"]

        await said(deployment, conversation, 1, "assistant", "Let me see.")
        ended = {"conversation_id": conversation, "timestamp": datetime.now(UTC).isoformat(), "message_count": 2}
        await deployment.publish(Event(topics.ENDED, conversation, ended))
        ways = []

        async def remembered() -> bool:
            answer = await block(api, conversation)
            assert answer["text"].count("peanuts") == 1, answer
            ways.append(SAID in answer["text"])
            return not answer["messages"]

        await eventually(remembered, "it is remembered, and no longer waits", REMEMBERED_WITHIN_S)
        assert REMEMBERED in (await block(api, conversation))["text"]
        assert ways == sorted(ways, reverse=True), "once it is told as a memory, it is not told as a message again"
        assert ways[0], "it was looked at before"
