"""Builds the trail of a message that became a memory."""

from datetime import timedelta

from schemas.memories.events import Cause
from sinks.trails.trails import (
    ArchivedTrace,
    ChangeTrace,
    ExtractionTrace,
    MessageTraces,
    ParkedTrace,
    PartTrace,
    PassageTrace,
    RulingTrace,
    UsageTrace,
)
from tests.api import NOON

SAID = "User is allergic to peanuts."


def after(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def a_change(
    namespace: str = "app/ada", *, request_id: str | None = "r1", text: str = SAID, number: int = 1
) -> ChangeTrace:
    return ChangeTrace(
        memory_id=f"m{number}",
        version=1,
        namespace=namespace,
        change="created",
        at=NOON + after(3.2),
        cause=Cause(actor="claude", request_id=request_id),
        text=text,
        sequence=number,
        published=True,
    )


def an_extraction(namespaces: tuple[str, ...] = ("app/ada",), *, reason: str | None = None) -> ExtractionTrace:
    return ExtractionTrace(
        request_id="r1",
        policy="app",
        policy_version=2,
        namespaces=namespaces,
        requested_at=NOON + after(1),
        stored_at=None if reason else NOON + after(3),
        completed_at=None if reason else NOON + after(4),
        failed_at=NOON + after(3) if reason else None,
        failed_reason=reason,
        provider="claude",
        model="claude-haiku",
        proposals=2,
        under_way=False,
    )


def a_trail(
    *extractions: ExtractionTrace,
    passages: tuple[PassageTrace, ...] = (PassageTrace(namespace="app/ada", pieces=1),),
    parked: tuple[ParkedTrace, ...] = (),
    changes: tuple[ChangeTrace, ...] | None = None,
) -> MessageTraces:
    """The traces of a message at position 3 of partition 0."""
    kept = RulingTrace(candidate_id="c1", result="created", memory_id="m1")
    dropped = RulingTrace(candidate_id="c2", result="dropped", reason="confidence below 0.3")
    part = PartTrace(
        request_id="r1", namespace="app/ada", status="settled", rulings=(kept, dropped), committed_at=NOON + after(3.1)
    )
    return MessageTraces(
        archived=ArchivedTrace(
            role="user", partition=0, position=3, said_at=NOON - after(1), archived_at=NOON + after(0.4)
        ),
        passages=passages,
        extractions=extractions,
        parked=parked,
        parts=(part,) if extractions else (),
        usage=(UsageTrace(request_id="r1", calls=1, tokens=1_234, cost_micros=2_500),) if extractions else (),
        changes=(a_change(),) if changes is None else changes,
    )
