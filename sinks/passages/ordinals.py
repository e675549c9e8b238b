"""Where messages come in their conversation: they are numbered in the order in which they were said. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple


class Place(NamedTuple):
    """Where a message comes; positions decide where two were said in the same moment."""

    said_at: datetime
    partition: int
    position: int


class Numbered(NamedTuple):
    """A message that has its number already."""

    message_id: str
    ordinal: int
    place: Place


def is_within(new: Mapping[str, Place], ends: Sequence[Numbered]) -> bool:
    """Whether one of the new messages comes between those that are numbered, of which the first and the last are given."""
    return bool(ends) and any(ends[0].place < place < ends[-1].place for place in new.values())


def ordinals(new: Mapping[str, Place], known: Sequence[Numbered]) -> tuple[dict[str, int], dict[str, int]]:
    """The numbers of new messages of a conversation, and of known ones that make room for them.

    `known` has all numbered messages of the conversation, in order; the first and the last will do where no new one comes between
    them. Earlier ones count down from the first, so that nothing moves when the past is added. Gaps that deleted messages left
    stay: what was said before and after one did not follow upon each other.
    """
    fresh = sorted(new, key=lambda message_id: new[message_id])
    if not known:
        return {message_id: number for number, message_id in enumerate(fresh)}, {}
    before = [message_id for message_id in fresh if new[message_id] < known[0].place]
    given = {message_id: known[0].ordinal - len(before) + number for number, message_id in enumerate(before)}
    rest, moved, shift = fresh[len(before) :], dict[str, int](), 0
    for each in known:
        while rest and new[rest[0]] < each.place:
            given[rest.pop(0)] = each.ordinal + shift
            shift += 1
        if shift:
            moved[each.message_id] = each.ordinal + shift
    given |= {message_id: known[-1].ordinal + shift + number for number, message_id in enumerate(rest, start=1)}
    return given, moved
