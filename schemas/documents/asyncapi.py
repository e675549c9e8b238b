"""The AsyncAPI 3.0 document: every topic with its key, who writes it and the schema of its payload."""

from typing import Any, Literal

from msgspec import Struct

from schemas.kafka import topics
from schemas.memories.events import CONTENT_TYPE

DAY_MS = 86_400_000

Side = Literal["in", "out", "inside"]


class Topic(Struct, frozen=True):
    """How one topic is described. `side` is seen from memstream: it reads `in`, publishes `out`, talks to itself `inside`."""

    name: str
    key: str
    schema: str | None
    side: Side
    summary: str
    content_type: str = "application/json"
    headers: str | None = None


LISTED = (
    Topic(topics.MESSAGES, "conversation_id", "message", "in", "One turn of a conversation, from chat services."),
    Topic(
        topics.ENDED,
        "conversation_id",
        "conversation-ended",
        "in",
        "The end of a conversation, from chat services. Memories are extracted when it arrives.",
    ),
    Topic(
        topics.COMMANDS, "namespace", "command", "in", "Changes to memories, asked for by a service or by an operator."
    ),
    Topic(
        topics.POLICIES,
        "the policy's name",
        "policy",
        "in",
        "The policies that apply, latest by name (compacted); a tombstone removes one. A change takes effect without a restart.",
    ),
    Topic(
        topics.EVENTS,
        "namespace",
        "memory-event",
        "out",
        "Every change of a memory, in order and without gaps within its namespace.",
        CONTENT_TYPE,
    ),
    Topic(
        topics.STATE,
        "memory_id",
        "memory",
        "out",
        "The latest state of every memory (compacted). A tombstone says that it is deleted or erased; its headers "
        "memstream-namespace, memstream-version and memstream-sequence say of which change that is.",
    ),
    Topic(
        topics.ACTIVITY,
        "conversation_id or namespace",
        "activity-event",
        "out",
        "Work that was done: completed extractions, answers to commands, windows that are nearly full, pruned or cleared, "
        "and what model calls consumed.",
        CONTENT_TYPE,
    ),
    Topic(
        topics.DEAD_LETTERS,
        "the source record's key",
        None,
        "out",
        "What could not be processed: key, value and headers as they were; the added headers say why and from where.",
        "application/octet-stream",
        "dead-letter-headers",
    ),
    Topic(topics.WINDOW_CONTROL, "conversation_id", "window-control", "inside", "Timers and answers, to windows."),
    Topic(topics.REQUESTS, "conversation_id", "extraction-request", "inside", "Slices of windows, to the LLM stage."),
    Topic(topics.CANDIDATES, "namespace", "candidate-batch", "inside", "Proposed memories, to curation."),
)
ACTIONS: dict[Side, tuple[str, ...]] = {"in": ("receive",), "out": ("send",), "inside": ("send", "receive")}


def document(version: str) -> dict[str, Any]:
    """`version` is that of the schemas. References name files beside the document."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "memstream",
            "version": version,
            "description": "Long-term memory for chat systems that live on Kafka. Names are told without a deployment's prefix. "
            "A record's header `traceparent` (W3C Trace Context), if there is one, goes on with all that comes of it.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {topic.name: channel(topic) for topic in LISTED},
        "operations": {
            f"{action}-{topic.name}": operation(topic, action) for topic in LISTED for action in ACTIONS[topic.side]
        },
        "components": {"messages": {topic.name: message(topic) for topic in LISTED}},
    }


def channel(topic: Topic) -> dict[str, Any]:
    return {
        "address": topic.name,
        "description": topic.summary,
        "messages": {"record": {"$ref": f"#/components/messages/{topic.name}"}},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "topicConfiguration": retention(topics.KEPT_DAYS[topic.name]),
                "bindingVersion": "0.5.0",
            }
        },
    }


def retention(days: int | None) -> dict[str, Any]:
    """As Kafka is told it; a deployment may keep records for another time."""
    if days is None:
        return {"cleanup.policy": ["compact"]}
    return {"cleanup.policy": ["delete"], "retention.ms": days * DAY_MS}


def operation(topic: Topic, action: str) -> dict[str, Any]:
    name = topic.name
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{name}"},
        "messages": [{"$ref": f"#/channels/{name}/messages/record"}],
    }


def message(topic: Topic) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": topic.schema or "dead-letter",
        "summary": topic.summary,
        "contentType": topic.content_type,
        "bindings": {
            "kafka": {"key": {"type": "string", "description": topic.key}, "bindingVersion": "0.5.0"},
        },
    }
    if topic.schema is not None:
        described["payload"] = {"$ref": f"./{topic.schema}.schema.json"}
    if topic.headers is not None:
        described["headers"] = {"$ref": f"./{topic.headers}.schema.json"}
    return described
