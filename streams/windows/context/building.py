"""Builds what a model is shown of a conversation: system prompt, kept history with its markers, current message."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from schemas.conversations.windows import Gap
from schemas.errors import Rejected
from streams.windows.context import gaps as gaps_
from streams.windows.pruning.decision import Decision
from streams.windows.pruning.pruning import prune
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits


class Context(Struct, frozen=True):
    """`entries` in order: messages, and gaps, whose markers stand where messages were removed.

    `tokens` are counted, `billed_tokens` calibrated; both include the markers. `decision` says what was pruned for it.
    """

    entries: tuple[MessageTraits | Gap, ...]
    tokens: int
    billed_tokens: int
    limit_tokens: int
    decision: Decision


def build(
    turns: Sequence[MessageTraits],
    gaps: Sequence[Gap],
    budget: Budget,
    now: float,
    current: MessageTraits | None = None,
) -> Context:
    """The context of a window's messages and of `current`, the one to be answered, if it is not among them yet.

    What is over its limit is pruned first, and markers lose their summaries where those are too much; the window itself stays
    as it is. Raises Rejected with reason `context_too_small`, naming the sizes, when the messages that are never pruned exceed
    the limit alone.
    """
    shown = [*turns, current] if current is not None else list(turns)
    context = _decided(shown, gaps, budget, now)
    if context.billed_tokens > budget.max_tokens and any(gap.summary for gap in gaps):
        context = _decided(shown, [gaps_.summarised(gap, "", 0) for gap in gaps], budget, now)
    _validate(context.entries, context.tokens, budget)
    return context


def _decided(shown: Sequence[MessageTraits], gaps: Sequence[Gap], budget: Budget, now: float) -> Context:
    decision = prune(shown, gaps, budget, now)
    kept = set(decision.kept)
    stayed = [turn for turn in shown if turn.position in kept]
    entries = tuple(_interleaved(stayed, decision.gaps))
    tokens = sum(entry.tokens if isinstance(entry, MessageTraits) else entry.marker_tokens for entry in entries)
    return Context(entries, tokens, budget.billed(tokens), budget.max_tokens, decision)


def _interleaved(turns: Sequence[MessageTraits], gaps: Sequence[Gap]) -> Iterator[MessageTraits | Gap]:
    waiting = list(reversed(gaps))
    for turn in turns:
        while waiting and waiting[-1].first < turn.position:
            yield waiting.pop()
        yield turn
    yield from reversed(waiting)


def _validate(entries: Sequence[MessageTraits | Gap], tokens: int, budget: Budget) -> None:
    """Counts what is about to be returned, from scratch."""
    if budget.billed(tokens) <= budget.max_tokens:
        return
    turns = [entry for entry in entries if isinstance(entry, MessageTraits)]
    system = sum(turn.tokens for turn in turns if turn.role == "system")
    said = [turn for turn in turns if turn.role != "system"]
    last = said[-1].tokens if said else 0
    history = sum(turn.tokens for turn in said) - last
    markers = tokens - system - history - last
    raise Rejected(
        "context_too_small",
        f"what is never pruned takes {budget.billed(tokens)} tokens: system prompt {budget.billed(system)}, "
        f"{max(0, len(said) - 1)} protected messages {budget.billed(history)}, current message {budget.billed(last)}, "
        f"markers {budget.billed(markers)}; a context may hold {budget.max_tokens} of the model's {budget.size}. "
        f"Raise max_tokens, lower min_recent (now {budget.settings.min_recent}), or choose a model with a larger context",
    )
