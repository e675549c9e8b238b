"""Folding a candidate into the memory that says the same: which text, context and importance the memory has then.

Importance: what the memory and every repetition gave it at most, and of what is then missing to 1 a share that grows with
the number of repetitions, from 5 % for one to MOST_LIFT. The same in whatever order repetitions arrive.
"""

from datetime import datetime

from msgspec.structs import replace

from agents.curation.rules.guards import objection
from agents.curation.rules.normalise import normalise
from agents.curation.rules.similarity import alike
from agents.curation.rules.sources import bounded, distinct, joined_tellers, last_said, new_sources
from agents.curation.rules.statement import Statement, statement
from agents.curation.rules.uncertainty import news
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory

MOST_LIFT = 0.5
LIFT_LEFT = 0.9  # of what is left of the most, each repetition leaves this much
PLACES = 9  # so that 0.7 is not told as 0.7000000000000001
MAX_CONTEXT_CHARS = 1_000  # a context that grows with every repetition is none


def merge(memory: Memory, candidate: Candidate, now: datetime, most_chars: int) -> Memory:
    """The memory with all that the candidate adds: messages, tags, kinds, and its text, context or full text where richer.

    Counted as a repetition if it was said in other messages.
    """
    said, fresh = last_said(candidate.sources) or now, new_sources(candidate, memory)
    count = memory.reinforcement_count + bool(fresh)
    return replace(
        memory,
        text=richer_text(memory, candidate, most_chars),
        context=joined_context(memory.context, candidate.context),
        full_text=fuller(memory.full_text, candidate.full_text),
        importance=raised_importance(memory, candidate.rated, count),
        confidence=max(memory.confidence, candidate.confidence),
        kinds=distinct(kind for kind in (*memory.kinds, candidate.kind, *candidate.kinds) if kind != memory.kind),
        tags=distinct((*memory.tags, *candidate.tags)),
        sources=bounded((*memory.sources, *fresh)),
        told_by=joined_tellers(memory.told_by, candidate.told_by),
        reinforcement_count=count,
        last_reinforced_at=max(said, memory.last_reinforced_at or said) if fresh else memory.last_reinforced_at,
        valid_until=candidate.valid_until or memory.valid_until,
        updated_at=now,
    )


def adds(candidate: Candidate, memory: Memory, most_chars: int) -> bool:
    """Whether the memory would say more with it: otherwise it is only said again."""
    return (
        richer_text(memory, candidate, most_chars) != memory.text
        or joined_context(memory.context, candidate.context) != memory.context
        or fuller(memory.full_text, candidate.full_text) != memory.full_text
        or candidate.valid_until not in (None, memory.valid_until)
    )


def richer_text(memory: Memory, candidate: Candidate, most_chars: int) -> str:
    """The candidate's if it says all that the memory says, and more; of a refinement that says something else besides, both.

    Where the model says that it refines the memory, more words are enough, if no guard misses anything of the memory's.
    """
    new, old = statement(candidate.text), statement(memory.text)
    refines = candidate.refines == memory.memory_id
    richer = (refines and len(new.content) > len(old.content) and not news(old, new)) or says_more(new, old)
    if richer and not objection(memory.text, candidate.text):
        return candidate.text
    if refines and says_news(new, old):
        return both_texts(memory, candidate, most_chars) or memory.text
    return memory.text


def loses_words(memory: Memory, candidate: Candidate, most_chars: int) -> bool:
    """Whether folding a refinement into the memory would drop what it adds: the two are too long for one text."""
    if candidate.refines != memory.memory_id:
        return False
    said = statement(richer_text(memory, candidate, most_chars))
    return says_news(statement(candidate.text), said)


def says_news(new: Statement, old: Statement) -> bool:
    """Whether it has a word, a number, a time or a name that the other one does not have."""
    named = set(new.names) - set(old.tokens)
    return bool(news(new, old) or named or new.quantities - old.quantities or new.times - old.times)


def both_texts(memory: Memory, candidate: Candidate, most_chars: int) -> str | None:
    """One after the other, within the policy's length."""
    both = f"{memory.text.rstrip(' .;')}. {candidate.text}"
    return both if len(both) <= most_chars else None


def says_more(new: Statement, old: Statement) -> bool:
    return meanings(old) < meanings(new)


def meanings(each: Statement) -> frozenset[str]:
    return frozenset((*each.content, *each.quantities, *each.times))


def joined_context(known: str | None, said: str | None) -> str | None:
    """Both, unless one says the other already, or nothing, or both are too long."""
    old, new = normalise(known or ""), normalise(said or "")
    if not known or not said or not has_words(old) or not has_words(new):
        return said if has_words(new) or not known else known
    if f" {new} " in f" {old} " or (alike(old, new) and objection(said, known) is None):
        return known
    if f" {old} " in f" {new} ":
        return said
    both = f"{known.rstrip(' .;')}; {said}"
    return both if len(both) <= MAX_CONTEXT_CHARS else known


def has_words(normalised: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return any(map(str.isalnum, normalised))


def fuller(known: str | None, said: str | None) -> str | None:
    """The candidate's if it is longer and says all of the memory's words."""
    if not known or not said:
        return known or said
    return said if set(normalise(known).split()) < set(normalise(said).split()) else known


def raised_importance(memory: Memory, proposed: float, count: int) -> float:
    """The importance after `count` repetitions in all, one of which proposes so much; never less than it was."""
    without = 1 - (1 - memory.importance) / (1 - reinforcement_bonus(memory.reinforcement_count))
    greatest = max(without, proposed)
    return min(1.0, max(memory.importance, round(1 - (1 - greatest) * (1 - reinforcement_bonus(count)), PLACES)))


def reinforcement_bonus(count: int) -> float:
    return float(MOST_LIFT * (1 - LIFT_LEFT**count))
