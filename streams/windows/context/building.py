"""Builds the context that a model is shown: system prompt, kept history with markers, current message."""

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct, structs

from schemas.conversations.windows import Gap
from schemas.counts import counted
from schemas.errors import Rejected
from streams.windows.context import gaps as gaps_
from streams.windows.pruning.decision import Decision, combine
from streams.windows.pruning.pruning import prune, remove
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits


class Context(Struct, frozen=True):
    """`entries` in order: messages, and gaps, whose markers replace removed messages.

    `tokens` are counted, `billed_tokens` calibrated; both include the markers. `decision` is the pruning that this context
    needed.
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
    left_out: Collection[int] = (),
) -> Context:
    """The context of a window's messages and of `current`, the message to be answered, if it is not among them yet.

    Prunes what exceeds the limit, and drops summaries of markers if they are too long; the window itself does not change.
    Messages at the positions `left_out` leave too, although they are never pruned. Raises Rejected `context_too_small`,
    naming the sizes, when protected messages alone exceed the limit.
    """
    shown = [*turns, current] if current is not None else list(turns)
    context = _decided(shown, gaps, budget, now, left_out)
    if context.billed_tokens > budget.max_tokens and any(gap.summary for gap in gaps):
        context = _decided(shown, [gaps_.summarised(gap, "", 0) for gap in gaps], budget, now, left_out)
    _validate(context.entries, context.tokens, budget)
    return context


def _decided(
    shown: Sequence[MessageTraits], gaps: Sequence[Gap], budget: Budget, now: float, left_out: Collection[int]
) -> Context:
    decision = prune(shown, gaps, budget, now)
    if left_out:
        decision = _without(shown, decision, budget, left_out)
    kept = set(decision.retained)
    stayed = [turn for turn in shown if turn.position in kept]
    entries = tuple(_interleaved(stayed, decision.gaps))
    tokens = sum(entry.tokens if isinstance(entry, MessageTraits) else entry.marker_tokens for entry in entries)
    return Context(entries, tokens, budget.billed(tokens), budget.max_tokens, decision)


def _without(shown: Sequence[MessageTraits], decision: Decision, budget: Budget, left_out: Collection[int]) -> Decision:
    """The decision with these messages removed too; the reasons of the others do not change."""
    kept = set(decision.retained)
    stayed = [turn for turn in shown if turn.position in kept]
    further = remove(stayed, decision.gaps, budget, left_out, decision.cause, "last_resort")
    reasons = {position: further.reasons[position] for position in further.removed}
    return combine(decision, structs.replace(further, reasons=reasons))


def _interleaved(turns: Sequence[MessageTraits], gaps: Sequence[Gap]) -> Iterator[MessageTraits | Gap]:
    waiting = list(reversed(gaps))
    for turn in turns:
        while waiting and waiting[-1].first < turn.position:
            yield waiting.pop()
        yield turn
    yield from reversed(waiting)


def _validate(entries: Sequence[MessageTraits | Gap], tokens: int, budget: Budget) -> None:
    """Counts the tokens of the result from scratch and compares."""
    if budget.billed(tokens) <= budget.max_tokens:
        return
    turns = [entry for entry in entries if isinstance(entry, MessageTraits)]
    system = sum(turn.tokens for turn in turns if turn.role == "system")
    content = [turn for turn in turns if turn.role != "system"]
    last = content[-1].tokens if content else 0
    history = sum(turn.tokens for turn in content) - last
    markers = tokens - system - history - last
    fewer = f"lower min_recent (now {budget.settings.min_recent}), " if len(content) > 1 else ""
    raise Rejected(
        "context_too_small",
        f"what is never pruned takes {budget.billed(tokens)} tokens: system prompt {budget.billed(system)}, "
        f"{counted(max(0, len(content) - 1), 'protected messages')} {budget.billed(history)}, "
        f"current message {budget.billed(last)}, markers {budget.billed(markers)}; "
        f"a context may hold {budget.max_tokens} of the model's {budget.size}. "
        f"Raise max_tokens, {fewer}or choose a model with a larger context",
    )
