"""Records about the curator's outcomes: completion of a request, answer to a command, what came of a wish, a changed profile."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from agents.curation.rules.outcome import Granted, Outcome
from agents.profile.changes import Change, profile_change
from schemas import ids
from schemas.codec import encode
from schemas.conversations.window_controls import WindowControl
from schemas.extraction.candidates import CandidateBatch
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.commands import Command
from schemas.memories.events import CLOUD_EVENT, ActivityEvent
from schemas.policies.policies import Policy
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


def wish_records(batch: CandidateBatch, granted: Sequence[Granted], policy: Policy, at: datetime) -> Iterator[Outgoing]:
    """`memstream.wish.` with the result, under the conversation, without what was said."""
    told = {wish.wish_id: wish for wish in batch.wishes}
    for each in granted:
        if each.result == "dropped":
            continue
        wish = told[each.wish_id]
        event = ActivityEvent(
            id=ids.activity_id("wish", wish.wish_id),
            type=f"memstream.wish.{each.result}",
            time=at,
            subject=batch.conversation_id,
            data={
                "wish_id": wish.wish_id,
                "conversation_id": batch.conversation_id,
                "message_id": wish.message.message_id,
                "user_id": wish.scope.user_id if wish.scope else wish.message.user_id,
                "namespace": batch.namespace,
                "policy": batch.policy,
                "memory_ids": each.memory_ids,
                "done": policy.on_forget_wish if each.result == "forgotten" else None,
                "erasure_id": each.erasure_id,
                "reason": each.reason,
            },
        )
        key = batch.conversation_id.encode()
        yield Outgoing(topic=topics.ACTIVITY, key=key, value=encode(event), headers=CLOUD_EVENT)


def profile_records(namespace: str, sequence: int, changes: Iterable[Change], at: datetime) -> Iterator[Outgoing]:
    """`memstream.profile.changed`, under the namespace, where changes of its memories up to `sequence` change its profile: which
    parts, and on account of which memories. Without words: whoever follows asks for the profile."""
    if (changed := profile_change(changes, at)) is None:
        return
    event = ActivityEvent(
        id=ids.activity_id("profile", namespace, sequence),
        type="memstream.profile.changed",
        time=at,
        subject=namespace,
        data={
            "namespace": namespace,
            "sequence": sequence,
            "parts": changed.parts,
            "memory_ids": changed.memory_ids,
        },
    )
    yield Outgoing(topic=topics.ACTIVITY, key=namespace.encode(), value=encode(event), headers=CLOUD_EVENT)


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
