"""Pruning: decides which messages of a conversation stay in context, and why. Pure; needs no text of messages."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from schemas.conversations.windows import Cause, Gap, Reason
from streams.windows import segments
from streams.windows.pruning import ordering
from streams.windows.pruning.decision import Decision, combine, make_decision
from streams.windows.pruning.importance import scores
from streams.windows.pruning.ordering import Ranked
from streams.windows.pruning.remaining import Room
from streams.windows.pruning.units import group_units
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits

KEPT: Final[dict[int, Reason]] = {
    ordering.LASTING: "directive",
    ordering.CURRENT: "current_task",
    ordering.FRAMING: "framing",
    ordering.IMPORTANT: "marked_important",
    ordering.CORRECTED: "error_pair",
}
UNUSED: Final = 0.15  # the largest share of a target left unused to remove or keep a task as a whole


def prune(
    turns: Sequence[MessageTraits], gaps: Sequence[Gap], budget: Budget, now: float, cause: Cause = "usage"
) -> Decision:
    """Decides about the messages in context, given in order, and the gaps of earlier prunings between them.

    By usage, nothing leaves below the warning level and the maximum number of messages; above, the window shrinks to the
    target of its level, or, with too many messages, to the warning level's target. At a task boundary the finished tasks
    leave too; at a session start and by hand all but the current task, except directives (not with `rolling_window`),
    corrected errors and important messages; by hand the window also shrinks to the lower target. System messages and the
    most recent messages never leave. The decision is idempotent.
    """
    decision = _once(turns, gaps, budget, now, cause)
    # Removals may change how the remaining messages are grouped: decide again until nothing more leaves.
    while decision.removed and not (cause == "usage" and decision.reached):
        kept = set(decision.retained)
        further = _once([turn for turn in turns if turn.position in kept], decision.gaps, budget, now, cause)
        if not further.removed:
            break
        decision = combine(decision, further)
    return decision


def _once(turns: Sequence[MessageTraits], gaps: Sequence[Gap], budget: Budget, now: float, cause: Cause) -> Decision:
    pruning = _Pruning(turns, gaps, budget, now, cause)
    pruning.run()
    return pruning.decision()


def due(messages: int, tokens: int, budget: Budget) -> bool:
    """Whether a decision by usage could remove anything, from counts known when a message arrives.

    `messages` are those in context besides the system prompt, `tokens` the counted tokens of context and markers.
    """
    return messages > budget.settings.max_messages or budget.level(tokens) != "ok"


def clear(turns: Sequence[MessageTraits], gaps: Sequence[Gap], budget: Budget) -> Decision:
    """Removes everything but system messages."""
    leaving = {turn.position for turn in turns if turn.role != "system"}
    return remove(turns, gaps, budget, leaving, "cleared", "cleared")


def remove(
    turns: Sequence[MessageTraits],
    gaps: Sequence[Gap],
    budget: Budget,
    leaving: Collection[int],
    cause: Cause,
    reason: Reason,
) -> Decision:
    """The decision to remove exactly these positions."""
    room = Room(turns, gaps)
    level = budget.level(room.tokens)
    reasons: dict[int, Reason] = {}
    for place, turn in enumerate(turns):
        reasons[place] = "system_prompt" if turn.role == "system" else "fits"
        if turn.position in leaving:
            room.remove(place)
            reasons[place] = reason
    return make_decision(turns, gaps, reasons, cause, level, room.tokens, True)


class _Pruning:
    """One decision in progress: `removed` has the reason of each removed place."""

    def __init__(
        self, turns: Sequence[MessageTraits], gaps: Sequence[Gap], budget: Budget, now: float, cause: Cause
    ) -> None:
        settings = budget.settings
        self._turns, self._gaps, self._budget, self._cause = turns, gaps, budget, cause
        self._room = Room(turns, gaps)
        self._level = budget.level(self._room.tokens)
        self._target = budget.target("aggressive" if cause == "manual" else self._level)
        crowded = self._room.messages > settings.max_messages
        self._most = budget.target_messages if crowded else settings.max_messages
        self._current = turns[-1].segment if turns else 0
        units = group_units(turns, scores(turns, now), settings.min_recent, gaps)
        self._ranked = ordering.ranked(units, settings.strategy, self._current)
        self._removed: dict[int, Reason] = {}

    def run(self) -> None:
        free = [each for each in self._ranked if not each[1].protected]
        finished = self._finished()
        self._take([each for each in free if each[0] <= ordering.COMPLETED and each[1].segment in finished])
        if self._fits():
            return
        rest = [each for each in free if each[1].places[0] not in self._removed]
        strategy, size = self._budget.settings.strategy, len(self._turns)
        for batch in ordering.removal_batches(rest, strategy, size):
            split = len(batch) > 1 and self._wastes(batch)
            for part in ordering.one_by_one(batch, strategy, size) if split else [batch]:
                self._take(part)
                if self._fits():
                    return

    def _wastes(self, batch: list[Ranked]) -> bool:
        """Whether removing the whole batch would leave much room unused: a long task then leaves in parts."""
        places = [place for _, unit in batch for place in unit.places]
        tokens = self._room.tokens - sum([self._turns[place].tokens for place in places])
        spare = 1.0 - UNUSED
        return (
            self._room.messages - len(places) < spare * self._most
            and self._budget.billed(tokens) < spare * self._target
        )

    def _finished(self) -> frozenset[int]:
        """Tasks that leave as a whole, whatever the usage."""
        if self._cause in ("session_start", "manual"):
            return frozenset(turn.segment for turn in self._turns) - {self._current}
        if self._cause != "boundary":
            return frozenset()
        traits: dict[int, int] = {}
        for turn in self._turns:
            traits[turn.segment] = traits.get(turn.segment, 0) | turn.traits
        return segments.finished(traits, self._current)

    def _take(self, batch: Iterable[Ranked]) -> None:
        for rank, unit in batch:
            why = self._why(rank)
            for place in unit.places:
                self._room.remove(place)
                self._removed[place] = why

    def _why(self, rank: int) -> Reason:
        if rank >= ordering.IMPORTANT:
            return "last_resort"
        if rank == ordering.COMPLETED:
            return "completed_task"
        return "oldest" if self._budget.settings.strategy == "rolling_window" else "least_important"

    def _fits(self) -> bool:
        """Whether enough has left; a window below the warning level fits as long as it stays there."""
        room, budget = self._room, self._budget
        if room.messages > self._most or budget.billed(room.tokens) > self._target:
            return False
        return self._level != "ok" or budget.level(room.tokens) == "ok"

    def decision(self) -> Decision:
        reasons = self._stayed() | self._removed
        tokens = self._room.tokens
        return make_decision(self._turns, self._gaps, reasons, self._cause, self._level, tokens, self._fits())

    def _stayed(self) -> dict[int, Reason]:
        reasons: dict[int, Reason] = {}
        said: list[int] = []
        for place, turn in enumerate(self._turns):
            if turn.role == "system":
                reasons[place] = "system_prompt"
            else:
                said.append(place)
        for rank, unit in self._ranked:
            kept: Reason = "with_recent" if unit.protected else KEPT.get(rank, "fits")
            for place in unit.places:
                reasons[place] = "marked_important" if self._turns[place].mark == "pinned" else kept
        for place in said[-self._budget.settings.min_recent :]:
            reasons[place] = "recent"
        return reasons
