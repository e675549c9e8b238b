"""Kafka records about outcomes: the completion of a request, the result of a command or of a wish, a changed profile."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from agents.curation.rules.ledger.outcomes import Outcome, WishOutcome
from agents.profile.changes import Change, profile_change
from schemas import ids
from schemas.codec import encode
from schemas.extraction.candidates import CandidateBatch
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.commands import Command
from schemas.memories.events import CLOUD_EVENT, ActivityEvent
from schemas.policies.policies import Policy
from schemas.windows.window_controls import WindowControl
from sinks.memories.settlements import Part


def completion_records(part: Part, results: dict[str, int], at: datetime) -> tuple[Outgoing, Outgoing]:
    """The control event for the request's window, in the partition of its messages, and an activity event. `results` counts
    candidates by result."""
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


def wish_records(
    batch: CandidateBatch, outcomes: Sequence[WishOutcome], policy: Policy, at: datetime
) -> Iterator[Outgoing]:
    """An event `memstream.wish.<result>` for each wish, keyed by conversation, without texts."""
    wishes = {wish.wish_id: wish for wish in batch.wishes}
    for each in outcomes:
        if each.result == "dropped":
            continue
        wish = wishes[each.wish_id]
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
    """An event `memstream.profile.changed`, keyed by namespace, if the changes up to `sequence` change the profile: the
    changed parts, and the memory ids. It has no texts: consumers fetch the profile."""
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
    """An event `memstream.command.accepted` or `.rejected`, keyed by namespace."""
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
