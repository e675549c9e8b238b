"""Finds the memories that no longer hold once a candidate does, by rules and by the model's verdict."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct

from agents.curation.rules.conflicts.conflicts import conflict
from agents.curation.rules.decisions.comparing import REASON, is_replaced, rest_of_memory
from agents.curation.rules.decisions.persons import is_about_somebody_else, may_be_about_one
from agents.curation.rules.decisions.thresholds import unrelated
from agents.curation.rules.ledger.ledger import Concern, Ledger
from agents.curation.rules.ledger.personal_namespaces import is_personal, names_one_person
from agents.curation.rules.ledger.scored import Scored
from agents.curation.rules.ledger.sources import last_said, said_later
from agents.curation.rules.statements.guards import objection
from agents.curation.rules.statements.normalise import normalise
from agents.curation.rules.statements.statement import statement
from agents.curation.rules.statements.uncertainty import doubt
from agents.models.answers.speakers import begins_with_user
from agents.models.one_language import primary_subtag
from agents.models.port import Verdict
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from sinks.classification.port import Pair, Relation

# Least confidence of a candidate that ends a memory of at least this confidence. Prompt and rules give hedged statements ("may be
# gone") less, and implied ones more.
MIN_ENDING_CONFIDENCE: Final = 0.5
MODEL: Final = "the candidate contradicts it"
CORRECTED: Final = "the same slice corrects it"
UNTRUE: Final = "the candidate takes it back as never true"
RUNS_OUT: Final = re.compile(
    r"\b(?:expires?|runs? out|ends?|lapses?|is over|läuft .*\b(?:ab|aus)|endet|prend fin|se termine|vence|termina|caduca)\b",
    re.IGNORECASE,
)


class EndedMemory(Struct, frozen=True):
    """A memory that contradicts a candidate, and why. `rest` is its text without the clause that ends; None: all of it ends.
    `until` is when it ends by a model's verdict."""

    memory: Memory
    reason: str
    rest: str | None = None
    until: datetime | None = None


def contradicted_memories(
    candidate: Candidate,
    named: Iterable[Memory],
    cosines: Mapping[str, float],
    near: Sequence[Scored],
    comparable: float,
    corrected: Collection[str] = (),
    relations: Mapping[Pair, Relation] | None = None,
    verdict: Verdict | None = None,
    *,
    in_part: bool = True,
) -> tuple[tuple[EndedMemory, ...], str | None]:
    """The memories that the candidate ends: those that the model named and no guard spares, then those that the rules find, and
    the nearest that ends by the comparison of both statements. Also the objection of the first guard.

    `named` and `near` are live memories, `near` nearest first; `cosines` has the known cosines of named ones. Two statements with
    a cosine of at least `comparable` may be about the same. Memories in `corrected` end unless they say the same. `verdict` says
    when memories end, and which were never true. Without `in_part` memories end as a whole.
    """
    found: dict[str, EndedMemory] = {}
    objected: str | None = None
    for memory in named:
        reason, until = named_ending(memory, corrected, verdict)
        guard = reason_to_keep(candidate, memory, cosines.get(memory.memory_id), comparable, reason, until)
        if guard is None:
            may_stay = in_part and reason != CORRECTED and not said_later(memory, candidate)
            rest = rest_of_memory(candidate, memory, relations or {}) if may_stay else None
            found[memory.memory_id] = EndedMemory(memory, reason, rest, until)
        else:
            objected = objected or f"{memory.memory_id} is not contradicted: {guard}"
    may_end_wholly = True
    for each in near:
        if each.memory.memory_id in found or each.memory.memory_id in (candidate.repeats, candidate.refines):
            continue
        if is_outweighed(candidate, each.memory) or can_hold_beside(candidate, each.memory):
            continue
        why = conflict(candidate.text, each.memory.text)
        replaced = is_replaced(candidate, each.memory, relations or {})
        rest = rest_of_memory(candidate, each.memory, relations or {}) if replaced and in_part else None
        if why is None and replaced and (may_end_wholly or rest is not None):
            guard = reason_to_ignore(candidate, each.memory, each.score, comparable)
            why = REASON if guard is None else None
        if why is not None:
            found[each.memory.memory_id] = EndedMemory(each.memory, why, rest)
            may_end_wholly = may_end_wholly and not replaced  # of memories further away, most hold beside the candidate
    return tuple(found.values()), objected


def named_ending(memory: Memory, corrected: Collection[str], verdict: Verdict | None) -> tuple[str, datetime | None]:
    """Why a memory that a model named ends, and the time of its end if a verdict names it."""
    if memory.memory_id in corrected:
        return CORRECTED, None
    if verdict is not None and memory.memory_id in verdict.untrue:
        return UNTRUE, None
    return MODEL, verdict.until if verdict is not None and memory.memory_id in verdict.ends else None


def reason_to_keep(
    candidate: Candidate,
    memory: Memory,
    cosine: float | None,
    comparable: float,
    reason: str,
    until: datetime | None,
) -> str | None:
    """The guard that protects a memory that a model named; None if it ends."""
    if is_outweighed(candidate, memory):
        return "a user stated it, and the candidate is attributed"
    guard = reason_to_ignore(candidate, memory, cosine, comparable, reason == CORRECTED, is_named=True)
    if guard is None and reason == MODEL and is_interrupted(candidate, memory, until):
        return "it holds again after the candidate"
    return guard


