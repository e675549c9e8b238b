"""Which memories no longer hold once a candidate does: by the rules, and by the model's word as far as it is believed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from agents.curation.rules.attributes import owners, readings
from agents.curation.rules.conflicts import conflict
from agents.curation.rules.guards import objection
from agents.curation.rules.normalise import normalise
from agents.curation.rules.scored import Scored
from agents.curation.rules.statement import statement
from agents.curation.rules.uncertainty import doubt
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory

FAR: Final = 0.25  # of what is left of a cosine above `akin`: as far below it, a model is not believed either
MODEL: Final = "the candidate contradicts it"


class Ended(Struct, frozen=True):
    """A memory that cannot hold beside a candidate, and why."""

    memory: Memory
    reason: str


def ended_memories(
    candidate: Candidate, named: Iterable[Memory], cosines: Mapping[str, float], near: Sequence[Scored], akin: float
) -> tuple[tuple[Ended, ...], str | None]:
    """Those that the model named and that no guard spares, then those that the rules find; and the first guard's objection.

    `named` and `near` are live, `cosines` those that are known of the named ones; from `akin` on two statements have something
    to do with each other.
    """
    found: dict[str, Ended] = {}
    objected: str | None = None
    for memory in named:
        guard = disbelief(candidate, memory, cosines.get(memory.memory_id), akin)
        guard = "a user said it, and this is attributed" if outweighed(candidate, memory) else guard
        if guard is None:
            found[memory.memory_id] = Ended(memory, MODEL)
        else:
            objected = objected or f"{memory.memory_id} is not contradicted: {guard}"
    for each in near:
        if each.memory.memory_id in found or each.memory.memory_id in (candidate.repeats, candidate.refines):
            continue
        if outweighed(candidate, each.memory):
            continue
        if not stands_beside(candidate, each.memory) and (why := conflict(candidate.text, each.memory.text)):
            found[each.memory.memory_id] = Ended(each.memory, why)
    return tuple(found.values()), objected


def outweighed(candidate: Candidate, memory: Memory) -> bool:
    """What the assistant or a tool states ends nothing that a user said."""
    return candidate.attributed_to is not None and memory.attributed_to is None


def stands_beside(candidate: Candidate, memory: Memory) -> bool:
    """What holds for a time only ends nothing that holds for good, and is not ended by it: it ends by itself."""
    bounded = memory.valid_until is not None and memory.superseded_by is None
    return (candidate.valid_until is not None) != bounded


def disbelief(candidate: Candidate, memory: Memory, cosine: float | None, akin: float) -> str | None:
    """Why a model is not believed that says that the candidate contradicts a memory; None where it is."""
    if says_the_same(candidate, memory):
        return "it says the same"
    if conflict(candidate.text, memory.text) is not None:
        return None
    if of_others(candidate.text, memory.text):
        return "it is about somebody else"
    if cosine is not None and cosine < akin - (1 - akin) * FAR and of_one_language(candidate, memory):
        return f"it has nothing to do with it, cosine {cosine:.3f}"
    return None


def of_others(text: str, other: str) -> bool:
    """Whether a statement is plainly about somebody else than the other one. What tells that something of the user's is over, or
    names whom the other one names, may be about the same: `is divorced`, `husband is Pavel`."""
    new, old, mine, theirs = statement(text), statement(other), owners(text), owners(other)
    if mine == theirs or not (new.understood and old.understood):
        return False
    attributes = {each.attribute for each in readings(text)}
    if attributes & {each.attribute for each in readings(other)} or not theirs:
        return True
    is_over = new.ended or new.denied or new.negated is not None or any(each.state for each in readings(text))
    return not is_over and set(new.names).isdisjoint(old.names)


def of_one_language(candidate: Candidate, memory: Memory) -> bool:
    """Cosines of two languages say little with most models."""
    if candidate.language and memory.language:
        return candidate.language.partition("-")[0] == memory.language.partition("-")[0]
    return statement(candidate.text).understood and statement(memory.text).understood


def says_the_same(candidate: Candidate, memory: Memory) -> bool:
    """Nothing contradicts what it says word for word, or in the same words as far as they mean something."""
    if normalise(candidate.text) == normalise(memory.text):
        return True
    same = statement(candidate.text).content == statement(memory.text).content
    return same and objection(candidate.text, memory.text) is None and doubt(candidate.text, memory.text) is None
