"""The note of a conversation, rewritten when the conversation continues, within its length."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.ledger.merge import merge
from agents.curation.rules.statements.statement import statement
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.memories.memories import Memory

SENTENCE_BREAK: Final = re.compile(r"(?<=[.!?…])\s+")
WITHOUT_MODEL: Final = "offline"  # the provider
MIN_COVERED: Final = 0.6  # share of a sentence's content words that the new note must have


def rewritten(note: Memory, candidate: Candidate, now: datetime, max_chars: int, *, includes_note: bool) -> Memory:
    """The note with the content of a later slice. With `includes_note` the candidate has it already, without what is outdated."""
    text = candidate.text if includes_note else with_missing_sentences(note.text, candidate.text, max_chars)
    return replace(merge(note, candidate, now, max_chars), text=text)


def includes(note: Memory, batch: CandidateBatch) -> bool:
    """Whether a model that was shown this version of the note wrote the candidate: it was stored before the request. The rules of
    `offline` are not shown it."""
    if batch.provider == WITHOUT_MODEL or batch.requested_at is None:
        return False
    return note.updated_at <= batch.requested_at


def with_missing_sentences(old: str, new: str, max_chars: int) -> str:
    """The new note, after those sentences of the old one that it lacks, as many as fit, in order."""
    kept: list[str] = []
    for sentence in SENTENCE_BREAK.split(old.strip()):
        if not is_covered(sentence, new) and len(" ".join([*kept, sentence, new])) <= max_chars:
            kept.append(sentence)
    return " ".join([*kept, new])


def is_covered(sentence: str, text: str) -> bool:
    """Whether the text has at least MIN_COVERED of the sentence's content words and numbers."""
    old, new = statement(sentence), statement(text)
    words = {*old.content, *old.quantities}
    return len(words & {*new.content, *new.quantities}) >= MIN_COVERED * len(words)


def note_of(memories: Iterable[Memory | None]) -> Memory | None:
    """The latest live memory; None if there is none."""
    return max((each for each in memories if each), key=lambda each: (each.created_at, each.memory_id), default=None)
