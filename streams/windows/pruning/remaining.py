"""Keeps count of a context while messages are taken out of it: its tokens with those of the markers, and its messages."""

from collections.abc import Sequence

from schemas.conversations.windows import MARKER_TOKENS, Gap
from streams.windows.traits import MessageTraits


class Room:
    """`tokens` are counted ones, markers included; `messages` are those besides the system prompt.

    `gaps` are in order and lie between the turns. A message that leaves next to a gap widens it; one that leaves between
    two messages needs a marker of its own.
    """

    def __init__(self, turns: Sequence[MessageTraits], gaps: Sequence[Gap]) -> None:
        size = len(turns)
        self._turns = turns
        self._before = [place - 1 for place in range(size + 1)]  # the kept neighbours of each; -1 and size are the ends
        self._after = [place + 1 for place in range(size)]
        self._open = _opened(turns, gaps)  # whether a gap lies right before a place
        self.messages = sum([turn.role != "system" for turn in turns])
        self.tokens = sum([turn.tokens for turn in turns]) + sum([gap.summary_tokens for gap in gaps])
        self.tokens += MARKER_TOKENS * sum(self._open)

    def remove(self, place: int) -> None:
        """Takes out a message that is still in."""
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
