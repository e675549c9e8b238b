"""The parts of a context block, as text and as listed in the answer. Pure."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from agents.passages.terms import stems
from schemas.conversations.messages import Message
from schemas.memories.memories import Memory
from schemas.passages.passages import Passage
from schemas.policies.block_settings import Order
from schemas.retrieval.blocks import BlockMemory, BlockMessage, BlockPassage
from schemas.retrieval.searches import Hit, SaidHit

REPEATED_SHARE: Final = 0.5  # share of a passage's stems; a memory of the same message that has as many says the same

REFERENCE_CHARS: Final = 8


class Limits(Struct, frozen=True, kw_only=True):
    """`tail_share` and `said_share` are the shares of `max_tokens` for messages (at most) and passages while other parts
    need the room. `explain` lists what is left out."""

    max_tokens: int
    max_memories: int
    tail_share: float
    max_said: int = 0
    said_share: float = 0.0
    order: Order = "best"
    explain: bool = False


class Entry(Struct, frozen=True):
    """A message as text, with its size in tokens."""

    message: Message
    text: str
    tokens: int
    shortened: bool = False


class Statement(Struct, frozen=True):
    """The stems of a memory's text, and its source messages."""

    stems: frozenset[str]
    messages: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, memory: Memory) -> "Statement":
        messages = ((source.conversation_id, source.message_id) for source in memory.sources)
        return cls(frozenset(stems(memory.text)), frozenset(messages))


class Line(Struct, frozen=True):
    """The line of a memory, with its size in tokens. `place` is its rank among the hits, from 0."""

    hit: Hit
    place: int
    reference: str
    text: str
    tokens: int
    statement: Statement


class QuotedLine(Struct, frozen=True):
    """The line of a passage, with its size in tokens."""

    passage: Passage
    reference: str
    text: str
    tokens: int

    @property
    def message(self) -> tuple[str, str]:
        return self.passage.conversation_id, self.passage.message_id


class Quote(Struct, frozen=True):
    """The lines of a hit: its passage and the neighbours, in order. `stems` are those of the passage."""

    hit: SaidHit
    lines: tuple[QuotedLine, ...]
    stems: frozenset[str]

    @property
    def passage(self) -> Passage:
        return self.hit.passage

    @property
    def message(self) -> tuple[str, str]:
        return self.passage.conversation_id, self.passage.message_id

    @property
    def tokens(self) -> int:
        return sum(line.tokens for line in self.lines)

    def without(self, messages: Collection[tuple[str, str]]) -> "Quote":
        """Leaves out neighbours that are among these messages."""
        own = self.message
        return structs.replace(
            self, lines=tuple(line for line in self.lines if line.message == own or line.message not in messages)
        )

    def alone(self) -> "Quote":
        own = self.message
        return structs.replace(self, lines=tuple(line for line in self.lines if line.message == own))


def adds_something(quote: Quote, memories: Iterable[Statement]) -> bool:
    """Whether no memory says the same as the passage.

    A memory that comes from the message says the same if it has half of the passage's stems: a memory says "User" for "I",
    and a date for "yesterday". Any other memory must have all stems. A long message keeps its place, as it usually says more
    than the memory.
    """
    return not any(says(memory, quote) for memory in memories)


def says(memory: Statement, quote: Quote) -> bool:
    needed = REPEATED_SHARE if quote.message in memory.messages else 1.0
    return bool(quote.stems) and len(quote.stems & memory.stems) >= needed * len(quote.stems)


def memory_view(line: Line) -> BlockMemory:
    memory = line.hit.memory
    return BlockMemory(
        memory_id=memory.memory_id,
        reference=line.reference,
        namespace=memory.namespace,
        kind=memory.kind,
        text=memory.text,
        importance=memory.importance,
        score=line.hit.score,
        tokens=line.tokens,
    )


def passage_view(line: QuotedLine, hit: SaidHit) -> BlockPassage:
    passage, own = line.passage, hit.passage.passage_id
    return BlockPassage(
        passage_id=passage.passage_id,
        reference=line.reference,
        namespace=passage.namespace,
        conversation_id=passage.conversation_id,
        message_id=passage.message_id,
        speaker=passage.speaker,
        name=passage.name,
        said_at=passage.said_at,
        text=passage.text,
        score=hit.score,
        tokens=line.tokens,
        neighbour_of=None if passage.passage_id == own else own,
    )


def message_view(entry: Entry) -> BlockMessage:
    message = entry.message
    return BlockMessage(
        message_id=message.message_id,
        role=message.role,
        timestamp=message.timestamp,
        tokens=entry.tokens,
        shortened=entry.shortened,
    )


def short_id(name: str, names: Sequence[str]) -> str:
    """The reference of a memory or passage: the first 8 characters of its id, or the whole id if another id begins with the
    same 8."""
    short = name[:REFERENCE_CHARS]
    return short if sum(each.startswith(short) for each in names) == 1 else name
