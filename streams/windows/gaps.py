"""Gaps: where messages left the context. They remember what left, also once the messages themselves are forgotten."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from schemas.windows import LONGEST_SUMMARY, Gap
from streams.windows.turn import Turn


def of(turn: Turn) -> Gap:
    """The gap that one message leaves."""
    return Gap(turn.position, turn.position, 1, turn.tokens)


def joined(left: Gap, right: Gap) -> Gap:
    """Two gaps with no kept message between them, as one."""
    text, tokens = together(left, right)
    count, lost = left.count + right.count, left.tokens + right.tokens
    return Gap(min(left.first, right.first), max(left.last, right.last), count, lost, text, tokens)


def together(left: Gap, right: Gap) -> tuple[str, int]:
    """Both summaries and their tokens; the later one alone where both are too long for a marker."""
    text = " ".join(part for part in (left.summary, right.summary) if part)
    if len(text) > LONGEST_SUMMARY:
        return right.summary, right.summary_tokens
    return text, left.summary_tokens + right.summary_tokens


def merged(gaps: Iterable[Gap], kept: Sequence[int]) -> tuple[Gap, ...]:
    """Gaps in order, joined where no kept position lies between them; `kept` ascends."""
    together: list[Gap] = []
    for gap in sorted(gaps, key=lambda gap: gap.first):
        if together and bisect_right(kept, together[-1].last) == bisect_right(kept, gap.first):
            together[-1] = joined(together[-1], gap)
        else:
            together.append(gap)
    return tuple(together)


def holds(gaps: Sequence[Gap], position: int) -> bool:
    """Whether the message at a position left the context; `gaps` are in order."""
    at = bisect_right(gaps, position, key=lambda gap: gap.first)
    return at > 0 and position <= gaps[at - 1].last


def count(gaps: Iterable[Gap]) -> int:
    """How many messages left the context in all."""
    return sum(gap.count for gap in gaps)


def summarised(gap: Gap, summary: str, tokens: int) -> Gap:
    """The gap with a summary of what left, of so many tokens, in its marker."""
    return Gap(gap.first, gap.last, gap.count, gap.tokens, summary, tokens)


def told(gap: Gap, first: int, last: int, summary: str, tokens: int, most_tokens: int) -> Gap:
    """The gap after messages of it, from `first` to `last`, were summarised: of all of them anew, or of a part besides.

    Where all of it would take more than `most_tokens` the new summary stands alone.
    """
    if (first, last) == (gap.first, gap.last) or not gap.summary:
        return summarised(gap, summary, tokens)
    part = summarised(gap, summary, tokens)
    earlier, later = (part, gap) if first == gap.first else (gap, part)
    text, sum_tokens = together(earlier, later)
    return summarised(gap, text, sum_tokens) if sum_tokens <= most_tokens else part
