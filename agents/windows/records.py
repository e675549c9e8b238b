"""Records that windows publish: extraction requests, and activity events about their contexts."""

from datetime import UTC, datetime
from typing import Any

from msgspec import to_builtins
from opentelemetry.trace import SpanKind

from agents.windows.request_headers import request_headers
from schemas import codec, ids
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.events import CLOUD_EVENT, ActivityEvent
from schemas.observability import traces
from schemas.windows.window_controls import WindowControl
from streams.windows.effects import (
    ContextPruned,
    ContextRestored,
    ContextWarning,
    Effect,
    EndedIncomplete,
    MessageMarked,
    PruningFailed,
)


def outgoing(effect: Effect, partition: int, at: datetime) -> Outgoing:
    """The record of an effect, on the conversation's partition or under its key."""
    if isinstance(effect, ExtractionRequest):
        return _request(effect)
    if isinstance(effect, PruningFailed):
        event = _failed(effect, partition, at)
    elif isinstance(effect, ContextRestored):
        event = _restored(effect, partition, at)
    elif isinstance(effect, MessageMarked):
        event = _marked(effect, partition, at)
    elif isinstance(effect, EndedIncomplete):
        event = _ended_incomplete(effect, partition, at)
    else:
        event = _warned(effect, partition, at) if isinstance(effect, ContextWarning) else _pruned(effect, partition, at)
    key = effect.scope.conversation_id.encode()
    return Outgoing(topic=topics.ACTIVITY, key=key, value=codec.encode(event), headers=CLOUD_EVENT)


def _request(request: ExtractionRequest) -> Outgoing:
    """The record of a request. It continues the trace of its messages, or links to their traces."""
    causes = [message.trace for message in request.messages]
    with traces.span("windows request extraction", request_attributes(request), causes=causes, kind=SpanKind.PRODUCER):
        return Outgoing(
            topic=topics.REQUESTS,
            key=request.conversation_id.encode(),
            value=codec.encode(request),
            headers=(*request_headers(request), *traces.headers()),
            partition=request.partition,
        )


def request_attributes(request: ExtractionRequest) -> dict[str, str | int]:
    """Span attributes of a request, without text of messages."""
    return {
        "memstream.request_id": request.request_id,
        "memstream.conversation_id": request.conversation_id,
        "memstream.purpose": request.purpose,
        "memstream.lane": request.lane,
        "memstream.messages": len(request.messages),
    }


def _warned(effect: ContextWarning, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.warned`: pruning follows unless what is protected fills the context alone."""
    level = effect.statistics.level
    return _event(effect, partition, at, "warned", level, level=level, statistics=to_builtins(effect.statistics))


def _pruned(effect: ContextPruned, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.pruned` or `.cleared`, with the reason of each removed message by id."""
    pruning = effect.pruning
    return _event(
        effect,
        partition,
        at,
        "cleared" if pruning.cause == "cleared" else "pruned",
        pruning.number,
        cause=pruning.cause,
        level=pruning.level,
        removed=pruning.count,
        tokens_before=pruning.tokens_before,
        tokens_after=pruning.tokens_after,
        runs=[
            {"reason": run.reason, "first": run.first, "last": run.last, "count": run.count} for run in pruning.removed
        ],
        reasons=effect.reasons,
        statistics=to_builtins(effect.statistics),
    )


def _restored(effect: ContextRestored, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.restored`: a prune or clear by hand was undone."""
    statistics = to_builtins(effect.statistics)
    cause, number = (effect.undone.cause, effect.undone.number) if effect.undone else ("cleared", effect.restored)
    fields = {"cause": cause, "restored": effect.restored, "statistics": statistics}
    return _event(effect, partition, at, "restored", number, **fields)


def _marked(effect: MessageMarked, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.marked`: `outcome` says whether the mark holds."""
    data = {"message_id": effect.message_id, "importance": effect.importance, "outcome": effect.outcome}
    return _event(effect, partition, at, "marked", effect.message_id, **data)


def _failed(effect: PruningFailed, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.pruning_failed`: the context stays as it was."""
    return _event(effect, partition, at, "pruning_failed", effect.cause, cause=effect.cause, error=effect.error)


def _ended_incomplete(effect: EndedIncomplete, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.ended_incomplete`: what arrived is extracted; a message that arrives later is, too."""
    announced = {"message_count": effect.message_count, "last_message_id": effect.last_message_id}
    data = {name: value for name, value in announced.items() if value is not None}
    return _event(effect, partition, at, "ended_incomplete", effect.received, received=effect.received, **data)


def _event(
    effect: ContextWarning | ContextPruned | ContextRestored | MessageMarked | PruningFailed | EndedIncomplete,
    partition: int,
    at: datetime,
    kind: str,
    distinct: Any,
    **data: Any,
) -> ActivityEvent:
    """An activity event; `distinct` distinguishes events of one kind about one message."""
    conversation_id = effect.scope.conversation_id
    return ActivityEvent(
        id=ids.activity_id(f"window.{kind}", conversation_id, partition, effect.position, distinct),
        type=f"memstream.window.{kind}",
        time=at,
        subject=conversation_id,
        data=to_builtins(effect.scope) | data,
    )


def due_event(conversation_id: str, partition: int, read_to: int, now: float) -> Outgoing:
    """The control event of a timer. It includes the position that the messages partition was read to, so that applying it
    again has the same result."""
    at = datetime.fromtimestamp(now, UTC)
    control = WindowControl(conversation_id=conversation_id, kind="due", at=at, read_to=read_to)
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=conversation_id.encode(),
        value=codec.encode(control),
        partition=partition,
    )
