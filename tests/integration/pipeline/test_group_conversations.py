"""Group conversations on running workers: statements of each speaker are stored only in the right namespaces."""

import json
import os
import random
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

import pytest
from msgspec import to_builtins

from schemas.conversations.messages import Message
from schemas.kafka import topics
from tests.builders.chat_events import end, message
from tests.builders.groups import generated, misplaced, speakers
from tests.deployment import Deployment, Event, eventually
from tests.integration.pipeline.test_erasure import erase, where

CONVERSATIONS = int(os.environ.get("MEMSTREAM_CONVERSATIONS", "60"))
BEGAN = datetime.now(UTC) - timedelta(hours=1)
POLICY = {"name": "groups", "namespaces": ["{app_id}/{user_id}", "{app_id}"], "triggers": {"after_tokens": 60}}

pytestmark = pytest.mark.heavy


def published(message: Message) -> Event:
    return Event(topics.MESSAGES, message.conversation_id, to_builtins(message))


async def test_memories_of_interleaved_group_conversations_belong_to_their_speakers(deploy, tmp_path) -> None:
    policies = tmp_path / "policies.json"
    policies.write_text(json.dumps([POLICY]))
    deployment = await deploy("groups", policies_file=policies)
    spoken = [generated(random.Random(number), f"group-{number}") for number in range(CONVERSATIONS)]
    whose = {(said[0].conversation_id, key): who for said in spoken for key, who in speakers(said).items()}
    interleaved = [each for turn in zip_longest(*spoken) for each in turn if each is not None]
    await deployment.worker("first")
    await deployment.worker("second")

    await deployment.publish(*map(published, interleaved))
    await deployment.publish(*(end(said[0].conversation_id, at=BEGAN, message_count=len(said)) for said in spoken))
    await deployment.settled(300.0 + 3 * CONVERSATIONS)

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
    assert len(memories) > 200  # forty people repeat themselves, however many conversations there are


def dinner(conversation: str) -> list[Event]:
    """Two people and an assistant that repeats what one of them said."""
    turns = (
        {"user_id": "ada", "content": "I live in Berlin."},
        {"user_id": "bob", "content": "I live in Zanzibar."},
        {"role": "assistant", "content": "Zanzibar is far away."},
        {"user_id": "ada", "content": "I'm allergic to peanuts."},
    )
    named = [{"at": BEGAN, "app_id": "kitchen"} | turn for turn in turns]
    return [message(conversation, number, turn.pop("content"), **turn) for number, turn in enumerate(named)]


@pytest.mark.parametrize("whose", [("--user", "bob"), ("--namespace", "kitchen/bob")], ids=["user", "namespace"])
async def test_erasing_one_participant_removes_all_their_data_and_keeps_that_of_the_others(deploy, whose) -> None:
    deployment = await deploy("one-of-two")
    await deployment.worker()
    await deployment.publish(*dinner("over"), end("over", at=BEGAN, message_count=4), *dinner("open"))
    about_ada = {"User lives in Berlin.", "User is allergic to peanuts."}
    expected = {"kitchen/ada": about_ada, "kitchen/bob": {"User lives in Zanzibar."}}

    async def remembered() -> bool:
        return await texts(deployment) == expected and await deployment.count("messages") == 8

    await eventually(remembered, "one conversation is remembered, the other archived")
    done = await erase(deployment, *whose)

    assert done.returncode == 0, done.stderr
    assert await where(deployment, "Zanzibar") == [set()]
    assert await texts(deployment) == {"kitchen/ada": about_ada}
    left = await deployment.fetch("SELECT conversation_id, user_id FROM messages ORDER BY 1, 2")
    assert [(row["conversation_id"], row["user_id"]) for row in left] == [("open", "ada")] * 2 + [("over", "ada")] * 2

    await deployment.publish(message("open", 9, "I love cider.", app_id="kitchen", user_id="ada", at=datetime.now(UTC)))
    await deployment.publish(end("open", at=datetime.now(UTC)))
    await deployment.settled()
    assert await texts(deployment) == {"kitchen/ada": about_ada | {"User loves cider."}}
    assert await where(deployment, "Zanzibar") == [set()]


async def texts(deployment: Deployment) -> dict[str, set[str]]:
    """The live memories of each namespace."""
    found: dict[str, set[str]] = {}
    for row in await deployment.fetch("SELECT namespace, text FROM memories WHERE status = 'active'"):
        found.setdefault(row["namespace"], set()).add(row["text"])
    return found
