"""Marks on messages that were sent already: kept with the window, honoured by pruning."""

from collections.abc import Mapping

from msgspec import structs

from schemas.conversations.adjustments import MOST_MARKS, Adjustments, Mark, Marked
from streams.windows.entry import Entry
from streams.windows.traits import MessageTraits

KEEPING = ("pinned", "important")


def weighed(turn: MessageTraits, adjustments: Adjustments) -> MessageTraits:
    """The message as its mark and its rating, if it has them, make it."""
    mark, rating = adjustments.marks.get(turn.message_id), adjustments.ratings.get(turn.message_id)
    if (mark is None and rating is None) or turn.role == "system":
        return turn
    important = turn.important if mark is None else mark in KEEPING
    return structs.replace(turn, mark=mark, rating=rating, important=important)


def marked(adjustments: Adjustments, message_id: str, mark: Mark, held: Mapping[str, Entry], left: bool) -> Marked:
    """Keeps a mark: of a message in the window (`held`), or of one that is still on its way. `left`: it was there, and is gone.

    `normal` forgets the mark of a message that was sent without `important`. Where there is no room, the oldest marks of
    messages that never came give way.
    """
    marks = adjustments.marks
    if left:
        return "left"
    if mark == "normal" and message_id in held and not held[message_id].said.important:
        marks.pop(message_id, None)
        return "applied"
    if len(marks) >= MOST_MARKS and message_id not in marks:
        stray = next((each for each in marks if each not in held), None)
        if stray is None:
            return "full"
        del marks[stray]
    marks[message_id] = mark
    return "applied" if message_id in held else "waiting"
