"""A decision about a window: what stays in context, what leaves, and why."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from schemas.conversations.windows import Cause, Gap, Level, Reason
from streams.windows.context import gaps as gaps_
from streams.windows.pruning.reasons import STAYED
from streams.windows.traits import MessageTraits


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


def make_decision(
    turns: Sequence[MessageTraits],
    gaps: Sequence[Gap],
    reasons: Mapping[int, Reason],
    cause: Cause,
    level: Level,
    tokens: int,
    reached: bool,
) -> Decision:
    """The decision that `reasons`, by place in the window, amount to."""
    why = [reasons[place] for place in range(len(turns))]
    kept: list[int] = []
    gone: list[list[MessageTraits]] = []  # runs that stood side by side
    apart = True
    for turn, reason in zip(turns, why, strict=True):
        if reason in STAYED:
            kept.append(turn.position)
            apart = True
        elif apart:
            gone.append([turn])
            apart = False
        else:
            gone[-1].append(turn)
    return Decision(
        cause=cause,
        level=level,
        kept=tuple(kept),
        removed=tuple([turn.position for run in gone for turn in run]),
        reasons={turn.position: reason for turn, reason in zip(turns, why, strict=True)},
        gaps=gaps_.merged([*gaps, *map(_gap, gone)], kept),
        tokens=tokens,
        reached=reached,
    )


def _gap(run: Sequence[MessageTraits]) -> Gap:
    """What messages leave that went side by side."""
    return Gap(run[0].position, run[-1].position, len(run), sum([turn.tokens for turn in run]))


def combine(decision: Decision, further: Decision) -> Decision:
    """Two decisions as one, the further one being about what the first one kept."""
    return Decision(
        cause=decision.cause,
        level=decision.level,
        kept=further.kept,
        removed=tuple(sorted((*decision.removed, *further.removed))),
        reasons=decision.reasons | further.reasons,
        gaps=further.gaps,
        tokens=further.tokens,
        reached=further.reached,
    )
