"""Merges a candidate into the memory with the same statement: the resulting text, context and importance.

Importance is the highest value proposed so far, raised by a share of the rest to 1. The share grows with the number of
repetitions, from 5 % for one to MAX_BONUS. The order of repetitions does not matter.
"""

from datetime import datetime

from msgspec.structs import replace

from agents.curation.rules.ledger.sources import (
    bounded,
    distinct,
    joined_tellers,
    last_said,
    new_sources,
    said_later,
)
from agents.curation.rules.statements.guards import objection
from agents.curation.rules.statements.languages import TranslatedCandidate, are_other_languages, lost_in_translation
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.similarity import alike
from agents.curation.rules.statements.statement import Statement, statement
from agents.curation.rules.statements.uncertainty import has_new_words
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory

MAX_BONUS = 0.5
BONUS_DECAY = 0.9  # each repetition leaves this share of the remaining bonus
PLACES = 9  # avoids values such as 0.7000000000000001
MAX_CONTEXT_CHARS = 1_000  # so that a context does not grow with every repetition


def merge(memory: Memory, candidate: Candidate, now: datetime, max_chars: int) -> Memory:
    """The memory with everything that the candidate adds: messages, tags, kinds, and richer texts.

    It counts as a repetition only if the candidate is based on other messages.
    """
    said_at, fresh = last_said(candidate.sources) or now, new_sources(candidate, memory)
    count = memory.reinforcement_count + bool(fresh)
    text = richer_text(memory, candidate, max_chars)
    return replace(
        memory,
        text=text,
        language=candidate.language if memory.text != text == candidate.text else memory.language,
        context=joined_context(memory.context, candidate.context),
        full_text=richer_full_text(memory.full_text, candidate.full_text),
        importance=raised_importance(memory, candidate.rated, count),
        confidence=max(memory.confidence, candidate.confidence),
        kinds=distinct(kind for kind in (*memory.kinds, candidate.kind, *candidate.kinds) if kind != memory.kind),
        tags=distinct((*memory.tags, *candidate.tags)),
        sources=bounded((*memory.sources, *fresh)),
        told_by=joined_tellers(memory.told_by, candidate.told_by),
        reinforcement_count=count,
        last_reinforced_at=max(said_at, memory.last_reinforced_at or said_at) if fresh else memory.last_reinforced_at,
        valid_from=beginning(memory, candidate),
        valid_until=end(memory, candidate),
        updated_at=now,
    )


def adds_content(candidate: Candidate, memory: Memory, max_chars: int) -> bool:
    """Whether the candidate adds content to the memory; otherwise it only repeats it."""
    return (
        richer_text(memory, candidate, max_chars) != memory.text
        or joined_context(memory.context, candidate.context) != memory.context
        or richer_full_text(memory.full_text, candidate.full_text) != memory.full_text
        or beginning(memory, candidate) != memory.valid_from
        or end(memory, candidate) != memory.valid_until
    )


def beginning(memory: Memory, candidate: Candidate) -> datetime | None:
    """The memory's beginning, or the candidate's if that is given and earlier. A later one replaces only a beginning that still
    lay ahead when the candidate was said."""
    given, known = candidate.valid_from, memory.valid_from
    if given is None or known is None or (candidate.valid_until is not None and candidate.valid_until <= known):
        return known
    said = last_said(candidate.sources)
    is_moved = said is not None and known > said and not said_later(memory, candidate)
    return given if is_moved else min(given, known)


def end(memory: Memory, candidate: Candidate) -> datetime | None:
    """The memory's end. Only a candidate that was not said before the memory sets one, after the memory's beginning. If it
    has none and names the memory as one that no longer holds, the end is what no longer holds."""
    known, until = memory.valid_until, candidate.valid_until
    if said_later(memory, candidate):
        return known
    if until is None:
        is_named = memory.memory_id in (candidate.contradicts, *candidate.supersedes)
        return None if is_named and memory.superseded_by is None else known
    begins = beginning(memory, candidate)
    return known if begins is not None and until <= begins else until


