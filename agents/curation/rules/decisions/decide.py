"""Decides about a candidate: reinforce, merge, supersede, create or drop. Cheap checks come first."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from agents.curation.rules.attributes.readings import readings
from agents.curation.rules.conflicts.conflicts import conflict
from agents.curation.rules.decisions.contradictions import EndedMemory
from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger.merge import adds_content, would_lose_words
from agents.curation.rules.ledger.scored import Scored
from agents.curation.rules.ledger.sources import last_said, new_sources, said_later
from agents.curation.rules.statements.guards import objection, objections
from agents.curation.rules.statements.languages import FIGURES, in_other_language
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.similarity import ALIKE, ratio
from agents.curation.rules.statements.uncertainty import doubt
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

# Guards that apply to two statements with the same value of an attribute.
STATE_GUARDS: Final = ("negation", "preference", "ended", "scope", "wish", "tense")
ONE_MODEL: Final = "the model's verdict"
TWO_MODELS: Final = "the verdicts of two models"
# Guards that apply to a match by two models.
CONFIRMED_GUARDS: Final = ("numbers", "times", "ended", "opposites", "subject", "names")


class Reinforce(Struct, frozen=True):
    """The memory has the same statement."""

    memory: Memory
    reason: str


class Merge(Struct, frozen=True):
    """The memory has the same statement with less content or context."""

    memory: Memory
    reason: str


class Rewrite(Struct, frozen=True):
    """The memory is the note of a conversation that continued: its text is rewritten with the candidate."""

    memory: Memory
    reason: str


class Supersede(Struct, frozen=True):
    """The memories no longer hold. `successor` is the memory that replaces them; None: a new one of the candidate."""

    memories: tuple[Memory, ...]
    successor: Memory | None
    reason: str


class Create(Struct, frozen=True):
    """No memory has the statement. `reason` names the guard that objected to the nearest one, if any."""

    reason: str | None = None


class Drop(Struct, frozen=True):
    """The candidate is not stored."""

    reason: str


Decision: TypeAlias = Reinforce | Merge | Rewrite | Supersede | Create | Drop


class PossibleMatch(Struct, frozen=True):
    """A memory that may have the same statement, and the reason. `automatic` matches need no verdict of a model.
    `same_attribute`: both give an attribute the same value, in any words. `confirmed`: two models call them the same."""

    memory: Memory
    reason: str
    automatic: bool
    same_attribute: bool = False
    confirmed: bool = False


def decide(
    candidate: Candidate,
    exact: Memory | None,
    neighbours: Sequence[Scored],
    policy: Policy,
    thresholds: Thresholds,
    ended: Sequence[EndedMemory] = (),
    objected: str | None = None,
    confirmed: Collection[str] = (),
    *,
    ahead: bool = False,
) -> Decision:
    """Decides about one candidate. `exact` is the live memory with its normalised text. `ended` are live memories that it
    contradicts.

    `neighbours` are sorted by cosine, highest first, from `thresholds.related` on, plus memories with the same value of an
    attribute and those `confirmed`, which a second model calls the same. The model's `repeats` and `refines` count only without
    an objection; if confirmed, fewer guards may object. `objected` says why its `contradicts` was ignored. `ahead`: the
    candidate begins in the future.
    """
    if candidate.confidence < policy.min_confidence:
        return Drop(f"confidence {candidate.confidence:g} is below {policy.min_confidence:g}")
    if candidate.rated < policy.min_importance:
        return Drop(f"importance {candidate.rated:g} is below {policy.min_importance:g}")
    ended_ids = {each.memory.memory_id for each in ended}
    newer = [each.memory for each in ended if said_later(each.memory, candidate)]
    older = [each for each in ended if each.memory not in newer]
    if (later := outdating(candidate, newer, older, ahead=ahead)) is not None:
        return Drop(f"outdated: {later.memory_id} was said later and contradicts it")
    ended = ended if ahead else older
    others = [
        near
        for near in neighbours
        if near.memory.memory_id not in ended_ids and has_same_attribution(candidate, near.memory)
    ]
    match, reason = find_match(candidate, exact, others, thresholds, policy.max_text_chars, confirmed)
    if ended:
        return Supersede(tuple(each.memory for each in ended), match, ended[0].reason)
    if match is None:
        return Create(reason or objected)
    if adds_content(candidate, match, policy.max_text_chars):
        return Merge(match, reason or "")
    if not new_sources(candidate, match):
        return Drop(f"repeated: {match.memory_id} has it from the same messages")
    return Reinforce(match, reason or "")


def folds_into(decision: Decision, note: Memory) -> bool:
    """Whether the decision reinforces or merges the conversation's note: the candidate is its next version, whatever a model says
    that it repeats."""
    return isinstance(decision, Reinforce | Merge) and decision.memory.memory_id == note.memory_id


def outdating(
    candidate: Candidate, newer: Sequence[Memory], ended: Sequence[EndedMemory], *, ahead: bool
) -> Memory | None:
    """The memory that was said later and by which the candidate no longer holds: one that contradicts it by the rules, or any
    if the candidate ends no other memory. A plan is outdated by another plan only: what was said later holds until then."""
    if ahead:
        return next((each for each in newer if begins_later(each)), None)
    if newer and not ended:
        return newer[0]
    return next(
        (each for each in newer if conflict(each.text, candidate.text) or conflict(candidate.text, each.text)), None
    )


def begins_later(memory: Memory) -> bool:
    """Whether the memory begins after it was said."""
    said = last_said(memory.sources)
    return memory.valid_from is not None and said is not None and memory.valid_from > said


def has_same_attribution(candidate: Candidate, memory: Memory) -> bool:
    """Whether both are users' statements, or both the assistant's or a tool's: otherwise the assistant's words could become
    a user's."""
    return (candidate.attributed_to is None) == (memory.attributed_to is None)


