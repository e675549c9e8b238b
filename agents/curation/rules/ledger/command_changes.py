"""Makes new versions of memories by commands: created, imported, reinforced, updated."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from agents.curation.rules.ledger import links
from agents.curation.rules.ledger.change import DEFAULT_KIND, UNNUMBERED
from agents.curation.rules.ledger.event_times import event_time_after
from agents.curation.rules.ledger.merge import raised_importance
from agents.curation.rules.ledger.sources import bounded, distinct, joined_tellers
from schemas import ids
from schemas.extraction import importance
from schemas.extraction.candidates import source_users
from schemas.memories.commands import Command, Origin
from schemas.memories.memories import Memory


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
        event_time=command.event_time,
        valid_from=beginning(command.valid_from, command.at, command.valid_until),
        valid_until=command.valid_until,
        pinned=bool(command.pinned),
        expires_at=command.expires_at,
        links=links.distinct(command.links or ()),
    )


def beginning(given: datetime | None, told_at: datetime, ends: datetime | None) -> datetime | None:
    """The given beginning of a memory's validity, otherwise the time at which it was told; None for one that ended before
    that, whose beginning is unknown."""
    had_ended = ends is not None and ends <= told_at
    return given or (None if had_ended else told_at)


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
        valid_from=beginning(origin.valid_from, origin.created_at or command.at, origin.valid_until),
        valid_until=origin.valid_until,
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
        "event_time": command.event_time,
        "valid_from": command.valid_from,
        "valid_until": command.valid_until,
        "links": None if command.links is None else links.distinct(command.links, memory.memory_id),
    }
    changed = {name: value for name, value in given.items() if value is not None} | dict.fromkeys(command.cleared)
    if command.text is not None and "event_time" not in changed:
        changed["event_time"] = event_time_after(memory, command.text)
    if "valid_until" in command.cleared:
        changed["superseded_by"] = None  # a successor in the future would have ended it
    return replace(memory, **changed, updated_at=now)


def kinds_after(memory: Memory, command: Command) -> tuple[str, ...]:
    """The further kinds of a memory, without its first kind."""
    given = memory.kinds if command.kinds is None else command.kinds
    return further_kinds(command.memory_kind or memory.kind, given)


def further_kinds(first: str, given: Iterable[str]) -> tuple[str, ...]:
    return distinct(kind for kind in given if kind != first)
