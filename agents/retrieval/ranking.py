"""What a memory's score is made of: relevance first, then importance, recency and reinforcement. Pure."""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from agents.retrieval.scales import Scale
from schemas.memories.memories import Memory
from schemas.policies.policies import Fraction
from schemas.retrieval.searches import Hit, Parts

DAY = timedelta(days=1)


class Candidate(Struct, frozen=True):
    """A memory with its cosine, None where there is none, and the share of the question's words that it has."""

    memory: Memory
    cosine: float | None
    lexical: Fraction


class Ranking(Struct, frozen=True, kw_only=True):
    """The weights of a score; every part is from 0 to 1, and so is the score.

    Relevance is `dense` of what the cosine is worth and the rest of the words' share; of a memory without a cosine it is the
    words' share. A score is what the weights of the other parts leave of it, and each of these parts by its weight. What has
    less than `beside_best` of the best relevance is left out: a question with a good answer needs no weak ones beside it.
    """

    dense: Fraction = 0.70
    importance: Fraction = 0.10
    recency: Fraction = 0.05
    reinforcement: Fraction = 0.05
    half_life_days: float = 30.0
    half_reinforced: float = 3.0
    beside_best: Fraction = 0.50


DEFAULT_RANKING = Ranking()


def ranked(
    candidates: Iterable[Candidate], ranking: Ranking, scale: Scale, now: datetime, *, floor: Fraction | None = None
) -> list[Hit]:
    """Those at the floor or above, best first; equals by when they were last said, then by id, so that an answer repeats."""
    by_relevance = [(relevance(candidate, ranking, scale), candidate) for candidate in candidates]
    best = max((relevant for relevant, _ in by_relevance), default=0.0)
    least = max(least_relevance(scale, floor), ranking.beside_best * best)
    hits = [hit(candidate, relevant, ranking, now) for relevant, candidate in by_relevance if relevant >= least]
    return sorted(hits, key=lambda hit: (-hit.score, -said(hit.memory).timestamp(), hit.memory.memory_id))


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


def hit(candidate: Candidate, relevant: Fraction, ranking: Ranking, now: datetime) -> Hit:
    memory = candidate.memory
    share = 1.0 - ranking.importance - ranking.recency - ranking.reinforcement
    parts = Parts(
        cosine=candidate.cosine,
        lexical=candidate.lexical,
        relevance=relevant,
        from_relevance=share * relevant,
        from_importance=ranking.importance * memory.importance,
        from_recency=ranking.recency * recency(said(memory), now, ranking.half_life_days),
        from_reinforcement=ranking.reinforcement * reinforcement(memory.reinforcement_count, ranking.half_reinforced),
    )
    score = parts.from_relevance + parts.from_importance + parts.from_recency + parts.from_reinforcement
    return Hit(score=score, memory=memory, parts=parts)


def said(memory: Memory) -> datetime:
    """When it was last said, as far as its sources tell; otherwise when it was reinforced or stored."""
    moments = [source.timestamp for source in memory.sources if source.timestamp is not None]
    reinforced = () if memory.last_reinforced_at is None else (memory.last_reinforced_at,)
    return max((*moments, *reinforced), default=memory.created_at)


def recency(moment: datetime, now: datetime, half_life_days: float) -> Fraction:
    """1 for what was said now, or is dated later; half of it after each half-life."""
    age_days = max(0.0, (now - moment) / DAY)
    return math.exp2(-age_days / half_life_days)


def reinforcement(count: int, half: float) -> Fraction:
    """0 for what was said once, a half after `half` more times, never quite 1."""
    return count / (count + half)
