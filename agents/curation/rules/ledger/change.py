"""Makes new versions of memories: created, merged, superseded, updated, deleted. The ledger numbers them."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from agents.curation.rules.conflicts.conflicts import begins_on_a_day
from agents.curation.rules.ledger import links
from agents.curation.rules.ledger.event_times import loses_event_day
from agents.curation.rules.ledger.sources import distinct, joined_tellers
from agents.curation.rules.ledger.sources import joined as joined_sources
from schemas import ids
from schemas.extraction.candidates import Candidate
from schemas.extraction.links import Link
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

DEFAULT_KIND = "fact"
UNNUMBERED = 0  # until the ledger assigns version and sequence


def created(
    candidate: Candidate, namespace: str, created_by: str, now: datetime, linked: tuple[Link, ...] = ()
) -> Memory:
    """The memory of a candidate. It holds from the time of the message, or from an earlier event that the candidate names."""
    return Memory(
        memory_id=ids.memory_id(candidate.candidate_id),
        namespace=namespace,
        kind=candidate.kind,
        kinds=candidate.kinds,
        tags=distinct(candidate.tags),
        text=candidate.text,
        context=candidate.context,
        full_text=candidate.full_text,
        language=candidate.language,
        importance=candidate.rated,
        confidence=candidate.confidence,
        version=UNNUMBERED,
        sequence=UNNUMBERED,
        status="active",
        created_at=now,
        updated_at=now,
        created_by=created_by,
        event_time=candidate.event_time,
        valid_from=valid_from(candidate, now),
        valid_until=valid_until(candidate, now),
        sources=candidate.sources,
        told_by=joined_tellers((), candidate.told_by),
        links=linked,
    )


def superseded(memory: Memory, successor: Memory, until: datetime, now: datetime) -> Memory:
    """The memory superseded at `until`, which is never before its beginning."""
    return replace(
        memory,
        status="superseded",
        superseded_by=successor.memory_id,
        valid_until=max(until, memory.valid_from or until),
        updated_at=now,
    )


def without_clause(memory: Memory, text: str, now: datetime) -> Memory:
    """The memory with a shorter text, and without the time of an event that the text no longer names."""
    event_time = None if loses_event_day(memory, text) else memory.event_time
    return replace(memory, text=text, event_time=event_time, updated_at=now)


def merged(memory: Memory, absorbed: Memory, text: str, now: datetime) -> Memory:
    """The memory with a text that also has the content of another one."""
    return replace(
        memory,
        text=text,
        context=joined(memory.context, absorbed.context),
        full_text=joined(memory.full_text, absorbed.full_text),
        importance=max(memory.importance, absorbed.importance),
        confidence=max(memory.confidence, absorbed.confidence),
        kinds=distinct(kind for kind in (*memory.kinds, absorbed.kind, *absorbed.kinds) if kind != memory.kind),
        tags=distinct((*memory.tags, *absorbed.tags)),
        sources=joined_sources(memory.sources, absorbed.sources),
        told_by=joined_tellers(memory.told_by, absorbed.told_by),
        reinforcement_count=memory.reinforcement_count + absorbed.reinforcement_count,
        links=links.without_removed_links(
            replace(memory, links=(*memory.links, *absorbed.links)), {absorbed.memory_id: None}
        ).links,
        updated_at=now,
    )


def joined(one: str | None, other: str | None) -> str | None:
    """Both texts; one of them if it has the content of the other."""
    if not one or not other or one == other:
        return one or other
    return f"{one} {other}"


def with_expiry(memory: Memory, policy: Policy, now: datetime) -> Memory:
    """The memory with the policy's expiry, counted from now. A later or manual expiry stays."""
    if policy.expire_after_s is None:
        return memory
    until = now + timedelta(seconds=policy.expire_after_s)
    if memory.version != UNNUMBERED and memory.expires_at is None:
        return memory
    return replace(memory, expires_at=max(until, memory.expires_at or until))


def expired(memory: Memory, now: datetime) -> Memory:
    """The memory expired: not live, but readable."""
    until = memory.expires_at or now
    return replace(
        memory, status="expired", valid_until=max(until, memory.valid_from or until), pinned=False, updated_at=now
    )


def retracted(memory: Memory, now: datetime) -> Memory:
    """The memory expired at its user's request: not live, but readable."""
    until = max(now, memory.valid_from or now)
    return replace(memory, status="expired", valid_until=until, pinned=False, updated_at=now)


def valid_from(candidate: Candidate, now: datetime) -> datetime:
    """The candidate's own beginning, otherwise the day of its event, otherwise the time of the message. A future event
    counts only for statements that begin on that day, such as a home."""
    if candidate.valid_from is not None:
        return candidate.valid_from
    said = first_said(candidate, now)
    if candidate.event_time is None:
        return said
    return candidate.event_time if begins_on_a_day(candidate.text) else min(candidate.event_time, said)


def valid_until(candidate: Candidate, now: datetime) -> datetime | None:
    """The candidate's end; None for a statement about the past, which stays true."""
    until = candidate.valid_until
    return until if until is not None and until > max(first_said(candidate, now), valid_from(candidate, now)) else None


def first_said(candidate: Candidate, now: datetime) -> datetime:
    return min((source.timestamp for source in candidate.sources if source.timestamp is not None), default=now)


def deleted(memory: Memory, now: datetime) -> Memory:
    """The memory deleted, without its content, which its versions keep."""
    return replace(
        memory,
        status="deleted",
        text="",
        context=None,
        full_text=None,
        kinds=(),
        tags=(),
        sources=(),
        told_by=(),
        links=(),
        pinned=False,
        expires_at=None,
        updated_at=now,
    )
