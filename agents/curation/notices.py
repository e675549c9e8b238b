"""Records about the curator's outcomes: completion of a request, answer to a command."""

from datetime import datetime

from agents.curation.rules.outcome import Outcome
from schemas import ids
from schemas.codec import encode
from schemas.extraction.requests import Command, WindowControl
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.events import CLOUD_EVENT, ActivityEvent
from sinks.memories.settlements import Part


def completion_records(part: Part, results: dict[str, int], at: datetime) -> tuple[Outgoing, Outgoing]:
    """For the request's window, on the partition of its messages, and for consumers of activity: `results` counts candidates."""
    key = part.conversation_id.encode()
    control = WindowControl(
        conversation_id=part.conversation_id, kind="extraction_completed", at=at, request_id=part.request_id
    )
    event = ActivityEvent(
        id=ids.activity_id("extraction.completed", part.request_id),
        type="memstream.extraction.completed",
        time=at,
        subject=part.conversation_id,
        data={
            "request_id": part.request_id,
            "conversation_id": part.conversation_id,
            "policy": part.policy,
            "parts": part.parts,
            "results": results,
        },
    )
    return (
        Outgoing(topic=topics.WINDOW_CONTROL, key=key, value=encode(control), partition=part.partition),
        Outgoing(topic=topics.ACTIVITY, key=key, value=encode(event), headers=CLOUD_EVENT),
    )


def command_records(command: Command, outcome: Outcome, at: datetime) -> tuple[Outgoing]:
    """`memstream.command.accepted` or `.rejected`, under the namespace."""
    event = ActivityEvent(
        id=ids.activity_id("command", command.namespace, command.command_id),
        type=f"memstream.command.{outcome.status}",
        time=at,
        subject=command.namespace,
        data={
            "command_id": command.command_id,
            "kind": command.kind,
            "namespace": command.namespace,
            "sequence": outcome.sequence,
            "memory_id": outcome.memory_id,
            "change": outcome.change,
            "reason": outcome.reason,
        },
    )
    return (Outgoing(topic=topics.ACTIVITY, key=command.namespace.encode(), value=encode(event), headers=CLOUD_EVENT),)
