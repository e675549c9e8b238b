"""What a memory's score is made of: relevance first, then importance, recency and reinforcement. Pure."""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from schemas.memories import Memory
from schemas.policies import Fraction
from schemas.searches import Hit, Parts

DAY = timedelta(days=1)


class Candidate(Struct, frozen=True):
    """A memory with its cosine, None where nobody looked, and the share of the question that its words cover."""

    memory: Memory
    cosine: float | None
    lexical: Fraction


class Ranking(Struct, frozen=True, kw_only=True):
    """The weights. A score is (1 - their sum) * relevance + each weight * its part; all parts are from 0 to 1.

    A cosine counts from `cosine_from`, as nothing, to `cosine_to`, as all. Relevance is the dense and the lexical part, each
    at most 1, by `dense` and `lexical`, at most 1 together. What is less relevant than `floor` is not found, however important.
    """

    cosine_from: float = 0.15
    cosine_to: float = 0.70
    dense: Fraction = 0.6
    lexical: Fraction = 0.6
    importance: Fraction = 0.10
    recency: Fraction = 0.05
    reinforcement: Fraction = 0.05
    half_life_days: float = 30.0
    half_reinforced: float = 3.0
    floor: Fraction = 0.10


DEFAULT_RANKING = Ranking()


def ranked(
    candidates: Iterable[Candidate], ranking: Ranking, now: datetime, *, floor: Fraction | None = None
) -> list[Hit]:
    """Those at the floor or above, best first; equals by their latest moment, then by id, so that an answer repeats."""
    least = ranking.floor if floor is None else floor
    scored = (scored_by(candidate, ranking, now) for candidate in candidates)
    hits = [hit for hit in scored if hit.parts is not None and hit.parts.relevance >= least]
    return sorted(hits, key=lambda hit: (-hit.score, -said(hit.memory).timestamp(), hit.memory.memory_id))


def scored_by(candidate: Candidate, ranking: Ranking, now: datetime) -> Hit:
    memory = candidate.memory
    share = 1.0 - ranking.importance - ranking.recency - ranking.reinforcement
    relevance = relevance_of(candidate, ranking)
    parts = Parts(
        cosine=candidate.cosine,
        lexical=candidate.lexical,
        relevance=relevance,
        from_relevance=share * relevance,
        from_importance=ranking.importance * memory.importance,
        from_recency=ranking.recency * recency(said(memory), now, ranking.half_life_days),
        from_reinforcement=ranking.reinforcement * reinforcement(memory.reinforcement_count, ranking.half_reinforced),
    )
    score = parts.from_relevance + parts.from_importance + parts.from_recency + parts.from_reinforcement
    return Hit(score=score, memory=memory, parts=parts)


def relevance_of(candidate: Candidate, ranking: Ranking) -> Fraction:
    reach = ranking.cosine_to - ranking.cosine_from
    near = 0.0 if candidate.cosine is None else (candidate.cosine - ranking.cosine_from) / reach
    return min(1.0, ranking.dense * min(max(near, 0.0), 1.0) + ranking.lexical * candidate.lexical)


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
