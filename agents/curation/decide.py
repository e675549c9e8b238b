"""What becomes of a candidate: reinforce, supersede, create or drop."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from agents.curation.guards import objection
from schemas.memories import Memory
from schemas.policies import Policy
from schemas.requests import Candidate, Source

# No threshold separates duplicates from contradictions; below this cosine (all-MiniLM-L6-v2) hardly any duplicate lies.
RELATED_COSINE = 0.70


class Scored(Struct, frozen=True):
    """A live memory near a candidate; `score` is the cosine."""

    memory: Memory
    score: float


class Reinforce(Struct, frozen=True):
    """The memory says it already."""

    memory: Memory
    reason: str


class Supersede(Struct, frozen=True):
    """The memory no longer holds. `successor` says what does; None: a memory made of the candidate."""

    memory: Memory
    successor: Memory | None
    reason: str


class Create(Struct, frozen=True):
    """Nothing like it is known. `reason` names the guard that kept it from its nearest memory, if one did."""

    reason: str | None = None


class Drop(Struct, frozen=True):
    """Not to be remembered."""

    reason: str


Decision: TypeAlias = Reinforce | Supersede | Create | Drop


def decide(
    candidate: Candidate,
    exact: Memory | None,
    neighbours: Sequence[Scored],
    policy: Policy,
    contradicted: Memory | None = None,
) -> Decision:
    """`exact` has the candidate's normalised text, `contradicted` is the memory that it names; all are live.

    `neighbours` come nearest first, from RELATED_COSINE. What the model says of `contradicts` and `repeats` is evidence:
    the first decides only over memories of the same namespace and not over something said later, the second only
    without an objection.
    """
    if candidate.confidence < policy.min_confidence:
        return Drop(f"confidence {candidate.confidence:g} is below {policy.min_confidence:g}")
    if candidate.importance < policy.min_importance:
        return Drop(f"importance {candidate.importance:g} is below {policy.min_importance:g}")
    if exact is not None and contradicted is not None and exact.memory_id == contradicted.memory_id:
        contradicted = None
    if contradicted is not None and said_later(contradicted, candidate):
        return Drop(f"outdated: {contradicted.memory_id} was said later and contradicts it")
    match, reason = matching(candidate, exact, neighbours, policy, contradicted)
    if contradicted is not None:
        return Supersede(contradicted, match, "the candidate contradicts it")
    if match is None:
        return Create(reason)
    if not new_sources(candidate, match):
        return Drop(f"repeated: {match.memory_id} has it from the same messages")
    return Reinforce(match, reason or "the same text")


def matching(
    candidate: Candidate,
    exact: Memory | None,
    neighbours: Sequence[Scored],
    policy: Policy,
    contradicted: Memory | None,
) -> tuple[Memory | None, str | None]:
    """The memory that says the same, and why it is taken for that; or None, and the guard that objected to the nearest."""
    if exact is not None:
        return exact, "the same text"
    objected = None
    for near in neighbours:
        if contradicted is not None and near.memory.memory_id == contradicted.memory_id:
            continue
        if not near_enough(candidate, near, policy):
            continue
        guard = objection(candidate.text, near.memory.text)
        if guard is None:
            return near.memory, f"cosine {near.score:.3f}"
        objected = objected or f"{guard} differ from {near.memory.memory_id} at cosine {near.score:.3f}"
    return None, objected


def near_enough(candidate: Candidate, near: Scored, policy: Policy) -> bool:
    """By the policy's threshold, or by the model's word from RELATED_COSINE on."""
    threshold = RELATED_COSINE if candidate.repeats == near.memory.memory_id else policy.merge_threshold
    return near.score >= threshold


def said_later(memory: Memory, candidate: Candidate) -> bool:
    """Whether the memory's latest source is later than the candidate's; False where times are not known."""
    known, new = last_said(memory.sources), last_said(candidate.sources)
    return known is not None and new is not None and known > new


def last_said(sources: Sequence[Source]) -> datetime | None:
    return max((source.timestamp for source in sources if source.timestamp is not None), default=None)


def new_sources(candidate: Candidate, memory: Memory) -> tuple[Source, ...]:
    """The candidate's messages that the memory does not come from yet."""
    known = {(source.conversation_id, source.message_id) for source in memory.sources}
    fresh = {(source.conversation_id, source.message_id): source for source in candidate.sources}
    return tuple(source for key, source in fresh.items() if key not in known)
