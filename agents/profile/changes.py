"""Compares a profile before and after a change of memories. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from agents.profile.classification import part_of
from agents.profile.profile_builder import line_text
from schemas.memories.memories import Memory
from schemas.profile.profiles import Part

Change: TypeAlias = tuple[Memory | None, Memory | None]  # the memory before and after a change


class ProfileChange(Struct, frozen=True, kw_only=True):
    """The parts with changed lines, and the memories that changed them."""

    parts: tuple[Part, ...]
    memory_ids: tuple[str, ...]


def profile_change(changes: Iterable[Change], now: datetime) -> ProfileChange | None:
    """The effect of changes of memories, in order; None if the profile stays the same. Importance does not count: it matters
    only where lines have no room."""
    first: dict[str, Memory | None] = {}
    last: dict[str, Memory | None] = {}
    for before, after in changes:
        if (named := after or before) is not None:
            first.setdefault(named.memory_id, before)
            last[named.memory_id] = after
    lines = {each: (profile_line(first[each], now), profile_line(last[each], now)) for each in first}
    changed = {each: both for each, both in lines.items() if both[0] != both[1]}
    parts = sorted({line[0] for both in changed.values() for line in both if line is not None})
    return ProfileChange(parts=tuple(parts), memory_ids=tuple(sorted(changed))) if changed else None


def profile_line(memory: Memory | None, now: datetime) -> tuple[Part, str] | None:
    """The part and the line of a memory; None if it is not in the profile."""
    if memory is None or memory.status != "active" or (part := part_of(memory)) is None:
        return None
    return part, line_text(memory, now)


def of_gone(memories: Sequence[Memory]) -> list[Change]:
    return [(memory, None) for memory in memories]
