"""Counts the tokens (markers included) and messages of a context while messages are removed."""

from collections.abc import Sequence

from schemas.conversations.windows import MARKER_TOKENS, Gap
from streams.windows.traits import MessageTraits


class Room:
    """`tokens` are counted tokens, markers included; `messages` are those besides the system prompt.

    `gaps` are in order, between the messages. A message removed next to a gap widens it; one between two kept messages needs
    a new marker.
    """

    def __init__(self, turns: Sequence[MessageTraits], gaps: Sequence[Gap]) -> None:
        size = len(turns)
        self._turns = turns
        self._before = [
            place - 1 for place in range(size + 1)
        ]  # the kept neighbours of each place; -1 and size are the ends
        self._after = [place + 1 for place in range(size)]
        self._open = _opened(turns, gaps)  # whether a gap is directly before a place
        self.messages = sum([turn.role != "system" for turn in turns])
        self.tokens = sum([turn.tokens for turn in turns]) + sum([gap.summary_tokens for gap in gaps])
        self.tokens += MARKER_TOKENS * sum(self._open)

    def remove(self, place: int) -> None:
        """Removes a message."""
        before, after = self._before[place], self._after[place]
        markers = 1 - self._open[place] - self._open[after]
        self.tokens += MARKER_TOKENS * markers - self._turns[place].tokens
        self.messages -= self._turns[place].role != "system"
        self._open[after] = True
        self._before[after] = before
        if before >= 0:
            self._after[before] = after


def _opened(turns: Sequence[MessageTraits], gaps: Sequence[Gap]) -> list[bool]:
    opened = [False] * (len(turns) + 1)
    place = 0
    for gap in gaps:
        while place < len(turns) and turns[place].position < gap.first:
            place += 1
        opened[place] = True
    return opened
