"""The note of a conversation that went on: told anew with what came since, within its length."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.merge import merge
from agents.curation.rules.statement import statement
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory

SENTENCE_BREAK: Final = re.compile(r"(?<=[.!?…])\s+")
TOLD: Final = 0.6  # of a sentence's words that mean something: the new note says it too


def rewritten(note: Memory, candidate: Candidate, now: datetime, most_chars: int) -> Memory:
    """The note with what a later slice of its conversation comes to. A model that was shown the note tells all of it."""
    return replace(merge(note, candidate, now, most_chars), text=told_anew(note.text, candidate.text, most_chars))


def told_anew(old: str, new: str, most_chars: int) -> str:
    """The new note, behind as many sentences of the old one that it does not tell as fit, the first ones first."""
    kept: list[str] = []
    for sentence in SENTENCE_BREAK.split(old.strip()):
        if not is_told(sentence, new) and len(" ".join([*kept, sentence, new])) <= most_chars:
            kept.append(sentence)
    return " ".join([*kept, new])


def is_told(sentence: str, text: str) -> bool:
    said, told = statement(sentence), statement(text)
    words = {*said.content, *said.quantities}
    return len(words & {*told.content, *told.quantities}) >= TOLD * len(words)


def note_of(memories: Iterable[Memory | None]) -> Memory | None:
    """The latest of those that are live still."""
    return max((each for each in memories if each), key=lambda each: (each.created_at, each.memory_id), default=None)
