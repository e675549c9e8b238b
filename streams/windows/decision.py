"""A decision about a window: what stays in context, what leaves, and why."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from schemas.windows import Cause, Gap, Level, Reason
from streams.windows import gaps as gaps_
from streams.windows.reasons import STAYED
from streams.windows.turn import Turn


class Decision(Struct, frozen=True):
    """What stays and what leaves. `kept`, `removed` are positions in order; `reasons` has one for each of them.

    `gaps` are all there are now, those of earlier prunings among them. `tokens` are counted ones of what stays, markers
    included. `level` is that of before. `reached`: it is within its targets now; otherwise what is protected is too large.
    """

    cause: Cause
    level: Level
    kept: tuple[int, ...]
    removed: tuple[int, ...]
    reasons: dict[int, Reason]
    gaps: tuple[Gap, ...]
    tokens: int
    reached: bool


def decided(
    turns: Sequence[Turn],
    gaps: Sequence[Gap],
    reasons: Mapping[int, Reason],
    cause: Cause,
    level: Level,
    tokens: int,
    reached: bool,
) -> Decision:
    """The decision that `reasons`, by place in the window, amount to."""
    kept = tuple(turn.position for place, turn in enumerate(turns) if reasons[place] in STAYED)
    gone = [turn for place, turn in enumerate(turns) if reasons[place] not in STAYED]
    return Decision(
        cause=cause,
        level=level,
        kept=kept,
        removed=tuple(turn.position for turn in gone),
        reasons={turn.position: reasons[place] for place, turn in enumerate(turns)},
        gaps=gaps_.merged([*gaps, *map(gaps_.of, gone)], kept),
        tokens=tokens,
        reached=reached,
    )
