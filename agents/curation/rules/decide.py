"""Decides about a candidate: reinforce, merge, supersede, create or drop. The cheapest check comes first."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from agents.curation.rules.ending import Ended
from agents.curation.rules.guards import objection
from agents.curation.rules.merge import adds, loses_words
from agents.curation.rules.normalise import normalise
from agents.curation.rules.scored import Scored
from agents.curation.rules.similarity import ALIKE, ratio
from agents.curation.rules.sources import new_sources, said_later
from agents.curation.rules.thresholds import Thresholds
from agents.curation.rules.uncertainty import doubt
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy


class Reinforce(Struct, frozen=True):
    """The memory says the same."""

    memory: Memory
    reason: str


class Merge(Struct, frozen=True):
    """The memory says less, or lacks the context."""

    memory: Memory
    reason: str


class Rewrite(Struct, frozen=True):
    """The memory is the note of a conversation that went on, and tells that too."""

    memory: Memory
    reason: str


class Supersede(Struct, frozen=True):
    """The memories no longer hold. `successor` says what does; None: a memory made of the candidate."""

    memories: tuple[Memory, ...]
    successor: Memory | None
    reason: str


class Create(Struct, frozen=True):
    """No memory is similar. `reason` names the guard that objected to the nearest one, if any."""

    reason: str | None = None


class Drop(Struct, frozen=True):
    """Not to be remembered."""

    reason: str


Decision: TypeAlias = Reinforce | Merge | Rewrite | Supersede | Create | Drop


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
    ended: Sequence[Ended] = (),
    objected: str | None = None,
) -> Decision:
    """`exact` has the candidate's normalised text and is live; so are `ended`, the memories that cannot hold beside it.

    `neighbours` come nearest first, from `thresholds.related`. What the model says is evidence: `repeats` and `refines` decide
    only without an objection. `objected` is why its `contradicts` was not believed.
    """
    if candidate.confidence < policy.min_confidence:
        return Drop(f"confidence {candidate.confidence:g} is below {policy.min_confidence:g}")
    if candidate.rated < policy.min_importance:
        return Drop(f"importance {candidate.rated:g} is below {policy.min_importance:g}")
    if (later := next((each.memory for each in ended if said_later(each.memory, candidate)), None)) is not None:
        return Drop(f"outdated: {later.memory_id} was said later and contradicts it")
    gone = {each.memory.memory_id for each in ended}
    others = [near for near in neighbours if near.memory.memory_id not in gone and of_one_word(candidate, near.memory)]
    match, reason = matching(candidate, exact, others, thresholds, policy.max_text_chars)
    if ended:
        return Supersede(tuple(each.memory for each in ended), match, ended[0].reason)
    if match is None:
        return Create(reason or objected)
    if adds(candidate, match, policy.max_text_chars):
        return Merge(match, reason or "")
    if not new_sources(candidate, match):
        return Drop(f"repeated: {match.memory_id} has it from the same messages")
    return Reinforce(match, reason or "")


def of_one_word(candidate: Candidate, memory: Memory) -> bool:
    """Whether users said both, or neither: else the assistant's words would become a user's, unless they are the same."""
    return (candidate.attributed_to is None) == (memory.attributed_to is None)


def matching(
    candidate: Candidate, exact: Memory | None, neighbours: Sequence[Scored], thresholds: Thresholds, most_chars: int
) -> tuple[Memory | None, str | None]:
    """The memory that says the same, and by what it is taken for that; or None, and the guard that objected to the likest."""
    if exact is not None:
        return exact, "the same text"
    objected = None
    for like in likenesses(candidate, neighbours, thresholds):
        guard = opposition(candidate, like)
        if guard is None and loses_words(like.memory, candidate, most_chars):
            guard = "words that both must keep"
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
    if not like.automatic and in_other_language(candidate, like.memory):
        return guard if guard in ("numbers", "times") else None
    if guard is not None and candidate.refines == like.memory.memory_id:
        guard = objection(like.memory.text, candidate.text)
    if guard is None and like.automatic:
        return doubt(candidate.text, like.memory.text)
    return guard


def in_other_language(candidate: Candidate, memory: Memory) -> bool:
    """Words of two languages differ whatever they say: then only figures can object to the model's word."""
    mine, theirs = candidate.language, memory.language
    return mine is not None and theirs is not None and mine.partition("-")[0] != theirs.partition("-")[0]
