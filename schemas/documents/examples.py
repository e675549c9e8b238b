"""A complete, valid example record of each topic that others write or read, built from the shapes."""

from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from schemas import codec, ids
from schemas.conversations.messages import ConversationEnded, Message
from schemas.extraction.candidates import Source
from schemas.kafka import topics
from schemas.memories.commands import Command
from schemas.memories.events import ActivityEvent, Cause, MemoryChanged, MemoryEvent
from schemas.memories.memories import Memory
from schemas.policies.matching import Match
from schemas.policies.policies import Policy

SAID: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DECIDED: Final = datetime(2026, 3, 2, 9, 0, 2, tzinfo=UTC)
NAMESPACE: Final = "kitchen/ada"
REQUEST_ID: Final = ids.request_id("kitchen-7", 3, 41, 41, "kitchen-7-0")
MEMORY: Final = Memory(
    memory_id=ids.memory_id(ids.candidate_id(REQUEST_ID, NAMESPACE, 0)),
    namespace=NAMESPACE,
    kind="fact",
    text="User is allergic to peanuts.",
    importance=0.9,
    confidence=0.95,
    version=1,
    sequence=12,
    status="active",
    created_at=DECIDED,
    updated_at=DECIDED,
    created_by="offline",
    sources=(Source(conversation_id="kitchen-7", message_id="kitchen-7-0", position=41, timestamp=SAID),),
)

EXAMPLES: Final[dict[str, Struct]] = {
    topics.MESSAGES: Message(
        conversation_id="kitchen-7",
        message_id="kitchen-7-0",
        role="user",
        timestamp=SAID,
        content="Hi! I'm allergic to peanuts.",
        app_id="kitchen",
        user_id="ada",
    ),
    topics.ENDED: ConversationEnded(conversation_id="kitchen-7", timestamp=SAID, message_count=2),
    topics.COMMANDS: Command(
        command_id="support-4711",
        kind="delete",
        namespace=NAMESPACE,
        at=SAID,
        actor="anna",
        memory_id=MEMORY.memory_id,
        reason="the user asked for it",
    ),
    topics.POLICIES: Policy(name="kitchen", match=Match(app_id="kitchen"), namespaces=("{app_id}/{user_id}",)),
    topics.EVENTS: MemoryEvent.of(
        MemoryChanged(
            change="created",
            namespace=NAMESPACE,
            sequence=12,
            memory=MEMORY,
            cause=Cause(actor="offline", request_id=REQUEST_ID),
        ),
        DECIDED,
    ),
    topics.STATE: MEMORY,
    topics.ACTIVITY: ActivityEvent(
        id=ids.activity_id("command", NAMESPACE, "support-4711"),
        type="memstream.command.accepted",
        time=DECIDED,
        subject=NAMESPACE,
        data={"command_id": "support-4711", "kind": "delete", "change": "deleted", "memory_id": MEMORY.memory_id},
    ),
}


def example(topic: str) -> Any:
    """The example as builtins, without default values; None for a topic without one."""
    example = EXAMPLES.get(topic)
    return None if example is None else codec.parse(codec.encode(example))