def richer_text(memory: Memory, candidate: Candidate, max_chars: int) -> str:
    """The candidate's text if it has all of the memory's content and more; for a refinement with other content both texts.

    If the model says that the candidate refines the memory, more content words are enough, unless a guard misses something
    of the memory.
    """
    if covers_memory(candidate, memory):
        return candidate.text
    new, old = statement(candidate.text), statement(memory.text)
    refines = candidate.refines == memory.memory_id
    richer = (refines and len(new.content) > len(old.content) and not has_new_words(old, new)) or says_more(new, old)
    if richer and not objection(memory.text, candidate.text):
        return candidate.text
    if refines and says_something_new(new, old):
        return both_texts(memory, candidate, max_chars) or memory.text
    return memory.text


def covers_memory(candidate: Candidate, memory: Memory) -> bool:
    """Whether a model's text for both has all of the memory's content."""
    made_of_both = isinstance(candidate, TranslatedCandidate) and candidate.refines == memory.memory_id
    return made_of_both and preserves(candidate.text, candidate.language, memory.text, memory.language)


def preserves(text: str, language: str | None, said: str, said_language: str | None) -> bool:
    """Whether `text` has all of the original's content; across languages by numbers, names and length."""
    if are_other_languages(language, said_language):
        return not lost_in_translation(said, said_language, text)
    return not says_something_new(statement(said), statement(text))


def would_lose_words(memory: Memory, candidate: Candidate, max_chars: int) -> bool:
    """Whether merging a refinement would drop new content because the two texts together are too long."""
    if candidate.refines != memory.memory_id:
        return False
    if isinstance(candidate, TranslatedCandidate):
        return not covers_memory(candidate, memory)
    merged_text = statement(richer_text(memory, candidate, max_chars))
    return says_something_new(statement(candidate.text), merged_text)


def says_something_new(new: Statement, old: Statement) -> bool:
    """Whether `new` has a word, a number, a time or a name that `old` lacks."""
    named = set(new.names) - set(old.tokens)
    return bool(has_new_words(new, old) or named or new.quantities - old.quantities or new.times - old.times)


def both_texts(memory: Memory, candidate: Candidate, max_chars: int) -> str | None:
    """Both texts in one, within the policy's length; None if they are too long."""
    both = f"{memory.text.rstrip(' .;')}. {candidate.text}"
    return both if len(both) <= max_chars else None


def says_more(new: Statement, old: Statement) -> bool:
    return meanings(old) < meanings(new)


def meanings(each: Statement) -> frozenset[str]:
    return frozenset((*each.content, *each.quantities, *each.times))


def joined_context(known: str | None, new_context: str | None) -> str | None:
    """Both contexts; one of them if it contains the other, if the other is empty, or if both are too long."""
    old, new = normalise(known or ""), normalise(new_context or "")
    if not known or not new_context or not has_words(old) or not has_words(new):
        return new_context if has_words(new) or not known else known
    if f" {new} " in f" {old} " or (alike(old, new) and objection(new_context, known) is None):
        return known
    if f" {old} " in f" {new} ":
        return new_context
    both = f"{known.rstrip(' .;')}; {new_context}"
    return both if len(both) <= MAX_CONTEXT_CHARS else known


def has_words(normalised: str) -> bool:
    """Whether the text has a letter or a digit."""
    return any(map(str.isalnum, normalised))


def richer_full_text(known: str | None, new_text: str | None) -> str | None:
    """The candidate's full text if it is longer and has all of the memory's words."""
    if not known or not new_text:
        return known or new_text
    return new_text if set(normalise(known).split()) < set(normalise(new_text).split()) else known


def raised_importance(memory: Memory, proposed: float, count: int) -> float:
    """The importance after `count` repetitions, one of which proposes `proposed`; never lower than before."""
    without = 1 - (1 - memory.importance) / (1 - reinforcement_bonus(memory.reinforcement_count))
    greatest = max(without, proposed)
    return min(1.0, max(memory.importance, round(1 - (1 - greatest) * (1 - reinforcement_bonus(count)), PLACES)))


def reinforcement_bonus(count: int) -> float:
    return float(MAX_BONUS * (1 - BONUS_DECAY**count))
