"""Gaps: places where messages left the context. A gap remains when its messages are forgotten."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from schemas.conversations.windows import LONGEST_SUMMARY, Gap
from schemas.ids import summary_id
from streams.windows.traits import MessageTraits


def of(turn: MessageTraits) -> Gap:
    """The gap that one message leaves."""
    return Gap(turn.position, turn.position, 1, turn.tokens)


def join(left: Gap, right: Gap) -> Gap:
    """Two gaps with no kept message between them, as one."""
    text, tokens = join_summaries(left, right)
    count, lost = left.count + right.count, left.tokens + right.tokens
    return Gap(min(left.first, right.first), max(left.last, right.last), count, lost, text, tokens)


def join_summaries(left: Gap, right: Gap) -> tuple[str, int]:
    """Both summaries, joined, with their tokens; only the right one if together they are too long for a marker."""
    text = " ".join(part for part in (left.summary, right.summary) if part)
    if len(text) > LONGEST_SUMMARY:
        return right.summary, right.summary_tokens
    return text, left.summary_tokens + right.summary_tokens


def merge_adjacent(gaps: Iterable[Gap], kept: Sequence[int]) -> tuple[Gap, ...]:
    """Gaps in order, joined where no kept position lies between them; `kept` ascends."""
    merged: list[Gap] = []
    for gap in sorted(gaps, key=lambda gap: gap.first):
        if merged and bisect_right(kept, merged[-1].last) == bisect_right(kept, gap.first):
            merged[-1] = join(merged[-1], gap)
        else:
            merged.append(gap)
    return tuple(merged)


def holds(gaps: Sequence[Gap], position: int) -> bool:
    """Whether the message at a position left the context; `gaps` are in order."""
    at = bisect_right(gaps, position, key=lambda gap: gap.first)
    return at > 0 and position <= gaps[at - 1].last


def count(gaps: Iterable[Gap]) -> int:
    """How many messages left the context in all."""
    return sum(gap.count for gap in gaps)


def summarised(gap: Gap, summary: str, tokens: int) -> Gap:
    """The gap with this summary, of `tokens` tokens, in its marker."""
    return Gap(gap.first, gap.last, gap.count, gap.tokens, summary, tokens)


def with_part(gaps: Sequence[Gap], part: Gap, known: str | None, max_tokens: int) -> tuple[Gap, ...]:
    """The gaps with the summary of a `part` of one; unchanged if none contains the part any more, or has the summary already."""
    found = next((gap for gap in gaps if gap.first <= part.first and part.last <= gap.last), None)
    if found is None or part.summary in found.summary:
        return tuple(gaps)
    said = with_summary(found, part, known, max_tokens)
    return tuple(said if gap is found else gap for gap in gaps)


def with_summary(gap: Gap, part: Gap, known: str | None, max_tokens: int) -> Gap:
    """The gap after a `part` of it was summarised; `known` is the id of the summary that the new one includes.

    If the marker has that summary, the new one replaces it. Otherwise the marker gets both, or only the new one if both
    exceed `max_tokens`.
    """
    if known == (summary_id(gap.summary) if gap.summary else None):
        return summarised(gap, part.summary, part.summary_tokens)
    earlier, later = (part, gap) if part.first == gap.first else (gap, part)
    text, tokens = join_summaries(earlier, later)
    return summarised(gap, text, tokens) if tokens <= max_tokens else summarised(gap, part.summary, part.summary_tokens)
