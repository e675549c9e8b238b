"""Conversations of several people through running workers: what each says is remembered where it belongs, and nowhere else."""

import json
import random
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

import pytest
from msgspec import to_builtins

from schemas.conversations.messages import Message
from schemas.kafka import topics
from tests.chat_events import end
from tests.deployment import Event
from tests.groups import generated, misplaced, sayers

CONVERSATIONS = 200
BEGAN = datetime.now(UTC) - timedelta(hours=1)
POLICY = {"name": "groups", "namespaces": ["{app_id}/{user_id}", "{app_id}"], "triggers": {"after_tokens": 60}}

pytestmark = pytest.mark.heavy


def published(message: Message) -> Event:
    return Event(topics.MESSAGES, message.conversation_id, to_builtins(message))


async def test_every_memory_of_interleaved_group_conversations_is_its_speakers(deploy, tmp_path) -> None:
    policies = tmp_path / "policies.json"
    policies.write_text(json.dumps([POLICY]))
    deployment = await deploy("groups", policies_file=policies)
    spoken = [generated(random.Random(number), f"group-{number}") for number in range(CONVERSATIONS)]
    whose = {(said[0].conversation_id, key): who for said in spoken for key, who in sayers(said).items()}
    interleaved = [each for turn in zip_longest(*spoken) for each in turn if each is not None]
    await deployment.worker("first")
    await deployment.worker("second")

    await deployment.publish(*map(published, interleaved))
    await deployment.publish(*(end(said[0].conversation_id, at=BEGAN, message_count=len(said)) for said in spoken))
    await deployment.settled(240.0)

    memories = await deployment.fetch("SELECT namespace, text, sources FROM memories")
    wrong = []
    for memory in memories:
        places = [(source["conversation_id"], source["message_id"]) for source in memory["sources"]]
        if misplaced(
            memory["namespace"], memory["text"], map(str, places), {str(k): v for k, v in whose.items()}, False
        ):
            wrong.append(memory)
    assert not wrong
    assert len({memory["namespace"] for memory in memories}) > 30
    assert len(memories) > CONVERSATIONS
