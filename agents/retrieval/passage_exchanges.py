"""Groups passages by message, and messages by exchange: messages of a conversation without a long pause between them. Pure."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sinks.passages.rows import PassageRow

Scores: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

MAX_DISTANCE: Final = 12  # messages on either side
SESSION_GAP: Final = timedelta(hours=6)  # a longer pause begins another exchange


class Messages(Struct, frozen=True):
    """The messages of candidate rows, ordered by conversation and ordinal.

    `of_row` has the message index of each row, `first_rows` the first row of each message. `exchanges` has the exchange
    number of each message, `ordinals` its ordinal in the conversation.
    """

    of_row: Numbers
    first_rows: Numbers
    exchanges: Numbers
    ordinals: Numbers

    def neighbours(self, step: int) -> Numbers:
        """The index of the previous (`step` -1) or next (1) message within the exchange; -1 if there is none."""
        neighbours = np.full(len(self.ordinals), -1)
        adjacent = (np.diff(self.exchanges) == 0) & (np.diff(self.ordinals) == 1)
        if step < 0:
            neighbours[1:][adjacent] = np.flatnonzero(adjacent)
        else:
            neighbours[:-1][adjacent] = np.flatnonzero(adjacent) + 1
        return neighbours


def in_order(rows: Sequence[PassageRow]) -> list[PassageRow]:
    """Rows by conversation and ordinal. A message that was found in several namespaces keeps the rows of one."""
    chosen: dict[tuple[str, str], str] = {}
    ordered = sorted(rows, key=lambda row: (row.conversation_id, row.ordinal, row.namespace, row.passage_id))
    return [
        row
        for row in ordered
        if chosen.setdefault((row.conversation_id, row.message_id), row.namespace) == row.namespace
    ]


def messages_of(rows: Sequence[PassageRow]) -> Messages:
    """The messages of ordered rows. Needs at least one row."""
    begins, exchanges, exchange = [0], [0], 0
    for at in range(1, len(rows)):
        row, before = rows[at], rows[at - 1]
        same = row.conversation_id == before.conversation_id
        if same and row.message_id == before.message_id:
            continue
        exchange += not (same and row.said_at - before.said_at <= SESSION_GAP)
        begins.append(at)
        exchanges.append(exchange)
    first_rows = np.array(begins)
    lengths = np.diff(np.append(first_rows, len(rows)))
    return Messages(
        of_row=np.repeat(np.arange(len(begins)), lengths),
        first_rows=first_rows,
        exchanges=np.array(exchanges),
        ordinals=np.array([rows[at].ordinal for at in begins]),
    )


def best_around(scores: Scores, messages: Messages) -> Scores:
    """For each message, the best score within MAX_DISTANCE messages of its exchange, its own score included."""
    best = scores.copy()
    for step in range(1, min(MAX_DISTANCE + 1, len(scores))):
        near = (messages.exchanges[step:] == messages.exchanges[:-step]) & (
            messages.ordinals[step:] - messages.ordinals[:-step] <= MAX_DISTANCE
        )
        ahead, behind = best[step:], best[:-step]
        ahead[near] = np.maximum(ahead[near], scores[:-step][near])
        behind[near] = np.maximum(behind[near], scores[step:][near])
    return best
