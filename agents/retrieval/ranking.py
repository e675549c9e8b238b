"""How relevant a memory is to a question: its nearness in meaning and the words that they share. Pure."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from agents.retrieval.scales import Scale
from schemas.memories.memories import Memory
from schemas.policies.policies import Fraction
from schemas.retrieval.searches import Hit, Parts


class Candidate(Struct, frozen=True):
    """A memory with its cosine, None where there is none, and the share of the question's words that it has."""

    memory: Memory
    cosine: float | None
    lexical: Fraction


class Ranking(Struct, frozen=True, kw_only=True):
    """A score is `dense` of what the cosine is worth and the rest of the words' share; of a memory without a cosine it is the
    words' share. What has less than `beside_best` of the best score is left out: a question with a good answer needs no weak
    ones beside it.
    """

    dense: Fraction = 0.70
    beside_best: Fraction = 0.50


DEFAULT_RANKING = Ranking()


def ranked(
    candidates: Iterable[Candidate], ranking: Ranking, scale: Scale, *, floor: Fraction | None = None
) -> list[Hit]:
    """Those at the floor or above, best first; equals by importance, by when they were last said, then by id, so that an answer
    repeats."""
    by_relevance = [(relevance(candidate, ranking, scale), candidate) for candidate in candidates]
    best = max((relevant for relevant, _ in by_relevance), default=0.0)
    least = max(least_relevance(scale, floor), ranking.beside_best * best)
    return [
        hit(candidate, relevant)
        for relevant, candidate in sorted(by_relevance, key=lambda each: order(each[0], each[1].memory))
        if relevant >= least
    ]


def order(relevant: Fraction, memory: Memory) -> tuple[float, float, float, str]:
    return -relevant, -memory.importance, -said(memory).timestamp(), memory.memory_id


def least_relevance(scale: Scale, floor: Fraction | None) -> Fraction:
    """What has less has nothing to do with the question."""
    return scale.floor if floor is None else floor


def relevance(candidate: Candidate, ranking: Ranking, scale: Scale) -> Fraction:
    return fused(candidate.cosine, candidate.lexical, ranking, scale)


def at_most(cosine: float | None, lexical: Fraction, ranking: Ranking, scale: Scale) -> Fraction:
    """The relevance of a memory that was not read yet, at most: of one in a script that the model does not read, the cosine
    does not count."""
    with_cosine = fused(cosine, lexical, ranking, scale)
    return max(with_cosine, lexical) if scale.latin_only else with_cosine


def fused(cosine: float | None, lexical: Fraction, ranking: Ranking, scale: Scale) -> Fraction:
    if cosine is None:
        return lexical
    return ranking.dense * scale.near(cosine) + (1.0 - ranking.dense) * lexical


def hit(candidate: Candidate, relevant: Fraction) -> Hit:
    parts = Parts(cosine=candidate.cosine, lexical=candidate.lexical, relevance=relevant, from_relevance=relevant)
    return Hit(score=relevant, memory=candidate.memory, parts=parts)


def said(memory: Memory) -> datetime:
    """When it was last said, as far as its sources tell; otherwise when it was reinforced or stored."""
    moments = [source.timestamp for source in memory.sources if source.timestamp is not None]
    reinforced = () if memory.last_reinforced_at is None else (memory.last_reinforced_at,)
    return max((*moments, *reinforced), default=memory.created_at)
