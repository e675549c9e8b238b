"""Scores the relevance of memories to a question, by vector similarity and shared words. Pure."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from agents.retrieval.scales import Scale
from schemas.memories.memories import Memory
from schemas.policies.policies import Fraction
from schemas.retrieval.searches import Hit, Parts


class Candidate(Struct, frozen=True):
    """A memory with its cosine (None if unknown) and the share of the question's words that it has."""

    memory: Memory
    cosine: float | None
    lexical: Fraction


class Ranking(Struct, frozen=True, kw_only=True):
    """A score is `dense` times the scaled cosine plus (1 - `dense`) times the share of words; without a cosine, the share of
    words. Memories with less than `beside_best` of the best score are left out: a question with a good answer needs no
    weak ones."""

    dense: Fraction = 0.70
    beside_best: Fraction = 0.50


DEFAULT_RANKING = Ranking()


def ranked(
    candidates: Iterable[Candidate], ranking: Ranking, scale: Scale, *, floor: Fraction | None = None
) -> list[Hit]:
    """Hits with at least the least relevance, best first. Equal scores are ordered by importance, time last said, and id, so
    that answers are reproducible."""
    by_relevance = [(relevance(candidate, ranking, scale), candidate) for candidate in candidates]
    best = max((relevant for relevant, _ in by_relevance), default=0.0)
    least = max(least_relevance(scale, floor), ranking.beside_best * best)
    return [
        hit(candidate, relevant)
        for relevant, candidate in sorted(by_relevance, key=lambda each: sort_key(each[0], each[1].memory))
        if relevant >= least
    ]


def sort_key(relevant: Fraction, memory: Memory) -> tuple[float, float, float, str]:
    return -relevant, -memory.importance, -last_said_at(memory).timestamp(), memory.memory_id


def least_relevance(scale: Scale, floor: Fraction | None) -> Fraction:
    """The relevance below which a memory is unrelated to the question."""
    return scale.floor if floor is None else floor


def relevance(candidate: Candidate, ranking: Ranking, scale: Scale) -> Fraction:
    return fused(candidate.cosine, candidate.lexical, ranking, scale)


def max_relevance(cosine: float | None, lexical: Fraction, ranking: Ranking, scale: Scale) -> Fraction:
    """An upper bound of the relevance of a memory that is not read yet. In a script that the model does not know, the cosine
    will not count."""
    with_cosine = fused(cosine, lexical, ranking, scale)
    return max(with_cosine, lexical) if scale.latin_only else with_cosine


def fused(cosine: float | None, lexical: Fraction, ranking: Ranking, scale: Scale) -> Fraction:
    if cosine is None:
        return lexical
    return ranking.dense * scale.near(cosine) + (1.0 - ranking.dense) * lexical


def hit(candidate: Candidate, relevant: Fraction) -> Hit:
    parts = Parts(cosine=candidate.cosine, lexical=candidate.lexical, relevance=relevant, from_relevance=relevant)
    return Hit(score=relevant, memory=candidate.memory, parts=parts)


def last_said_at(memory: Memory) -> datetime:
    """The time of the latest source, or of the reinforcement if that is later; without either, the time of creation."""
    moments = [source.timestamp for source in memory.sources if source.timestamp is not None]
    reinforced = () if memory.last_reinforced_at is None else (memory.last_reinforced_at,)
    return max((*moments, *reinforced), default=memory.created_at)
