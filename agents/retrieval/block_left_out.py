"""Hits that are not in a context block, each with the reason. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Final

from agents.retrieval.block_parts import Entry, Line, Quote
from agents.retrieval.block_style import BlockStyle
from schemas.retrieval.blocks import LONGEST_LEFT_OUT, LeftOut, LeftOutReason
from schemas.retrieval.searches import Hit

MOST_LEFT_OUT: Final = 20  # per tier


def memories_left_out(
    candidates: Sequence[Line], new: Sequence[Line], shown: Sequence[Line], most: int
) -> Iterable[LeftOut]:
    """Memories that are not in the block; `candidates` are best first, those not `new` add nothing."""
    ids = [line.hit.memory.memory_id for line in candidates]
    reasons = _reasons(ids, {_id(line) for line in new}, {_id(line) for line in shown}, most, "max_memories")
    left = (
        LeftOut(tier="memories", id=_id(line), text=beginning(line.hit.memory.text), tokens=line.tokens, reason=reason)
        for line, reason in zip(candidates, reasons, strict=True)
        if reason
    )
    return islice(left, MOST_LEFT_OUT)


def passages_left_out(
    candidates: Sequence[Quote], new: Sequence[Quote], shown: Sequence[Quote], most: int
) -> Iterable[LeftOut]:
    """Passages that are not in the block, as `memories_left_out`."""
    named = [[quote.passage.passage_id for quote in each] for each in (candidates, new, shown)]
    reasons = _reasons(named[0], set(named[1]), set(named[2]), most, "max_said")
    left = (
        LeftOut(tier="said", id=name, text=beginning(quote.passage.text), tokens=quote.tokens, reason=reason)
        for name, quote, reason in zip(named[0], candidates, reasons, strict=True)
        if reason
    )
    return islice(left, MOST_LEFT_OUT)


def messages_left_out(entries: Iterable[Entry]) -> Iterable[LeftOut]:
    """Messages without room, the only reason for messages."""
    for entry in islice(entries, MOST_LEFT_OUT):
        message = entry.message
        yield LeftOut(
            tier="messages",
            id=message.message_id,
            text=beginning(message.content),
            tokens=entry.tokens,
            reason="no_room",
        )


def profile_left_out(hits: Iterable[Hit], style: BlockStyle, count: Callable[[str], int]) -> Iterable[LeftOut]:
    """Memories that are in the profile in the prompt."""
    for place, hit in enumerate(islice(hits, MOST_LEFT_OUT), start=1):
        memory = hit.memory
        tokens = count(style.memory(memory, place, memory.memory_id) + "\n")
        yield LeftOut(
            tier="memories", id=memory.memory_id, text=beginning(memory.text), tokens=tokens, reason="in_profile"
        )


def beginning(text: str) -> str:
    return text if len(text) <= LONGEST_LEFT_OUT else text[: LONGEST_LEFT_OUT - 1] + "\u2026"


def _id(line: Line) -> str:
    return line.hit.memory.memory_id


def _reasons(
    ids: Iterable[str], new: Collection[str], shown: Collection[str], most: int, over: LeftOutReason
) -> Iterable[LeftOutReason | None]:
    """The reason for each hit by rank; None for a hit in the block. A hit that follows `most` shown ones exceeds the maximum
    number."""
    better = 0
    for each in ids:
        if each in shown:
            better += 1
            yield None
        elif each not in new:
            yield "known"
        else:
            yield over if better >= most else "no_room"