def find_match(
    candidate: Candidate,
    exact: Memory | None,
    neighbours: Sequence[Scored],
    thresholds: Thresholds,
    max_chars: int,
    confirmed: Collection[str] = (),
) -> tuple[Memory | None, str | None]:
    """The memory with the same statement, and the reason; otherwise None, and the objection to the best possible match."""
    if exact is not None:
        return exact, "the same text"
    objected = None
    for possible in possible_matches(candidate, neighbours, thresholds, confirmed):
        guard = guard_objection(candidate, possible)
        if guard is None and would_lose_words(possible.memory, candidate, max_chars):
            guard = "words that do not fit into one text"
        if guard is None:
            return possible.memory, possible.reason
        objected = objected or f"{guard} differ from {possible.memory.memory_id} at {possible.reason}"
    return None, objected


def possible_matches(
    candidate: Candidate, neighbours: Sequence[Scored], thresholds: Thresholds, confirmed: Collection[str] = ()
) -> Iterator[PossibleMatch]:
    """Possible matches by text similarity, by attributes, by vectors, then by the model's verdict; the best first of each."""
    text = normalise(candidate.text)
    ratios = [(ratio(text, normalise(near.memory.text)), near.memory) for near in neighbours]
    for letter_ratio, memory in sorted(ratios, key=lambda each: -each[0]):
        if letter_ratio > ALIKE:
            yield PossibleMatch(memory, f"Levenshtein {letter_ratio:.3f}", automatic=True)
    for near in neighbours:
        if (same := same_attribute_value(candidate.text, near.memory.text)) is not None:
            yield PossibleMatch(near.memory, f"the same {same}", automatic=True, same_attribute=True)
    for near in neighbours:
        if near.score >= thresholds.merge:
            yield PossibleMatch(near.memory, f"cosine {near.score:.3f}", automatic=True)
    for near in neighbours:
        if near.memory.memory_id in (candidate.repeats, candidate.refines):
            by_two = near.memory.memory_id in confirmed
            reason = f"{TWO_MODELS if by_two else ONE_MODEL}, cosine {near.score:.3f}"
            yield PossibleMatch(near.memory, reason, automatic=False, confirmed=by_two)


def same_attribute_value(text: str, other: str) -> str | None:
    """The attribute to which both statements give the same value, if they say nothing else."""
    theirs = readings(other)
    found = (mine.attribute for mine in readings(text) if any(mine.says_as_much(each) for each in theirs))
    return next((attribute.partition(",")[0] for attribute in found), None)


def guard_objection(candidate: Candidate, possible: PossibleMatch) -> str | None:
    """The guard that objects to the match; None if there is none. For a refinement the guards check that the memory says
    nothing that the candidate lacks."""
    guard = objection(candidate.text, possible.memory.text)
    if possible.same_attribute:
        return guard if guard in STATE_GUARDS else None
    if not possible.automatic and in_other_language(candidate, possible.memory):
        return guard if guard in FIGURES else None
    if possible.confirmed:
        return next((each for each in said_otherwise(candidate, possible.memory) if each in CONFIRMED_GUARDS), None)
    if guard is not None and candidate.refines == possible.memory.memory_id:
        guard = objection(possible.memory.text, candidate.text)
    if guard is None and possible.automatic:
        return doubt(candidate.text, possible.memory.text)
    return guard


def said_otherwise(candidate: Candidate, memory: Memory) -> Iterator[str]:
    """The guards that object to a repetition; for a refinement, those that find something of the memory missing."""
    if candidate.refines == memory.memory_id:
        return objections(memory.text, candidate.text)
    return objections(candidate.text, memory.text)
