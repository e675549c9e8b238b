"""The result of pruning: which messages stay in context, which leave, and why."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from schemas.conversations.windows import Cause, Gap, Level, Reason
from streams.windows.context import gaps as gaps_
from streams.windows.pruning.reasons import STAYED
from streams.windows.traits import MessageTraits


class Decision(Struct, frozen=True):
    """`retained` and `removed` are positions in order; `reasons` has the reason for each.

    `gaps` are all gaps afterwards, including those of earlier prunings. `tokens` are the counted tokens afterwards, with markers.
    `level` is the fill level before. `reached`: the context is within its targets; otherwise protected messages exceed them.
    """

    cause: Cause
    level: Level
    retained: tuple[int, ...]
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
    """The decision for these `reasons`, one for each place in the window."""
    why = [reasons[place] for place in range(len(turns))]
    kept: list[int] = []
    gone: list[list[MessageTraits]] = []  # runs of neighbouring messages
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
        retained=tuple(kept),
        removed=tuple([turn.position for run in gone for turn in run]),
        reasons={turn.position: reason for turn, reason in zip(turns, why, strict=True)},
        gaps=gaps_.merge_adjacent([*gaps, *map(_gap, gone)], kept),
        tokens=tokens,
        reached=reached,
    )


def _gap(run: Sequence[MessageTraits]) -> Gap:
    """The gap of neighbouring removed messages."""
    return Gap(run[0].position, run[-1].position, len(run), sum([turn.tokens for turn in run]))


def combine(decision: Decision, further: Decision) -> Decision:
    """Combines two decisions, the second one about the messages that the first kept."""
    return Decision(
        cause=decision.cause,
        level=decision.level,
        retained=further.retained,
        removed=tuple(sorted((*decision.removed, *further.removed))),
        reasons=decision.reasons | further.reasons,
        gaps=further.gaps,
        tokens=further.tokens,
        reached=further.reached,
    )
