"""Decides about a candidate: reinforce, merge, supersede, create or drop. The cheapest check comes first."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from agents.curation.rules.guards import objection
from agents.curation.rules.merge import adds
from agents.curation.rules.normalise import normalise
from agents.curation.rules.similarity import ALIKE, ratio
from agents.curation.rules.sources import new_sources, said_later
from agents.curation.rules.statement import statement
from agents.curation.rules.thresholds import Thresholds
from agents.curation.rules.uncertainty import doubt
from schemas.extraction.requests import Candidate
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy


class Scored(Struct, frozen=True):
    """A live memory near a candidate; `score` is the cosine."""

    memory: Memory
    score: float


class Reinforce(Struct, frozen=True):
    """The memory says the same."""

    memory: Memory
    reason: str


class Merge(Struct, frozen=True):
    """The memory says less, or lacks the context."""

    memory: Memory
    reason: str


class Supersede(Struct, frozen=True):
    """The memory no longer holds. `successor` says what does; None: a memory made of the candidate."""

    memory: Memory
    successor: Memory | None
    reason: str


class Create(Struct, frozen=True):
    """No memory is similar. `reason` names the guard that objected to the nearest one, if any."""

    reason: str | None = None


class Drop(Struct, frozen=True):
    """Not to be remembered."""

    reason: str


Decision: TypeAlias = Reinforce | Merge | Supersede | Create | Drop


class Likeness(Struct, frozen=True):
    """A memory that may say the same, and by what; `automatic` ones need no word of the model."""

    memory: Memory
    by: str
    automatic: bool


def decide(
    candidate: Candidate,
    exact: Memory | None,
    neighbours: Sequence[Scored],
    policy: Policy,
    thresholds: Thresholds,
    contradicted: Memory | None = None,
) -> Decision:
    """`exact` has the candidate's normalised text, `contradicted` is the memory that it names; all are live.

    `neighbours` come nearest first, from `thresholds.related`. What the model says is evidence: `contradicts` decides only
    over a memory that was not said later and says something else; `repeats` and `refines` only without an objection.
    """
    if candidate.confidence < policy.min_confidence:
        return Drop(f"confidence {candidate.confidence:g} is below {policy.min_confidence:g}")
    if candidate.rated < policy.min_importance:
        return Drop(f"importance {candidate.rated:g} is below {policy.min_importance:g}")
    if contradicted is not None and says_the_same(candidate, contradicted):
        contradicted = None
    if contradicted is not None and said_later(contradicted, candidate):
        return Drop(f"outdated: {contradicted.memory_id} was said later and contradicts it")
    others = [near for near in neighbours if contradicted is None or near.memory.memory_id != contradicted.memory_id]
    match, reason = matching(candidate, exact, others, thresholds)
    if contradicted is not None:
        return Supersede(contradicted, match, "the candidate contradicts it")
    if match is None:
        return Create(reason)
    if adds(candidate, match):
        return Merge(match, reason or "")
    if not new_sources(candidate, match):
        return Drop(f"repeated: {match.memory_id} has it from the same messages")
    return Reinforce(match, reason or "")


def matching(
    candidate: Candidate, exact: Memory | None, neighbours: Sequence[Scored], thresholds: Thresholds
) -> tuple[Memory | None, str | None]:
    """The memory that says the same, and by what it is taken for that; or None, and the guard that objected to the likest."""
    if exact is not None:
        return exact, "the same text"
    objected = None
    for like in likenesses(candidate, neighbours, thresholds):
        guard = opposition(candidate, like)
        if guard is None:
            return like.memory, like.by
        objected = objected or f"{guard} differ from {like.memory.memory_id} at {like.by}"
    return None, objected


def likenesses(candidate: Candidate, neighbours: Sequence[Scored], thresholds: Thresholds) -> Iterator[Likeness]:
    """By letters, then by vectors, then by the model's word; the likest first of each."""
    text = normalise(candidate.text)
    ratios = [(ratio(text, normalise(near.memory.text)), near.memory) for near in neighbours]
    for letters, memory in sorted(ratios, key=lambda each: -each[0]):
        if letters > ALIKE:
            yield Likeness(memory, f"Levenshtein {letters:.3f}", automatic=True)
    for near in neighbours:
        if near.score >= thresholds.merge:
            yield Likeness(near.memory, f"cosine {near.score:.3f}", automatic=True)
    for near in neighbours:
        if near.memory.memory_id in (candidate.repeats, candidate.refines):
            yield Likeness(near.memory, f"the model's word, cosine {near.score:.3f}", automatic=False)


def opposition(candidate: Candidate, like: Likeness) -> str | None:
    """The guard that objects. Of a refinement it is asked the other way round: what does the memory say besides?"""
    guard = objection(candidate.text, like.memory.text)
    if guard is not None and candidate.refines == like.memory.memory_id:
        guard = objection(like.memory.text, candidate.text)
    if guard is None and like.automatic:
        return doubt(candidate.text, like.memory.text)
    return guard


def says_the_same(candidate: Candidate, memory: Memory) -> bool:
    """Nothing contradicts what it says word for word, or in the same words as far as they mean something."""
    if normalise(candidate.text) == normalise(memory.text):
        return True
    same = statement(candidate.text).content == statement(memory.text).content
    return same and objection(candidate.text, memory.text) is None and doubt(candidate.text, memory.text) is None
