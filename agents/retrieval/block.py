"""Fits memories, messages and passages into one token budget. Pure: values in, values out.

Messages that were just said come first, up to their share of the budget; passages of what was said earlier have a share kept for
them, and memories take the rest. Room that one of them leaves goes to the others. Nothing is there twice: a memory is left out
if its sources are all among the messages in the block or in the prompt, a passage if its message is, or if a memory beside it
says the same.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec import Struct, structs

from agents.passages.words import stems
from agents.retrieval.block_parts import (
    Entry,
    Line,
    Quote,
    Statement,
    adds_something,
    memory_view,
    message_view,
    passage_view,
)
from agents.retrieval.block_style import SAID_HEADING, TAIL_HEADING, BlockStyle
from schemas.conversations.messages import Message
from schemas.errors import Rejected
from schemas.memories.memories import Memory
from schemas.retrieval.block_settings import Order
from schemas.retrieval.blocks import Block
from schemas.retrieval.searches import Hit, SaidHit

SHORTEST: Final = 24  # tokens of a message whose middle is left out; less of it is of no use
SPARE: Final = 4  # tokens that joined texts may make beyond those of their parts
LONGEST_TOKEN: Final = 16  # characters, on average over a message: longer ones are not counted whole
REFERENCE_CHARS: Final = 8

TokenCount: TypeAlias = Callable[[str], int]
IsKnown: TypeAlias = Callable[[Memory, frozenset[str]], bool]


class Limits(Struct, frozen=True, kw_only=True):
    """`tail_share` and `said_share` are what messages and passages may take of `max_tokens` while the others need the room."""

    max_tokens: int
    max_memories: int
    tail_share: float
    max_said: int = 0
    said_share: float = 0.0
    order: Order = "best"


def block(
    hits: Sequence[Hit],
    tail: Sequence[Message],
    style: BlockStyle,
    limits: Limits,
    count: TokenCount,
    is_known: IsKnown,
    earlier: Sequence[SaidHit] = (),
) -> Block:
    """`hits` and passages of `earlier` with the best first, `tail` in the order it was said; `is_known` says whether a memory
    says nothing but what messages do, given the ids of those that are shown whole.

    Equal values make equal bytes. Raises Rejected `budget_too_small`, naming the sizes, when there is something to show and
    none of it has room.
    """
    return _Draft(hits, tail, style, limits, count, is_known, earlier).block()


class _Draft:
    """One block in the making."""

    def __init__(
        self,
        hits: Sequence[Hit],
        tail: Sequence[Message],
        style: BlockStyle,
        limits: Limits,
        count: TokenCount,
        is_known: IsKnown,
        earlier: Sequence[SaidHit],
    ) -> None:
        self._tail, self._style, self._limits, self._count, self._is_known = tail, style, limits, count, is_known
        wanted = hits if limits.max_memories else ()
        self._candidates = [self._line(hit, place, hits) for place, hit in enumerate(wanted)]
        self._passages = earlier if limits.max_said else ()
        self._made: dict[str, Quote] = {}  # of passages: most of those found are far behind those that have room
        self._frame = sum(self._cost(part) for part in (style.heading, style.closing) if part)
        self._tail_frame = self._cost("\n" + TAIL_HEADING)
        self._said_frame = self._cost("\n" + SAID_HEADING)
        self._entries: list[Entry] = []
        self._lines: list[Line] = []
        self._quotes: list[Quote] = []

    def _cost(self, text: str) -> int:
        """With the end of its line."""
        return self._count(text + "\n")

    def _line(self, hit: Hit, place: int, hits: Sequence[Hit]) -> Line:
        reference = short_id(hit.memory.memory_id, [each.memory.memory_id for each in hits])
        text = self._style.memory(hit.memory, place + 1, reference)
        return Line(hit, place, reference, text, self._cost(text), Statement.of(hit.memory))

    def _quote(self, hit: SaidHit) -> Quote:
        passage = hit.passage
        if passage.passage_id not in self._made:
            reference = short_id(passage.passage_id, [each.passage.passage_id for each in self._passages])
            text = self._style.passage(passage, reference)
            self._made[passage.passage_id] = Quote(
                hit, reference, text, self._cost(text), frozenset(stems(passage.text))
            )
        return self._made[passage.passage_id]

    def block(self) -> Block:
        most = self._limits.max_tokens
        others = self._wanted() or self._passages
        self._entries = self._messages_within(int(most * self._limits.tail_share) if others else most)
        self._quotes = self._passages_within(int(most * self._limits.said_share))
        self._fill(most)
        if len(self._entries) < len(self._tail) or any(entry.shortened for entry in self._entries):
            self._entries = self._messages_within(most - self._taken_by_memories() - self._taken_by_passages())
            self._quotes = self._passages_within(self._taken_by_passages())
            self._fill(most)
        return self._finished()

    def _fill(self, most: int) -> None:
        """Memories beside the messages and passages that are there, then passages in the room that memories leave."""
        self._lines = self._memories_within(most - self._taken_by_messages() - self._taken_by_passages())
        self._quotes = self._passages_within(most - self._taken_by_messages() - self._taken_by_memories())

    def _finished(self) -> Block:
        """Counted as a whole: joined texts may make a token more than their parts, and then the least of it goes."""
        text = self._text()
        while (tokens := self._count(text)) > self._limits.max_tokens:
            if self._quotes:
                self._quotes.remove(min(self._quotes, key=lambda quote: quote.hit.score))
            elif self._lines:
                self._lines.remove(max(self._lines, key=lambda line: line.place))
            else:
                self._entries.pop(0)
            text = self._text()
        if not text and (self._wanted() or self._tail or self._passages):
            raise self._too_small()
        return self._answer(text, tokens)

    def _whole(self) -> frozenset[str]:
        return frozenset(entry.message.message_id for entry in self._entries if not entry.shortened)

    def _wanted(self) -> list[Line]:
        """The memories that say something besides the messages."""
        whole = self._whole()
        return [line for line in self._candidates if not self._is_known(line.hit.memory, whole)]

    def _new_passages(self) -> Iterator[Quote]:
        """The passages that say something besides the messages and memories in the block, the best first."""
        shown = {(entry.message.conversation_id, entry.message.message_id) for entry in self._entries}
        memories = [line.statement for line in self._lines]
        for hit in self._passages:
            if (hit.passage.conversation_id, hit.passage.message_id) not in shown:
                quote = self._quote(hit)
                if adds_something(quote, memories):
                    yield quote

    def _messages_within(self, room: int) -> list[Entry]:
        """The latest messages without a hole; the very latest shortened rather than not at all."""
        room -= self._tail_frame
        entries: list[Entry] = []
        for message in reversed(self._tail):
            entry = self._entry(message, message.content) if len(message.content) <= LONGEST_TOKEN * room else None
            if entry is None or entry.tokens > room:
                shorter = None if entries else self._shortened(message, room)
                entries += [shorter] if shorter else []
                break
            room -= entry.tokens
            entries.append(entry)
        return entries[::-1]

    def _entry(self, message: Message, content: str, shortened: bool = False) -> Entry:
        text = self._style.message(message, content)
        return Entry(message, text, self._cost(text), shortened)

    def _shortened(self, message: Message, room: int) -> Entry | None:
        """Its beginning and its end: what it is about, and what it asks."""
        kept = min(len(message.content), LONGEST_TOKEN * max(room, 0))
        while room >= SHORTEST and kept > 0:
            entry = self._entry(message, without_middle(message.content, kept), True)
            if entry.tokens <= room:
                return entry
            kept = min(kept - 1, kept * room // entry.tokens)
        return None

    def _memories_within(self, room: int) -> list[Line]:
        """By rank; one that has no room leaves it to the next."""
        room -= self._frame
        lines: list[Line] = []
        for line in self._wanted():
            if line.tokens <= room and len(lines) < self._limits.max_memories:
                room -= line.tokens
                lines.append(line)
        return lines

    def _passages_within(self, room: int) -> list[Quote]:
        """By rank, likewise."""
        room -= self._said_frame
        quotes: list[Quote] = []
        for quote in self._new_passages():
            if quote.tokens <= room:
                room -= quote.tokens
                quotes.append(quote)
            if len(quotes) == self._limits.max_said or room <= 0:
                break
        return quotes

    def _taken_by_messages(self) -> int:
        return self._tail_frame + sum(entry.tokens for entry in self._entries) if self._entries else 0

    def _taken_by_memories(self) -> int:
        return self._frame + sum(line.tokens for line in self._lines) if self._lines else 0

    def _taken_by_passages(self) -> int:
        return self._said_frame + sum(quote.tokens for quote in self._quotes) if self._quotes else 0

    def _ordered(self) -> list[Line]:
        """In the order of the block, and numbered in it."""
        lines = sorted(self._lines, key=lambda line: line.place)
        if self._limits.order != "best":
            lines.sort(
                key=lambda line: (line.hit.memory.created_at, line.hit.memory.memory_id),
                reverse=self._limits.order == "newest",
            )
        return [
            structs.replace(line, text=self._style.memory(line.hit.memory, number, line.reference))
            for number, line in enumerate(lines, start=1)
        ]

    def _ordered_passages(self) -> list[Quote]:
        """As they were said."""
        return sorted(self._quotes, key=lambda quote: (quote.passage.said_at, quote.passage.passage_id))

    def _text(self) -> str:
        memories, passages, messages = self._ordered(), self._ordered_passages(), self._entries
        remembered = [self._style.heading, *(line.text for line in memories), self._style.closing] if memories else []
        earlier = [SAID_HEADING, *(quote.text for quote in passages)] if passages else []
        tail = [TAIL_HEADING, *(entry.text for entry in messages)] if messages else []
        return "\n\n".join("\n".join(part for part in parts if part) for parts in (remembered, earlier, tail) if parts)

    def _answer(self, text: str, tokens: int) -> Block:
        wanted, passages = len(self._wanted()), islice(self._new_passages(), self._limits.max_said)
        return Block(
            text=text,
            tokens=tokens,
            max_tokens=self._limits.max_tokens,
            memories=tuple(map(memory_view, self._ordered())),
            messages=tuple(map(message_view, self._entries)),
            said=tuple(map(passage_view, self._ordered_passages())),
            memories_left_out=min(wanted, self._limits.max_memories) - len(self._lines),
            messages_left_out=len(self._tail) - len(self._entries),
            said_left_out=len(list(passages)) - len(self._quotes),
            memories_known=len(self._candidates) - wanted,
        )

    def _too_small(self) -> Rejected:
        least = []
        if lines := self._wanted():
            shortest = min(line.tokens for line in lines)
            least.append((self._frame + shortest, f"heading and closing {self._frame}, the shortest memory {shortest}"))
        if self._tail:
            latest = min(SHORTEST, self._entry(self._tail[-1], self._tail[-1].content).tokens)
            parts = f"the messages' heading {self._tail_frame}, {latest} of the latest message"
            least.append((self._tail_frame + latest, parts))
        if self._passages:
            shortest = min(self._quote(hit).tokens for hit in self._passages)
            parts = f"the passages' heading {self._said_frame}, the shortest passage {shortest}"
            least.append((self._said_frame + shortest, parts))
        tokens, parts = min(least)
        return Rejected(
            "budget_too_small",
            f"max_tokens is {self._limits.max_tokens}, and the smallest block takes about {tokens} tokens ({parts}): "
            f"give {tokens + SPARE} or more",
        )


def short_id(name: str, names: Sequence[str]) -> str:
    """How a memory or passage is cited: the beginning of its id; all of it where another one begins alike."""
    short = name[:REFERENCE_CHARS]
    return short if sum(each.startswith(short) for each in names) == 1 else name


def without_middle(content: str, kept: int) -> str:
    """The first and last of so many characters, with a word on what is not there."""
    if kept >= len(content):
        return content
    last = kept // 2
    return (
        f"{content[: kept - last]} [... {len(content) - kept} characters left out ...] {content[len(content) - last :]}"
    )
