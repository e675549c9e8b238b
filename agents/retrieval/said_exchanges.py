"""Which messages candidates belong to, which exchange each message belongs to, and what is beside it. Pure."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sinks.passages.rows import PassageRow

Scores: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

REACH: Final = 12  # messages on either side that belong to an exchange
SESSION_GAP: Final = timedelta(hours=6)  # of silence: what follows is another exchange


class Messages(Struct, frozen=True):
    """The messages of candidates, in the order of their conversations. `of_row` numbers the message of each row, `first_rows`
    says where the rows of each message begin. `exchanges` numbers the exchange of each message, `ordinals` its place in the
    conversation."""

    of_row: Numbers
    first_rows: Numbers
    exchanges: Numbers
    ordinals: Numbers

    def beside(self, step: int) -> Numbers:
        """For each message the number of the one right before (-1) or after (1) it in its exchange; -1 where there is none."""
        beside = np.full(len(self.ordinals), -1)
        adjacent = (np.diff(self.exchanges) == 0) & (np.diff(self.ordinals) == 1)
        if step < 0:
            beside[1:][adjacent] = np.flatnonzero(adjacent)
        else:
            beside[:-1][adjacent] = np.flatnonzero(adjacent) + 1
        return beside


def in_order(rows: Sequence[PassageRow]) -> list[PassageRow]:
    """By conversation and place. Of a message that is found in several namespaces the rows of one."""
    chosen: dict[tuple[str, str], str] = {}
    ordered = sorted(rows, key=lambda row: (row.conversation_id, row.ordinal, row.namespace, row.passage_id))
    return [
        row
        for row in ordered
        if chosen.setdefault((row.conversation_id, row.message_id), row.namespace) == row.namespace
    ]


def messages_of(rows: Sequence[PassageRow]) -> Messages:
    """Of rows in order; at least one."""
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
    """For each message the best score within REACH messages of its exchange, its own included."""
    best = scores.copy()
    for step in range(1, min(REACH + 1, len(scores))):
        near = (messages.exchanges[step:] == messages.exchanges[:-step]) & (
            messages.ordinals[step:] - messages.ordinals[:-step] <= REACH
        )
        ahead, behind = best[step:], best[:-step]
        ahead[near] = np.maximum(ahead[near], scores[:-step][near])
        behind[near] = np.maximum(behind[near], scores[step:][near])
    return best
