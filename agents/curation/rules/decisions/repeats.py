"""Finds the memories that may already have a candidate's statement. Pure."""

from collections.abc import Collection, Mapping, Sequence

from agents.curation.rules.decisions.decide import same_attribute_value
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.scored import Scored
from agents.curation.rules.statements.languages import TranslatedCandidate, in_other_language
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory


def possible_repeats(
    ledger: Ledger,
    candidate: Candidate,
    nearest: Sequence[Scored],
    related: float,
    cosines: Mapping[str, float],
    confirmed: Collection[str] = (),
) -> list[Scored]:
    """The memories that may have the candidate's statement: those with a cosine of at least `related`, with the same value of an
    attribute, with the statement in another language, or `confirmed` by two models."""
    near = [
        each
        for each in nearest
        if each.score >= related
        or each.memory.memory_id in confirmed
        or says_the_same_in_another_language(candidate, each.memory)
        or same_attribute_value(candidate.text, each.memory.text) is not None
    ]
    return near + match_in_other_language(ledger, candidate, near, cosines)


def match_in_other_language(
    ledger: Ledger, candidate: Candidate, near: Sequence[Scored], cosines: Mapping[str, float]
) -> list[Scored]:
    """The memory in another language that is the same by a model's verdict, if the vector index did not find it: most
    embedders rarely match two languages."""
    memory = ledger.find_live(candidate.refines if isinstance(candidate, TranslatedCandidate) else candidate.repeats)
    if memory is None or not says_the_same_in_another_language(candidate, memory):
        return []
    known = any(each.memory.memory_id == memory.memory_id for each in near)
    return [] if known else [Scored(memory, cosines.get(memory.memory_id, 0.0))]


def says_the_same_in_another_language(candidate: Candidate, memory: Memory) -> bool:
    """Whether the memory has the same statement in another language, by a model's verdict."""
    if isinstance(candidate, TranslatedCandidate):
        return memory.memory_id == candidate.refines
    return memory.memory_id == candidate.repeats and in_other_language(candidate, memory)
