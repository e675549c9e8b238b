"""The AsyncAPI 3.0 document: every topic with its key, its publisher and the schema of its payload."""

from typing import Any, Literal

from msgspec import Struct

from schemas.kafka import topics
from schemas.memories.events import CONTENT_TYPE

DAY_MS = 86_400_000

Side = Literal["in", "out", "inside"]


class Topic(Struct, frozen=True):
    """The description of a topic. `side` is memstream's view: it reads `in`, publishes `out`, and uses `inside` itself."""

    name: str
    key: str
    schema: str | None
    side: Side
    summary: str
    content_type: str = "application/json"
    headers: str | None = None


LISTED = (
    Topic(topics.MESSAGES, "conversation_id", "message", "in", "A message of a conversation, from a chat service."),
    Topic(
        topics.ENDED,
        "conversation_id",
        "conversation-ended",
        "in",
        "The end of a conversation, from a chat service. It triggers extraction.",
    ),
    Topic(topics.COMMANDS, "namespace", "command", "in", "Changes to memories, requested by services and operators."),
    Topic(
        topics.POLICIES,
        "the policy's name",
        "policy",
        "in",
        "The latest version of each policy (compacted); a tombstone removes a policy. Changes take effect without a restart.",
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
        "The latest state of every memory (compacted). A tombstone means that the memory is deleted or erased; its headers "
        "memstream-namespace, memstream-version and memstream-sequence identify the change.",
    ),
    Topic(
        topics.ACTIVITY,
        "conversation_id or namespace",
        "activity-event",
        "out",
        "Completed work: extractions, results of commands, windows that are nearly full, pruned or cleared, "
        "and usage of model calls.",
        CONTENT_TYPE,
    ),
    Topic(
        topics.DEAD_LETTERS,
        "the source record's key",
        None,
        "out",
        "Records that could not be processed: key, value and headers are unchanged; further headers have the reason and source.",
        "application/octet-stream",
        "dead-letter-headers",
    ),
    Topic(topics.WINDOW_CONTROL, "conversation_id", "window-control", "inside", "Timers and results for windows."),
    Topic(
        topics.REQUESTS,
        "conversation_id",
        "extraction-request",
        "inside",
        "Slices of windows for the extraction stage.",
    ),
    Topic(topics.CANDIDATES, "namespace", "candidate-batch", "inside", "Proposed memories for curation."),
)
ACTIONS: dict[Side, tuple[str, ...]] = {"in": ("receive",), "out": ("send",), "inside": ("send", "receive")}


def document(version: str) -> dict[str, Any]:
    """The document; `version` is that of the schemas. References name files in the same folder."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "memstream",
            "version": version,
            "description": "Long-term memory for chat systems on Kafka. Topic names are shown without a deployment's prefix. "
            "The header `traceparent` (W3C Trace Context) of a record, if present, is passed on to all resulting records.",
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
    """The retention that memstream sets on topics that it creates."""
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
