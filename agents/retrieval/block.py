"""Fits memories, messages and passages into one token budget. Pure: values in, values out.

Recent messages come first, up to their share of the budget. Passages of earlier messages have a reserved share, and memories
get the rest. Room that one part does not need goes to the others. Nothing appears twice: a memory is left out if all its
sources are among the messages of the block or the prompt; a passage is left out if its message is, or if a memory in the
block or the prompt says the same.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec import structs

from agents.passages.terms import stems
from agents.retrieval.block_left_out import memories_left_out, messages_left_out, passages_left_out
from agents.retrieval.block_parts import (
    Entry,
    Limits,
    Line,
    Quote,
    QuotedLine,
    Statement,
    adds_something,
    memory_view,
    message_view,
    passage_view,
    short_id,
)
from agents.retrieval.block_style import SAID_HEADING, TAIL_HEADING, BlockStyle, without_middle
from schemas.conversations.messages import Message
from schemas.errors import Rejected
from schemas.memories.memories import Memory
from schemas.passages.passages import Passage
from schemas.retrieval.blocks import Block, LeftOut
from schemas.retrieval.searches import Hit, SaidHit
from streams.windows.tokens.counting import TokenCount

MIN_MESSAGE_TOKENS: Final = 24  # tokens of a shortened message; a shorter one is of no use
JOIN_TOKENS: Final = 4  # tokens by which a joined text may exceed the sum of its parts
MAX_TOKEN_CHARS: Final = 16  # characters, on average over a message: a longer message is not counted whole

IsKnown: TypeAlias = Callable[[Memory, frozenset[str]], bool]


def block(
    hits: Sequence[Hit],
    tail: Sequence[Message],
    style: BlockStyle,
    limits: Limits,
    count: TokenCount,
    is_known: IsKnown,
    earlier: Sequence[SaidHit] = (),
    in_prompt: Sequence[Statement] = (),
) -> Block:
    """A block of `hits` and passages in `earlier`, both best first, and of messages in `tail`, oldest first. `is_known`
    returns whether a memory adds nothing to the messages with these ids, which are shown whole. `in_prompt` are memories
    that the prompt has beside the block.

    Equal inputs give equal bytes. Raises Rejected `budget_too_small`, with the sizes, if there is content and none of it
    fits.
    """
    return _Draft(hits, tail, style, limits, count, is_known, earlier, in_prompt).block()


class _Draft:
    """A block in progress."""

    def __init__(
        self,
        hits: Sequence[Hit],
        tail: Sequence[Message],
        style: BlockStyle,
        limits: Limits,
        count: TokenCount,
        is_known: IsKnown,
        earlier: Sequence[SaidHit],
        in_prompt: Sequence[Statement],
    ) -> None:
        self._tail, self._style, self._limits, self._count, self._is_known = tail, style, limits, count, is_known
        self._in_prompt = in_prompt
        shown_hits = hits if limits.max_memories else ()
        self._candidates = [self._line(hit, place, hits) for place, hit in enumerate(shown_hits)]
        self._passages = earlier if limits.max_said else ()
        self._quotes_by_id: dict[str, Quote] = {}  # filled on demand: most hits rank too low to get room
        self._frame = sum(self._cost(part) for part in (style.heading, style.closing) if part)
        self._tail_frame = self._cost("\n" + TAIL_HEADING)
        self._said_frame = self._cost("\n" + SAID_HEADING)
        self._entries: list[Entry] = []
        self._lines: list[Line] = []
        self._quotes: list[Quote] = []

    def _cost(self, text: str) -> int:
        """The tokens of a text with its newline."""
        return self._count(text + "\n")

    def _line(self, hit: Hit, place: int, hits: Sequence[Hit]) -> Line:
        reference = short_id(hit.memory.memory_id, [each.memory.memory_id for each in hits])
        text = self._style.memory(hit.memory, place + 1, reference)
        return Line(hit, place, reference, text, self._cost(text), Statement.of(hit.memory))

    def _quote(self, hit: SaidHit) -> Quote:
        own = hit.passage
        if own.passage_id not in self._quotes_by_id:
            lines = tuple(map(self._quoted_line, hit.exchange))
            self._quotes_by_id[own.passage_id] = Quote(hit, lines, frozenset(stems(own.text)))
        return self._quotes_by_id[own.passage_id]

    def _quoted_line(self, passage: Passage) -> QuotedLine:
        reference = short_id(passage.passage_id, [each.passage_id for hit in self._passages for each in hit.exchange])
        text = self._style.passage(passage, reference)
        return QuotedLine(passage, reference, text, self._cost(text))

    def block(self) -> Block:
        most = self._limits.max_tokens
        others = self._new_memories() or self._passages
        self._entries = self._messages_within(int(most * self._limits.tail_share) if others else most)
        self._quotes = self._passages_within(int(most * self._limits.said_share))
        self._fill(most)
        if len(self._entries) < len(self._tail) or any(entry.shortened for entry in self._entries):
            self._entries = self._messages_within(most - self._taken_by_memories() - self._taken_by_passages())
            self._quotes = self._passages_within(self._taken_by_passages())
            self._fill(most)
        return self._finished()

    def _fill(self, most: int) -> None:
        """Adds memories beside the messages and passages, then passages in the room that memories leave."""
        self._lines = self._memories_within(most - self._taken_by_messages() - self._taken_by_passages())
        self._quotes = self._passages_within(most - self._taken_by_messages() - self._taken_by_memories())

    def _finished(self) -> Block:
        """Counts the whole text, as joined texts may have a token more than their parts, and removes the lowest-ranked part
        if it is too long."""
        text = self._text()
        while (tokens := self._count(text)) > self._limits.max_tokens:
            if self._quotes:
                self._quotes.remove(min(self._quotes, key=lambda quote: quote.hit.score))
            elif self._lines:
                self._lines.remove(max(self._lines, key=lambda line: line.place))
            else:
                self._entries.pop(0)
            text = self._text()
        if not text and (self._new_memories() or self._tail or self._passages):
            raise self._too_small()
        return self._answer(text, tokens)

    def _whole(self) -> frozenset[str]:
        return frozenset(entry.message.message_id for entry in self._entries if not entry.shortened)

    def _new_memories(self) -> list[Line]:
        """The memories that add something to the messages."""
        whole = self._whole()
        return [line for line in self._candidates if not self._is_known(line.hit.memory, whole)]

    def _new_passages(self) -> Iterator[Quote]:
        """The passages that add something to the messages and memories in the block and the prompt, best first."""
        shown = {(entry.message.conversation_id, entry.message.message_id) for entry in self._entries}
        memories = [*self._in_prompt, *(line.statement for line in self._lines)]
        for hit in self._passages:
            found = [quote for each in (hit, *hit.joined) if (quote := self._quote(each)).message not in shown]
            new = [quote.without(shown) for quote in found if adds_something(quote, memories)]
            yield from new[:1] if new and new[0].hit is hit else new

    def _messages_within(self, room: int) -> list[Entry]:
        """The latest messages without a gap; the very latest one shortened if necessary."""
        room -= self._tail_frame
        entries: list[Entry] = []
        for message in reversed(self._tail):
            entry = self._entry(message, message.content) if len(message.content) <= MAX_TOKEN_CHARS * room else None
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
        """The message's beginning and end, which usually have the topic and the question."""
        kept = min(len(message.content), MAX_TOKEN_CHARS * max(room, 0))
        while room >= MIN_MESSAGE_TOKENS and kept > 0:
            entry = self._entry(message, without_middle(message.content, kept), True)
            if entry.tokens <= room:
                return entry
            kept = min(kept - 1, kept * room // entry.tokens)
        return None

    def _memories_within(self, room: int) -> list[Line]:
        """The memories by rank; one that does not fit is skipped."""
        room -= self._frame
        lines: list[Line] = []
        for line in self._new_memories():
            if line.tokens <= room and len(lines) < self._limits.max_memories:
                room -= line.tokens
                lines.append(line)
        return lines

    def _passages_within(self, room: int) -> list[Quote]:
        """Passages by rank, as with memories; without neighbours if these do not fit."""
        room -= self._said_frame
        quotes: list[Quote] = []
        for whole in self._new_passages():
            quote = whole if whole.tokens <= room else whole.alone()
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
        """The lines in the order of the block, numbered."""
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
        """The passages in order of time."""
        return sorted(
            self._quotes, key=lambda quote: (quote.lines[0].passage.said_at, quote.lines[0].passage.passage_id)
        )

    def _text(self) -> str:
        memories, passages, messages = self._ordered(), self._ordered_passages(), self._entries
        remembered = [self._style.heading, *(line.text for line in memories), self._style.closing] if memories else []
        earlier = [SAID_HEADING, *(line.text for quote in passages for line in quote.lines)] if passages else []
        tail = [TAIL_HEADING, *(entry.text for entry in messages)] if messages else []
        return "\n\n".join("\n".join(part for part in parts if part) for parts in (remembered, earlier, tail) if parts)

    def _answer(self, text: str, tokens: int) -> Block:
        new_memories, passages = len(self._new_memories()), islice(self._new_passages(), self._limits.max_said)
        return Block(
            text=text,
            tokens=tokens,
            max_tokens=self._limits.max_tokens,
            memories=tuple(map(memory_view, self._ordered())),
            messages=tuple(map(message_view, self._entries)),
            said=tuple(passage_view(line, quote.hit) for quote in self._ordered_passages() for line in quote.lines),
            memories_left_out=min(new_memories, self._limits.max_memories) - len(self._lines),
            messages_left_out=len(self._tail) - len(self._entries),
            said_left_out=len(list(passages)) - len(self._quotes),
            memories_known=len(self._candidates) - new_memories,
            left_out=tuple(self._left_out()) if self._limits.explain else None,
        )

    def _left_out(self) -> Iterator[LeftOut]:
        limits, older = self._limits, self._tail[: len(self._tail) - len(self._entries)]
        yield from memories_left_out(self._candidates, self._new_memories(), self._lines, limits.max_memories)
        new = list(self._new_passages())
        alone = {quote.message for quote in new}
        joined = [each for hit in self._passages for each in map(self._quote, hit.joined) if each.message in alone]
        yield from passages_left_out([*map(self._quote, self._passages), *joined], new, self._quotes, limits.max_said)
        yield from messages_left_out(self._entry(message, message.content) for message in reversed(older))

    def _too_small(self) -> Rejected:
        least = []
        if lines := self._new_memories():
            shortest = min(line.tokens for line in lines)
            least.append((self._frame + shortest, f"heading and closing {self._frame}, the shortest memory {shortest}"))
        if self._tail:
            latest = min(MIN_MESSAGE_TOKENS, self._entry(self._tail[-1], self._tail[-1].content).tokens)
            parts = f"the messages' heading {self._tail_frame}, {latest} of the latest message"
            least.append((self._tail_frame + latest, parts))
        if self._passages:
            shortest = min(self._quote(hit).alone().tokens for hit in self._passages)
            parts = f"the passages' heading {self._said_frame}, the shortest passage {shortest}"
            least.append((self._said_frame + shortest, parts))
        tokens, parts = min(least)
        return Rejected(
            "budget_too_small",
            f"max_tokens is {self._limits.max_tokens}, and the smallest block takes about {tokens} tokens ({parts}): "
            f"give {tokens + JOIN_TOKENS} or more",
        )
