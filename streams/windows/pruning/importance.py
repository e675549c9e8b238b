"""How important a message is, in [0, 1]. What its text says was found on arrival, or a model rated it; its age and
place are added here."""

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

# Tenths, so that sums are exact. All but the last of them are given by the product's requirements.
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
REFERENCE: Final = 1  # for each of them
DAY: Final = -1  # for each whole day of age
RECENCY: Final = (*(4,) * 5, *(2,) * 5, *(1,) * 10)  # the last 5, 10 and 20 messages: the highest that applies
REDUNDANT: Final = -2  # said again by a later message; as much as what is casual

IMPORTANT: Final = 0.9  # at least, of a message that is marked important
DAY_S: Final = 86_400.0


@cache  # there are a few thousand combinations of traits, and a few dozen in most windows
def base_importance(traits: int) -> int:
    """What the text contributes, in tenths, the base included; not clamped."""
    return BASE + sum(weight for bit, weight in WEIGHTS.items() if traits & bit) + REFERENCE * references(traits)


def importance(turn: MessageTraits, newer: int, now: float, repeated: bool = False) -> float:
    """The score of a message that `newer` messages follow, at the time `now` (Unix seconds).

    `repeated`: a later message says the same. System prompts and pinned messages score 1.0.
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
