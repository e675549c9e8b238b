"""The importance of a message, in [0, 1]: its text's score, found on arrival or rated by a model, plus age and place."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from streams.windows.detectors.redundancy import redundant
from streams.windows.detectors.traits import (
    CASUAL,
    CORRECTION,
    DIRECTIVE,
    ERROR,
    TASK_COMPLETE,
    TOOL_CALL,
    TOOL_RESULT,
    references,
)
from streams.windows.traits import MessageTraits

# In tenths, so that sums are exact. All but REDUNDANT are from the product's requirements.
BASE: Final = 5
WEIGHTS: Final = {
    TOOL_CALL: 3,
    TOOL_RESULT: 2,
    DIRECTIVE: 2,
    ERROR: 3,
    CORRECTION: 2,
    CASUAL: -2,
    TASK_COMPLETE: -3,
}
REFERENCE: Final = 1  # per reference
DAY: Final = -1  # per whole day of age
RECENCY: Final = (*(4,) * 5, *(2,) * 5, *(1,) * 10)  # the last 5, 10 and 20 messages: the highest that applies
REDUNDANT: Final = -2  # repeated by a later message; the same as casual

IMPORTANT: Final = 0.9  # least score of a message marked important
DAY_S: Final = 86_400.0


@cache  # a few thousand combinations exist, a few dozen occur in most windows
def base_importance(traits: int) -> int:
    """The score of the text in tenths, base included; not clamped."""
    return BASE + sum(weight for bit, weight in WEIGHTS.items() if traits & bit) + REFERENCE * references(traits)


def importance(turn: MessageTraits, newer: int, now: float, repeated: bool = False) -> float:
    """The score of a message with `newer` messages after it, at `now` (Unix seconds).

    `repeated`: a later message has the same text. System prompts and pinned messages score 1.0.
    """
    if turn.role == "system" or turn.mark == "pinned":
        return 1.0
    if turn.mark == "expendable":
        return 0.0
    tenths = base_importance(turn.traits) if turn.rating is None else turn.rating
    if newer < len(RECENCY):
        tenths += RECENCY[newer]
    age_s = now - turn.timestamp
    if age_s >= DAY_S:
        tenths += DAY * int(age_s // DAY_S)
    if repeated:
        tenths += REDUNDANT
    score = 0.0 if tenths <= 0 else 1.0 if tenths >= 10 else tenths / 10
    return IMPORTANT if turn.important and score < IMPORTANT else score


def scores(turns: Sequence[MessageTraits], now: float) -> list[float]:
    """The scores of a window's messages, in their order. System messages do not count among the last ones."""
    repeated = redundant(turns)
    newer = sum([turn.role != "system" for turn in turns])
    found: list[float] = []
    for place, turn in enumerate(turns):
        if turn.role != "system":
            newer -= 1
        found.append(importance(turn, newer, now, place in repeated))
    return found
