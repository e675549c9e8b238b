"""Marks on messages, kept with the window and respected by pruning."""

from collections.abc import Mapping

from msgspec import structs

from schemas.conversations.adjustments import MOST_MARKS, Adjustments, Mark, Marked
from streams.windows.entry import Entry
from streams.windows.traits import MessageTraits

KEEPING = ("pinned", "important")


def weighed(turn: MessageTraits, adjustments: Adjustments) -> MessageTraits:
    """The message with its mark and rating applied."""
    mark, rating = adjustments.marks.get(turn.message_id), adjustments.ratings.get(turn.message_id)
    if (mark is None and rating is None) or turn.role == "system":
        return turn
    important = turn.important if mark is None else mark in KEEPING
    return structs.replace(turn, mark=mark, rating=rating, important=important)


def marked(adjustments: Adjustments, message_id: str, mark: Mark, held: Mapping[str, Entry], left: bool) -> Marked:
    """Stores the mark of a message in the window (`held`), or of one that has not arrived. `left`: the message has left the
    window.

    `normal` removes the mark of a message that was sent without `important`. Above the limit, the oldest marks of messages
    that never arrived are dropped.
    """
    marks = adjustments.marks
    if left:
        return "left"
    if mark == "normal" and message_id in held and not held[message_id].message.important:
        marks.pop(message_id, None)
        return "applied"
    if len(marks) >= MOST_MARKS and message_id not in marks:
        stray = next((each for each in marks if each not in held), None)
        if stray is None:
            return "full"
        del marks[stray]
    marks[message_id] = mark
    return "applied" if message_id in held else "waiting"
