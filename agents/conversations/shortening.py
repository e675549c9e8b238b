"""Shortens messages where those that are never pruned have no room: tool results first, then what else is long."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Final

from msgspec import structs

from schemas.conversations.messages import Message
from schemas.conversations.windows import Gap
from streams.windows.context import gaps as gaps_
from streams.windows.pruning.pruning import prune
from streams.windows.tokens.accounting import Budget
from streams.windows.tokens.counting import TokenCount
from streams.windows.traits import MessageTraits

SHORTEST: Final = 48  # tokens of a text that are left of it, its mark included
HEAD: Final = 0.7  # of what is left; the rest is the end of the text
STEP: Final = 0.9

Texts = dict[int, str]  # by position


def shortened(
    messages: Mapping[int, Message],
    turns: Sequence[MessageTraits],
    gaps: Sequence[Gap],
    budget: Budget,
    count: TokenCount,
    now: float,
) -> Texts:
    """Texts for those messages that have to be shorter for the rest of a context to fit; none where that is not enough."""
    decision = prune(turns, [gaps_.summarised(gap, "", 0) for gap in gaps], budget, now)
    kept = set(decision.kept)
    said = [turn for turn in turns if turn.position in kept and turn.role != "system"]
    over = ceil((budget.billed(decision.tokens) - budget.max_tokens) / budget.ratio) + 1
    for chosen in ([turn for turn in said if turn.role == "tool"], said):
        sizes = {turn.position: count(messages[turn.position].content) for turn in chosen}
        most = _largest(list(sizes.values()), over)
        if most is not None:
            return {at: cut(messages[at].content, size, most, count) for at, size in sizes.items() if size > most}
    return {}


def _largest(sizes: Sequence[int], over: int) -> int | None:
    """The most tokens that each may have, for all to have `over` fewer; None where `SHORTEST` is too many."""
    low, high = SHORTEST, max(sizes, default=0)
    if sum(max(0, size - low) for size in sizes) < over:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if sum(max(0, size - middle) for size in sizes) >= over:
            low = middle
        else:
            high = middle - 1
    return low


def cut(text: str, tokens: int, most: int, count: TokenCount) -> str:
    """Beginning and end of a text, with a mark between them that says how much is left out; `most` tokens at most."""
    characters = len(text) * most / tokens
    while True:
        found = _without_middle(text, int(characters))
        if characters < 1 or count(found) <= most:
            return found
        characters *= STEP


def _without_middle(text: str, characters: int) -> str:
    head = int(HEAD * characters)
    tail = characters - head
    return f"{text[:head]}\n... [{len(text) - characters:,} characters left out] ...\n{text[len(text) - tail :]}"


def with_texts(
    turns: Iterable[MessageTraits], messages: Mapping[int, Message], texts: Texts, count: TokenCount
) -> list[MessageTraits]:
    """The messages as the rules see them with these texts."""
    return [
        structs.replace(turn, tokens=turn.tokens - count(messages[turn.position].content) + count(texts[turn.position]))
        if turn.position in texts
        else turn
        for turn in turns
    ]
