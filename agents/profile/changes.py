"""What of a profile changes with its memories. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from agents.profile.classification import part_of
from agents.profile.profile import worded
from schemas.memories.memories import Memory
from schemas.profile.profiles import Part

Change: TypeAlias = tuple[Memory | None, Memory | None]  # before and after


class ProfileChange(Struct, frozen=True, kw_only=True):
    """The parts whose lines say something else now, and the memories that make the difference."""

    parts: tuple[Part, ...]
    memory_ids: tuple[str, ...]


def profile_change(changes: Iterable[Change], now: datetime) -> ProfileChange | None:
    """What changes of memories, in their order, come to; None where the profile tells the same as before. How important a line is
    does not count: that matters only where lines have no room."""
    first: dict[str, Memory | None] = {}
    last: dict[str, Memory | None] = {}
    for before, after in changes:
        if (named := after or before) is not None:
            first.setdefault(named.memory_id, before)
            last[named.memory_id] = after
    lines = {each: (told(first[each], now), told(last[each], now)) for each in first}
    changed = {each: both for each, both in lines.items() if both[0] != both[1]}
    parts = sorted({line[0] for both in changed.values() for line in both if line is not None})
    return ProfileChange(parts=tuple(parts), memory_ids=tuple(sorted(changed))) if changed else None


def told(memory: Memory | None, now: datetime) -> tuple[Part, str] | None:
    """The line of a memory, if it has one."""
    if memory is None or memory.status != "active" or (part := part_of(memory)) is None:
        return None
    return part, worded(memory, now)


def of_gone(memories: Sequence[Memory]) -> list[Change]:
    return [(memory, None) for memory in memories]
