"""The steps of a message's path, in order of time. Pure."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, Literal, get_args

from msgspec import Struct

from schemas import ids
from schemas.budgets.budgets import MICROS
from schemas.conversations.messages import Moment
from schemas.memories.memories import Change
from sinks.trails.trails import ExtractionTrace, MessageTraces, PartTrace, UsageTrace

StepKind = Literal[
    "published",
    "put_aside",
    "archived",
    "passages",
    "requested",
    "parked",
    "asked",
    "answered",
    "failed",
    "settled",
    "changed",
    "completed",
    "pruned",
]
ORDER: tuple[StepKind, ...] = get_args(StepKind)  # in pipeline order


EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


class TrailRuling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The decision of curation on one candidate of the answer."""

    result: str
    memory_id: str | None = None
    reason: str | None = None


class TrailStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step. Fields that do not apply to its kind are absent. Steps of the kind `passages` have no time. `changed` is a
    change of a memory that has the message as a source; `later` is true if the change came from another cause.
    `published` is true once its event is published."""

    kind: StepKind
    at: Moment | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    trace_id: str | None = None
    letter: str | None = None
    stage: str | None = None
    reason: str | None = None
    lane: str | None = None
    request_id: str | None = None
    policy: str | None = None
    namespace: str | None = None
    namespaces: tuple[str, ...] = ()
    pieces: int | None = None
    provider: str | None = None
    model: str | None = None
    proposals: int | None = None
    calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    rulings: tuple[TrailRuling, ...] = ()
    memory_id: str | None = None
    version: int | None = None
    change: Change | None = None
    text: str | None = None
    event_id: str | None = None
    sequence: int | None = None
    published: bool | None = None
    later: bool = False
    count: int | None = None


def stored_steps(traces: MessageTraces, allowed: Callable[[str], bool]) -> Iterator[TrailStep]:
    """Yields the steps that PostgreSQL has, limited to namespaces for which `allowed` returns True."""
    yield TrailStep(kind="archived", at=traces.archived.archived_at)
    for passage in traces.passages:
        if allowed(passage.namespace):
            yield TrailStep(kind="passages", namespace=passage.namespace, pieces=passage.pieces)
    usage = {each.request_id: each for each in traces.usage}
    for request in traces.extractions:
        yield from extraction_steps(request, usage.get(request.request_id), allowed)
    yield from parked_steps(traces)
    for part in traces.parts:
        if allowed(part.namespace):
            yield settled_step(part)
    requests = {each.request_id for each in traces.extractions}
    for change in traces.changes:
        if allowed(change.namespace):
            yield TrailStep(
                kind="changed",
                at=change.at,
                memory_id=change.memory_id,
                version=change.version,
                namespace=change.namespace,
                change=change.change,
                text=change.text,
                sequence=change.sequence,
                event_id=ids.event_id(change.namespace, change.sequence),
                published=change.published,
                later=change.cause.request_id not in requests,
            )


def extraction_steps(
    request: ExtractionTrace, usage: UsageTrace | None, allowed: Callable[[str], bool]
) -> Iterator[TrailStep]:
    visible = tuple(filter(allowed, request.namespaces))
    name = request.request_id
    policy = f"{request.policy} {request.policy_version}"
    yield TrailStep(kind="requested", at=request.requested_at, request_id=name, policy=policy, namespaces=visible)
    if request.under_way:
        yield TrailStep(kind="asked", request_id=name)
    if request.stored_at is not None:
        yield TrailStep(
            kind="answered",
            at=request.stored_at,
            request_id=name,
            provider=request.provider,
            model=request.model,
            proposals=request.proposals,
            calls=usage.calls if usage else None,
            tokens=usage.tokens if usage else None,
            cost_usd=usage.cost_micros / MICROS if usage and usage.cost_micros is not None else None,
        )
    if request.failed_at is not None:
        yield TrailStep(kind="failed", at=request.failed_at, request_id=name, reason=request.failed_reason)
    if request.completed_at is not None:
        yield TrailStep(kind="completed", at=request.completed_at, request_id=name)


def parked_steps(traces: MessageTraces) -> Iterator[TrailStep]:
    """Yields parked requests. A request without a model call has no other trace, so it may cover other messages of the
    conversation."""
    answered = {each.request_id for each in traces.extractions if each.stored_at is not None}
    if traces.extractions and all(each.request_id in answered for each in traces.extractions):
        return
    for each in traces.parked:
        yield TrailStep(
            kind="parked", at=each.parked_at, request_id=each.request_id, lane=each.lane, reason=each.reason
        )


def settled_step(part: PartTrace) -> TrailStep:
    rulings = (
        TrailRuling(result=each.result, memory_id=each.memory_id, reason=each.reason) for each in part.rulings or ()
    )
    return TrailStep(
        kind="settled",
        at=part.committed_at,
        request_id=part.request_id,
        namespace=part.namespace,
        reason=None if part.status == "settled" else part.status,
        rulings=tuple(rulings),
    )


def in_order(steps: Iterable[TrailStep]) -> tuple[TrailStep, ...]:
    """Orders steps by time. Steps without a time, and steps of the same time, are in pipeline order."""
    listed = sorted(steps, key=lambda step: ORDER.index(step.kind))
    times: list[datetime] = []
    for step in listed:  # a step without a time follows the previous step
        times.append(step.at or (times[-1] if times else EARLIEST))
    by_time = sorted(zip(times, range(len(listed)), listed, strict=True), key=lambda each: each[:2])
    return tuple(step for _, _, step in by_time)
