"""Numbers the messages of a conversation in the order of their timestamps. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple


class Place(NamedTuple):
    """The sort key of a message: its timestamp, then its position."""

    said_at: datetime
    partition: int
    position: int


class Numbered(NamedTuple):
    """A message that has an ordinal."""

    message_id: str
    ordinal: int
    place: Place


def is_within(new: Mapping[str, Place], ends: Sequence[Numbered]) -> bool:
    """Whether a new message falls between the first and the last numbered message."""
    return bool(ends) and any(ends[0].place < place < ends[-1].place for place in new.values())


def ordinals(new: Mapping[str, Place], known: Sequence[Numbered]) -> tuple[dict[str, int], dict[str, int]]:
    """The ordinals of new messages of a conversation, and of known ones that must move.

    `known` has all numbered messages of the conversation in order; the first and the last suffice if no new message falls
    between them. Earlier messages count down from the first, so adding the past moves nothing. Gaps of deleted messages
    stay: the messages around one were not neighbours.
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
