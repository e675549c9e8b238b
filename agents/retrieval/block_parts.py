"""The parts of a context block: messages, memories and passages as they are shown, and as the answer lists them. Pure."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from agents.passages.words import stems
from schemas.conversations.messages import Message
from schemas.memories.memories import Memory
from schemas.passages.passages import Passage
from schemas.retrieval.blocks import BlockMemory, BlockMessage, BlockPassage
from schemas.retrieval.searches import Hit, SaidHit

REPEATED: Final = 0.5  # share of a passage's words: a memory of its message that has so many says the same


class Entry(Struct, frozen=True):
    """A message as it is shown, and its tokens."""

    message: Message
    text: str
    tokens: int
    shortened: bool = False


class Statement(Struct, frozen=True):
    """What a memory says: its stems, and the messages that it comes from."""

    stems: frozenset[str]
    messages: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, memory: Memory) -> "Statement":
        messages = ((source.conversation_id, source.message_id) for source in memory.sources)
        return cls(frozenset(stems(memory.text)), frozenset(messages))


class Line(Struct, frozen=True):
    """A memory as it is shown, its tokens, and what it says. `place` is that among the hits."""

    hit: Hit
    place: int
    reference: str
    text: str
    tokens: int
    statement: Statement


class Quote(Struct, frozen=True):
    """A passage as it is shown, its tokens, and its stems."""

    hit: SaidHit
    reference: str
    text: str
    tokens: int
    stems: frozenset[str]

    @property
    def passage(self) -> Passage:
        return self.hit.passage

    @property
    def message(self) -> tuple[str, str]:
        return self.passage.conversation_id, self.passage.message_id


def adds_something(quote: Quote, memories: Iterable[Statement]) -> bool:
    """Whether none of the memories says what the passage does.

    A memory that comes from the message does when it has half of the words: it says "User" for "I", and a date for "yesterday".
    Any other must have all of them. What a long message says besides stays worth its room.
    """
    return not any(says(memory, quote) for memory in memories)


def says(memory: Statement, quote: Quote) -> bool:
    needed = REPEATED if quote.message in memory.messages else 1.0
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


def passage_view(quote: Quote) -> BlockPassage:
    passage = quote.passage
    return BlockPassage(
        passage_id=passage.passage_id,
        reference=quote.reference,
        namespace=passage.namespace,
        conversation_id=passage.conversation_id,
        message_id=passage.message_id,
        speaker=passage.speaker,
        said_at=passage.said_at,
        text=passage.text,
        score=quote.hit.score,
        tokens=quote.tokens,
    )


def message_view(entry: Entry) -> BlockMessage:
    said = entry.message
    return BlockMessage(
        message_id=said.message_id,
        role=said.role,
        timestamp=said.timestamp,
        tokens=entry.tokens,
        shortened=entry.shortened,
    )
