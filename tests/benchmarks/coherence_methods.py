"""Methods that reduce a conversation to a share of its tokens: the strategies, and two simple ones for comparison."""

import random
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from schemas.conversations.window_settings import MOST_MESSAGES, Strategy, WindowSettings
from schemas.conversations.windows import MARKER_TOKENS, Cause, Gap
from streams.windows.context import gaps as gaps_
from streams.windows.pruning.importance import scores
from streams.windows.pruning.pruning import prune
from streams.windows.pruning.remaining import Room
from streams.windows.pruning.units import group_units
from streams.windows.tokens.accounting import Budget, used_tokens
from streams.windows.traits import MessageTraits

STRATEGIES: Final[tuple[Strategy, ...]] = ("rolling_window", "importance", "hybrid")
ANY_NUMBER: Final = MOST_MESSAGES  # more than any of these conversations has: here only tokens are scarce
MIN_RECENT: Final = WindowSettings().min_recent


class Kept(Struct, frozen=True):
    """Positions of the messages that stay, and counted tokens with those of the markers."""

    positions: frozenset[int]
    tokens: int


Way = Callable[[Sequence[MessageTraits], float], Kept]


def at_once(strategy: Strategy) -> Way:
    """One decision about the whole conversation, at its end, down to the share exactly as far as needed."""

    def keep(turns: Sequence[MessageTraits], share: float) -> Kept:
        settings = WindowSettings(
            strategy=strategy, max_messages=ANY_NUMBER, warning_target=share, aggressive_target=share
        )
        budget = Budget.of(settings, used_tokens(turns))  # a conversation that just fills its model's context
        decision = prune(turns, (), budget, turns[-1].timestamp)
        return Kept(frozenset(decision.retained), decision.tokens)

    return keep


def on_arrival(strategy: Strategy, ended: bool) -> Way:
    """Pruned on arrival, as a window is, with the default thresholds: the share is the most a context may hold.

    `ended`: at each pause the chat service says that the conversation has ended, so what comes next begins a session.
    """

    def keep(turns: Sequence[MessageTraits], share: float) -> Kept:
        total = used_tokens(turns)
        settings = WindowSettings(strategy=strategy, max_messages=ANY_NUMBER, max_tokens=int(share * total))
        budget = Budget.of(settings, 2 * total)
        kept: list[MessageTraits] = []
        gaps: tuple[Gap, ...] = ()
        for before, turn in zip([None, *turns], turns, strict=False):
            kept.append(turn)
            decision = prune(kept, gaps, budget, turn.timestamp, cause(before, turn, settings, ended))
            staying = set(decision.retained)
            kept, gaps = [each for each in kept if each.position in staying], decision.gaps
        return Kept(frozenset(each.position for each in kept), used_tokens(kept, gaps))

    return keep


def cause(before: MessageTraits | None, turn: MessageTraits, settings: WindowSettings, ended: bool) -> Cause:
    """Returns the cause of pruning when a message arrives."""
    if before is None or turn.role != "user":
        return "usage"
    if ended and turn.timestamp - before.timestamp >= settings.task_gap_s:
        return "session_start"
    return "boundary" if turn.segment > before.segment else "usage"


def truncated(turns: Sequence[MessageTraits], share: float) -> Kept:
    """The last messages that fit, and one marker; nothing is tied to anything."""
    limit, tokens, kept = share * used_tokens(turns), MARKER_TOKENS, []
    for turn in reversed(turns):
        if tokens + turn.tokens > limit:
            break
        tokens += turn.tokens
        kept.append(turn.position)
    return Kept(frozenset(kept), tokens)


def at_random(seed: int) -> Way:
    """Units leave in any order, but for those with one of the last messages, until the rest fits."""

    def keep(turns: Sequence[MessageTraits], share: float) -> Kept:
        now, limit, room = turns[-1].timestamp, share * used_tokens(turns), Room(turns, ())
        free = [unit for unit in group_units(turns, scores(turns, now), MIN_RECENT) if not unit.protected]
        random.Random(seed).shuffle(free)
        removed: set[int] = set()
        for unit in free:
            if room.tokens <= limit:
                break
            for place in unit.places:
                room.remove(place)
                removed.add(place)
        return Kept(frozenset(turn.position for place, turn in enumerate(turns) if place not in removed), room.tokens)

    return keep


def markers(turns: Sequence[MessageTraits], kept: Kept) -> int:
    """Counts the gaps of a context."""
    positions = sorted(kept.positions)
    return len(
        gaps_.merge_adjacent((gaps_.of(turn) for turn in turns if turn.position not in kept.positions), positions)
    )
