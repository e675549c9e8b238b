"""What windows tell, as records: requests to the LLM stage, and activity events about their contexts."""

from datetime import datetime
from typing import Any

from msgspec import to_builtins
from opentelemetry.trace import SpanKind

from agents.windows.undecodable import headers_of
from schemas import codec, ids
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.events import CLOUD_EVENT, ActivityEvent
from schemas.observability import traces
from streams.windows.effects import ContextPruned, ContextRestored, ContextWarning, Effect, MessageMarked, PruningFailed


def outgoing(told: Effect, partition: int, at: datetime) -> Outgoing:
    """The record that tells it, on its conversation's partition or under its key."""
    if isinstance(told, ExtractionRequest):
        return _request(told)
    if isinstance(told, PruningFailed):
        event = _failed(told, partition, at)
    elif isinstance(told, ContextRestored):
        event = _restored(told, partition, at)
    elif isinstance(told, MessageMarked):
        event = _marked(told, partition, at)
    else:
        event = _warned(told, partition, at) if isinstance(told, ContextWarning) else _pruned(told, partition, at)
    key = told.scope.conversation_id.encode()
    return Outgoing(topic=topics.ACTIVITY, key=key, value=codec.encode(event), headers=CLOUD_EVENT)


def _request(request: ExtractionRequest) -> Outgoing:
    """It goes on with the trace of its messages, or begins one that links to those of each."""
    causes = [message.trace for message in request.messages]
    with traces.span("windows ask for extraction", request_attributes(request), causes=causes, kind=SpanKind.PRODUCER):
        return Outgoing(
            topic=topics.REQUESTS,
            key=request.conversation_id.encode(),
            value=codec.encode(request),
            headers=(*headers_of(request), *traces.headers()),
            partition=request.partition,
        )


def request_attributes(request: ExtractionRequest) -> dict[str, str | int]:
    """Which request it is, for spans: nothing of what was said."""
    return {
        "memstream.request_id": request.request_id,
        "memstream.conversation_id": request.conversation_id,
        "memstream.purpose": request.purpose,
        "memstream.lane": request.lane,
        "memstream.messages": len(request.messages),
    }


def _warned(told: ContextWarning, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.warned`: pruning follows unless what is protected fills the context alone."""
    level = told.statistics.level
    return _event(told, partition, at, "warned", level, level=level, statistics=to_builtins(told.statistics))


def _pruned(told: ContextPruned, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.pruned` or `.cleared`, with the reason of each message that left, by its id."""
    pruning = told.pruning
    return _event(
        told,
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
        reasons=told.reasons,
        statistics=to_builtins(told.statistics),
    )


def _restored(told: ContextRestored, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.restored`: a clear was undone."""
    statistics = to_builtins(told.statistics)
    return _event(told, partition, at, "restored", told.restored, restored=told.restored, statistics=statistics)


def _marked(told: MessageMarked, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.marked`: `outcome` says whether the mark holds."""
    data = {"message_id": told.message_id, "importance": told.importance, "outcome": told.outcome}
    return _event(told, partition, at, "marked", told.message_id, **data)


def _failed(told: PruningFailed, partition: int, at: datetime) -> ActivityEvent:
    """`memstream.window.pruning_failed`: the context stays as it was."""
    return _event(told, partition, at, "pruning_failed", told.cause, cause=told.cause, error=told.error)


def _event(
    told: ContextWarning | ContextPruned | ContextRestored | MessageMarked | PruningFailed,
    partition: int,
    at: datetime,
    kind: str,
    distinct: Any,
    **data: Any,
) -> ActivityEvent:
    """`distinct` tells events of one kind about one message apart."""
    conversation_id = told.scope.conversation_id
    return ActivityEvent(
        id=ids.activity_id(f"window.{kind}", conversation_id, partition, told.position, distinct),
        type=f"memstream.window.{kind}",
        time=at,
        subject=conversation_id,
        data=to_builtins(told.scope) | data,
    )
