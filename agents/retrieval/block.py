"""The best memories and what was just said, within a token budget. Pure: values in, values out.

What was just said comes first to its share of the budget, then memories to all the rest; room that they leave goes to what
was said before that, and what is left then to passages of what was said earlier. Nothing is told twice: a memory all of whose
sources are among the messages in the block, or in the prompt already, is left out.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, structs

from agents.retrieval.block_style import SAID_HEADING, TAIL_HEADING, BlockStyle
from schemas.conversations.messages import Message
from schemas.errors import Rejected
from schemas.memories.memories import Memory
from schemas.retrieval.block_settings import Order
from schemas.retrieval.blocks import Block, ToldMemory, ToldMessage, ToldPassage
from schemas.retrieval.searches import Hit, SaidHit

SHORTEST: Final = 24  # tokens of a message whose middle is left out; less of it tells nothing
SPARE: Final = 4  # tokens that joined texts may make beyond those of their parts
LONGEST_TOKEN: Final = 16  # characters, on average over a message: longer ones are not counted whole
REFERENCE_CHARS: Final = 8

TokenCount: TypeAlias = Callable[[str], int]
Covers: TypeAlias = Callable[[Memory, frozenset[str]], bool]


class Limits(Struct, frozen=True, kw_only=True):
    """`tail_share` is what messages may take of `max_tokens` while memories need the room."""

    max_tokens: int
    max_memories: int
    tail_share: float
    max_said: int = 0
    order: Order = "best"


class Entry(Struct, frozen=True):
    """A message as it is told, and its tokens."""

    message: Message
    text: str
    tokens: int
    shortened: bool = False


class Quote(Struct, frozen=True):
    """A passage as it is told, and its tokens."""

    hit: SaidHit
    text: str
    tokens: int


class Line(Struct, frozen=True):
    """A memory as it is told, and its tokens. `place` is that among the hits."""

    hit: Hit
    place: int
    reference: str
    text: str
    tokens: int


def block(
    hits: Sequence[Hit],
    tail: Sequence[Message],
    style: BlockStyle,
    limits: Limits,
    count: TokenCount,
    covers: Covers,
    earlier: Sequence[SaidHit] = (),
) -> Block:
    """`hits` and passages of `earlier` with the best first, `tail` in the order it was said; `covers` says whether a memory tells
    nothing but what messages do, given the ids of those that are told whole.

    Equal values make equal bytes. Raises Rejected `budget_too_small`, naming the sizes, when there is something to tell and
    none of it has room.
    """
    return _Draft(hits, tail, style, limits, count, covers, earlier).block()


class _Draft:
    """One block in the making."""

    def __init__(
        self,
        hits: Sequence[Hit],
        tail: Sequence[Message],
        style: BlockStyle,
        limits: Limits,
        count: TokenCount,
        covers: Covers,
        earlier: Sequence[SaidHit],
    ) -> None:
        self._tail, self._style, self._limits, self._count, self._covers = tail, style, limits, count, covers
        wanted = hits if limits.max_memories else ()
        self._candidates = [self._line(hit, place, hits) for place, hit in enumerate(wanted)]
        self._frame = sum(self._cost(part) for part in (style.heading, style.closing) if part)
        self._tail_frame = self._cost("\n" + TAIL_HEADING)
        self._said_frame = self._cost("\n" + SAID_HEADING)
        self._earlier = earlier
        self._entries: list[Entry] = []
        self._lines: list[Line] = []
        self._quotes: list[Quote] = []

    def _cost(self, text: str) -> int:
        """With the end of its line."""
        return self._count(text + "\n")

    def _line(self, hit: Hit, place: int, hits: Sequence[Hit]) -> Line:
        reference = referred(hit.memory.memory_id, hits)
        text = self._style.memory(hit.memory, place + 1, reference)
        return Line(hit, place, reference, text, self._cost(text))

    def block(self) -> Block:
        most = self._limits.max_tokens
        wanted = self._wanted()
        self._entries = self._said(int(most * self._limits.tail_share) if wanted else most)
        self._lines = self._remembered(most - self._taken_by_tail())
        if len(self._entries) < len(self._tail) or any(entry.shortened for entry in self._entries):
            self._entries = self._said(most - self._taken_by_memories())
            self._lines = self._remembered(most - self._taken_by_tail())
        self._quotes = self._quoted(most - self._taken_by_tail() - self._taken_by_memories())
        return self._finished()

    def _quoted(self, room: int) -> list[Quote]:
        """The best passages that say something besides the memories and messages told, as far as there is room."""
        room -= self._said_frame
        told = {
            (source.conversation_id, source.message_id)
            for line in self._lines
            if len(line.hit.memory.sources) == 1
            for source in line.hit.memory.sources
        }
        shown = {(entry.message.conversation_id, entry.message.message_id) for entry in self._entries}
        quotes: list[Quote] = []
        for hit in self._earlier:
            text = self._style.passage(hit.passage)
            tokens = self._cost(text) if len(text) <= LONGEST_TOKEN * max(room, 0) else room + 1
            place = (hit.passage.conversation_id, hit.passage.message_id)
            if tokens <= room and len(quotes) < self._limits.max_said and place not in told | shown:
                room -= tokens
                quotes.append(Quote(hit, text, tokens))
        return sorted(quotes, key=lambda quote: (quote.hit.passage.said_at, quote.hit.passage.passage_id))

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
        if not text and (self._wanted() or self._tail):
            raise self._too_small()
        return self._told(text, tokens)

    def _whole(self) -> frozenset[str]:
        return frozenset(entry.message.message_id for entry in self._entries if not entry.shortened)

    def _wanted(self) -> list[Line]:
        """The memories that tell something besides the messages."""
        whole = self._whole()
        return [line for line in self._candidates if not self._covers(line.hit.memory, whole)]

    def _said(self, room: int) -> list[Entry]:
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

    def _remembered(self, room: int) -> list[Line]:
        """By rank; one that has no room leaves it to the next."""
        room -= self._frame
        lines: list[Line] = []
        for line in self._wanted():
            if line.tokens <= room and len(lines) < self._limits.max_memories:
                room -= line.tokens
                lines.append(line)
        return lines

    def _taken_by_tail(self) -> int:
        return self._tail_frame + sum(entry.tokens for entry in self._entries) if self._entries else 0

    def _taken_by_memories(self) -> int:
        return self._frame + sum(line.tokens for line in self._lines) if self._lines else 0

    def _ordered(self) -> list[Line]:
        """As they are told, numbered in that order."""
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

    def _text(self) -> str:
        memories, messages = self._ordered(), self._entries
        told = [self._style.heading, *(line.text for line in memories), self._style.closing] if memories else []
        said = [TAIL_HEADING, *(entry.text for entry in messages)] if messages else []
        earlier = [SAID_HEADING, *(quote.text for quote in self._quotes)] if self._quotes else []
        return "\n\n".join("\n".join(part for part in parts if part) for parts in (told, earlier, said) if parts)

    def _told(self, text: str, tokens: int) -> Block:
        wanted = len(self._wanted())
        return Block(
            text=text,
            tokens=tokens,
            max_tokens=self._limits.max_tokens,
            memories=tuple(map(told_memory, self._ordered())),
            messages=tuple(map(told_message, self._entries)),
            said=tuple(map(told_passage, self._quotes)),
            memories_left_out=min(wanted, self._limits.max_memories) - len(self._lines),
            messages_left_out=len(self._tail) - len(self._entries),
            memories_known=len(self._candidates) - wanted,
        )

    def _too_small(self) -> Rejected:
        least = []
        if lines := self._wanted():
            shortest = min(line.tokens for line in lines)
            least.append((self._frame + shortest, f"heading and closing {self._frame}, the shortest memory {shortest}"))
        if self._tail:
            latest = min(SHORTEST, self._entry(self._tail[-1], self._tail[-1].content).tokens)
            said = f"the messages' heading {self._tail_frame}, {latest} of the latest message"
            least.append((self._tail_frame + latest, said))
        tokens, parts = min(least)
        return Rejected(
            "budget_too_small",
            f"max_tokens is {self._limits.max_tokens}, and the smallest block takes about {tokens} tokens ({parts}): "
            f"give {tokens + SPARE} or more",
        )


def referred(memory_id: str, hits: Sequence[Hit]) -> str:
    """How a memory is cited: the beginning of its id; all of it where another one begins alike."""
    short = memory_id[:REFERENCE_CHARS]
    alike = sum(hit.memory.memory_id.startswith(short) for hit in hits)
    return short if alike == 1 else memory_id


def without_middle(content: str, kept: int) -> str:
    """The first and last of so many characters, with a word on what is not there."""
    if kept >= len(content):
        return content
    last = kept // 2
    return (
        f"{content[: kept - last]} [... {len(content) - kept} characters left out ...] {content[len(content) - last :]}"
    )


def told_memory(line: Line) -> ToldMemory:
    memory = line.hit.memory
    return ToldMemory(
        memory_id=memory.memory_id,
        reference=line.reference,
        namespace=memory.namespace,
        kind=memory.kind,
        text=memory.text,
        importance=memory.importance,
        score=line.hit.score,
        tokens=line.tokens,
    )


def told_passage(quote: Quote) -> ToldPassage:
    said = quote.hit.passage
    return ToldPassage(
        passage_id=said.passage_id,
        namespace=said.namespace,
        conversation_id=said.conversation_id,
        message_id=said.message_id,
        speaker=said.speaker,
        said_at=said.said_at,
        text=said.text,
        score=quote.hit.score,
        tokens=quote.tokens,
    )


def told_message(entry: Entry) -> ToldMessage:
    said = entry.message
    return ToldMessage(
        message_id=said.message_id,
        role=said.role,
        timestamp=said.timestamp,
        tokens=entry.tokens,
        shortened=entry.shortened,
    )
