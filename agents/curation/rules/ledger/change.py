"""Makes new versions of memories: created, merged, superseded, updated, deleted. The ledger numbers them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from agents.curation.rules.conflicts.conflicts import begins_on_a_day
from agents.curation.rules.ledger import links
from agents.curation.rules.ledger.merge import raised_importance
from agents.curation.rules.ledger.sources import bounded, distinct, joined_tellers
from agents.curation.rules.ledger.sources import joined as joined_sources
from schemas import ids
from schemas.extraction import importance
from schemas.extraction.candidates import Candidate, source_users
from schemas.extraction.links import Link
from schemas.memories.commands import Command, Origin
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
    day = None if memory.event_time is None else memory.event_time.date().isoformat()
    is_gone = day is not None and day in memory.text and day not in text
    return replace(memory, text=text, event_time=None if is_gone else memory.event_time, updated_at=now)


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


def created_by_command(command: Command, text: str, now: datetime) -> Memory:
    """The memory of a create command. Its id includes the namespace, as senders choose their command ids freely."""
    return Memory(
        memory_id=ids.memory_id(ids.derive("command", command.namespace, command.command_id)),
        namespace=command.namespace,
        kind=command.memory_kind or DEFAULT_KIND,
        kinds=further_kinds(command.memory_kind or DEFAULT_KIND, command.kinds or ()),
        tags=distinct(command.tags or ()),
        text=text,
        context=command.context,
        full_text=command.full_text,
        importance=importance.DEFAULT if command.importance is None else command.importance,
        confidence=1.0 if command.confidence is None else command.confidence,
        version=UNNUMBERED,
        sequence=UNNUMBERED,
        status="active",
        created_at=now,
        updated_at=now,
        created_by=command.actor,
        told_by=joined_tellers((), command.told_by or ()),
        valid_from=command.valid_from or command.at,
        valid_until=command.valid_until,
        pinned=bool(command.pinned),
        expires_at=command.expires_at,
        links=links.distinct(command.links or ()),
    )


def import_ids(command: Command) -> tuple[str, str]:
    """The id that an imported memory had, if it is a UUID, and the id that it gets if another namespace has that one.

    Every id is a UUID: Qdrant accepts no other text as the id of a point.
    """
    memory_id = command.memory_id or ""
    derived = ids.derive("import", command.namespace, memory_id)
    return (memory_id if ids.is_uuid(memory_id) else derived), derived


def imported(command: Command, memory_id: str, text: str, now: datetime) -> Memory:
    """The memory of an import command. Its versions and links are not imported."""
    origin = command.origin or Origin()
    return replace(
        created_by_command(command, text, now),
        memory_id=memory_id,
        kinds=further_kinds(command.memory_kind or DEFAULT_KIND, (*(command.kinds or ()), *origin.kinds)),
        language=origin.language,
        created_at=origin.created_at or now,
        created_by=origin.created_by or command.actor,
        event_time=origin.event_time,
        valid_from=origin.valid_from or origin.created_at or command.at,
        valid_until=origin.valid_until if origin.valid_until and origin.valid_until > now else None,
        reinforcement_count=origin.reinforcement_count,
        last_reinforced_at=origin.last_reinforced_at,
        sources=bounded(origin.sources),
        told_by=joined_tellers(command.told_by or (), origin.told_by or source_users(origin.sources)),
        links=(),
    )


def reinforced_by_command(memory: Memory, command: Command, now: datetime) -> Memory:
    """The existing memory, reinforced by a command that would create it again."""
    added = None if command.links is None else (*memory.links, *command.links)
    count = memory.reinforcement_count + 1
    kinds = (*memory.kinds, *([memory.kind] if command.memory_kind else ()), *(command.kinds or ()))
    tags = (*memory.tags, *(command.tags or ()))
    return replace(
        updated(memory, replace(command, text=None, kinds=kinds, tags=tags, links=added), now),
        told_by=joined_tellers(memory.told_by, command.told_by or ()),
        importance=raised_importance(memory, command.importance or 0.0, count),
        confidence=max(memory.confidence, 1.0 if command.confidence is None else command.confidence),
        reinforcement_count=count,
        last_reinforced_at=max(command.at, memory.last_reinforced_at or command.at),
    )


def updated(memory: Memory, command: Command, now: datetime) -> Memory:
    """The memory with the fields that the command sets, and without those that it clears."""
    given: dict[str, Any] = {
        "text": command.text,
        "kind": command.memory_kind,
        "kinds": None if (kinds := kinds_after(memory, command)) == memory.kinds else kinds,
        "tags": None if command.tags is None else distinct(command.tags),
        "context": command.context,
        "full_text": command.full_text,
        "importance": command.importance,
        "confidence": command.confidence,
        "pinned": command.pinned,
        "expires_at": command.expires_at,
        "valid_from": command.valid_from,
        "valid_until": command.valid_until,
        "links": None if command.links is None else links.distinct(command.links, memory.memory_id),
    }
    changed = {name: value for name, value in given.items() if value is not None} | dict.fromkeys(command.cleared)
    if "valid_until" in command.cleared:
        changed["superseded_by"] = None  # a successor in the future would have ended it
    return replace(memory, **changed, updated_at=now)


def kinds_after(memory: Memory, command: Command) -> tuple[str, ...]:
    """The further kinds of a memory, without its first kind."""
    given = memory.kinds if command.kinds is None else command.kinds
    return further_kinds(command.memory_kind or memory.kind, given)


def further_kinds(first: str, given: Iterable[str]) -> tuple[str, ...]:
    return distinct(kind for kind in given if kind != first)


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