def reason_to_spare(candidate: Candidate, ended: EndedMemory) -> str | None:
    """Why the memory stays beside the candidate although the two contradict each other; None if it ends. A correction within a
    slice always counts."""
    if ended.reason == CORRECTED or said_later(ended.memory, candidate):
        return None
    if candidate.confidence < MIN_ENDING_CONFIDENCE <= ended.memory.confidence:
        return f"the candidate's confidence is only {candidate.confidence:g}"
    return None


class Endings(NamedTuple):
    """The memories that a candidate contradicts: those that end, `wholly` or `in_part`, and those that stay beside it.
    `objection` says why the first of them stays."""

    wholly: list[EndedMemory]
    in_part: list[EndedMemory]
    spared: list[Memory]
    objection: str | None

    @property
    def staying(self) -> set[str]:
        """The ids of memories that stay live, which the candidate therefore does not repeat."""
        return {each.memory_id for each in self.spared} | {each.memory.memory_id for each in self.in_part}


def sorted_endings(
    ledger: Ledger, candidate: Candidate, contradicted: Iterable[EndedMemory], objection: str | None
) -> Endings:
    """`objection` is that of the first guard, which counts if no memory is spared."""
    reasons = [(each, reason_to_spare(candidate, each)) for each in contradicted]
    ended = [each for each, why in reasons if why is None]
    in_part = [each for each in ended if each.rest is not None and ledger.exact(each.rest) is None]
    objections = (f"{each.memory.memory_id} is not ended: {why}" for each, why in reasons if why is not None)
    return Endings(
        wholly=[each for each in ended if each not in in_part],
        in_part=in_part,
        spared=[each.memory for each, why in reasons if why is not None],
        objection=next(objections, objection),
    )


def is_outweighed(candidate: Candidate, memory: Memory) -> bool:
    """Whether the assistant or a tool stated the candidate and a user the memory: the memory then stays."""
    return candidate.attributed_to is not None and memory.attributed_to is None


def concern_of(candidate: Candidate, namespace: str, policy: Policy) -> Concern:
    """Returns a function that tells whether the candidate may repeat or end a memory: in a namespace of several people a
    statement about its speaker never concerns what only others told."""
    if candidate.told_by:
        is_of_one = any(is_personal(namespace, policy, each) for each in candidate.told_by)
    else:
        is_of_one = names_one_person(namespace, policy)
    return lambda memory: is_of_one or not is_of_another(candidate, memory)


def is_of_another(candidate: Candidate, memory: Memory) -> bool:
    """Whether the candidate states something about its speaker, and only others told the memory: neither can end or repeat
    the other, whatever the words. "User lives in Lyon" of one person says nothing about another."""
    about_speaker = candidate.about_speaker or begins_with_user(candidate.text)
    if not about_speaker or candidate.attributed_to is not None:
        return False
    return bool(memory.told_by) and set(memory.told_by).isdisjoint(candidate.told_by)


def can_hold_beside(candidate: Candidate, memory: Memory) -> bool:
    """Whether one of the two is temporary and the other is not: then neither ends the other."""
    return (candidate.valid_until is not None) != is_bounded(memory)


def is_bounded(memory: Memory) -> bool:
    """Whether the memory is temporary. A permanent memory has an end only with a successor."""
    return memory.valid_until is not None and memory.superseded_by is None


def is_interrupted(candidate: Candidate, memory: Memory, until: datetime | None = None) -> bool:
    """Whether the candidate is temporary and the memory is not. A candidate that says the same with an end ("works at Kone until
    June") and one whose end is past do not count, nor one that says that something runs out ("the permit expires in June") if
    the memory ends at `until`."""
    said = last_said(candidate.sources)
    if candidate.valid_until is None or (said is not None and candidate.valid_until <= said) or is_bounded(memory):
        return False
    if until is not None and RUNS_OUT.search(candidate.text):
        return False
    new, old = statement(candidate.text), statement(memory.text)
    return not set(old.content) <= set(new.content) or (new.negated is None) != (old.negated is None)


def reason_to_ignore(
    candidate: Candidate,
    memory: Memory,
    cosine: float | None,
    comparable: float,
    is_corrected: bool = False,
    *,
    is_named: bool = False,
) -> str | None:
    """Why a model's answer that the candidate ends the memory is ignored; None if it counts. A language model that names the
    memory may mean one person of several ("son Max" of "two children, Max and Ida")."""
    if says_the_same(candidate, memory):
        return "it says the same"
    if is_corrected or conflict(candidate.text, memory.text) is not None:
        return None
    of_one = is_named and may_be_about_one(candidate.text, memory.text)
    if not of_one and is_about_somebody_else(candidate.text, memory.text):
        return "it is about somebody else"
    if cosine is not None and cosine < unrelated(comparable) and is_same_language(candidate, memory):
        return f"it is unrelated, cosine {cosine:.3f}"
    return None


def is_same_language(candidate: Candidate, memory: Memory) -> bool:
    """Whether both are in one language: with most models cosines across languages are not comparable."""
    if candidate.language and memory.language:
        return primary_subtag(candidate.language) == primary_subtag(memory.language)
    return statement(candidate.text).understood and statement(memory.text).understood


def says_the_same(candidate: Candidate, memory: Memory) -> bool:
    """Whether both have the same text, or the same content words without an objection."""
    if normalise(candidate.text) == normalise(memory.text):
        return True
    same = statement(candidate.text).content == statement(memory.text).content
    return same and objection(candidate.text, memory.text) is None and doubt(candidate.text, memory.text) is None
