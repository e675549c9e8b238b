"""Selects candidates for a model's verdicts, and applies these. A verdict is evidence: the rules check it against the current
memories."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.decisions.decision_inputs import DecisionInputs, NeedsVerdicts
from agents.curation.rules.decisions.incoming import in_message_order, named_ids
from agents.curation.rules.ledger.ledger import Concern, Ledger, cosine
from agents.curation.rules.ledger.merge import preserves
from agents.curation.rules.statements.guards import objection
from agents.curation.rules.statements.languages import are_other_languages, as_translated, in_other_language
from agents.curation.rules.statements.statement import statement
from agents.curation.rules.statements.uncertainty import new_words
from agents.models.port import Verdict
from schemas.extraction.candidates import MAX_NAMED, Candidate
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from sinks.vectors.port import Neighbour, Vector

NAME_CHARS: Final = 4
# The greatest share of new words in an addition. A repetition in other words has more of them.
MAX_ADDED: Final = 0.5
# Memories shown to the model that compares candidates with memories: neighbours per candidate and in total; memories in other
# languages per candidate and in total.
SHOWN_PER_CANDIDATE: Final = 6
MAX_SHOWN: Final = 24
OTHER_LANGUAGES_PER_CANDIDATE: Final = 4
MAX_OTHER_LANGUAGES: Final = 8


def with_verdicts(
    ledger: Ledger,
    candidates: Sequence[Candidate],
    concerns: Sequence[Concern],
    found: Sequence[Sequence[Neighbour]],
    prepared: DecisionInputs,
    policy: Policy,
    foreign: Mapping[str, Sequence[Memory]],
    least: float,
) -> tuple[Candidate, ...]:
    """The candidates with the model's verdicts applied. `found` has the neighbours of each candidate that have a cosine of at
    least `least`, `foreign` by language the memories in other languages.

    Raises NeedsVerdicts if the policy wants a model's verdicts, none were requested yet, and a new candidate has something to be
    compared with.
    """
    if policy.resolve and prepared.verdicts is None:
        new = [place for place in in_message_order(candidates) if ledger.is_new(candidates[place], concerns[place])]
        near = {
            place: [
                memory
                for each in found[place]
                if (memory := ledger.find_live(each.memory_id)) is not None and concerns[place](memory)
            ][:SHOWN_PER_CANDIDATE]
            for place in new
        }
        others = {
            place: in_other_languages(
                candidates[place], foreign.get(candidates[place].language or "", ()), OTHER_LANGUAGES_PER_CANDIDATE
            )
            for place in new
        }
        asked = [
            place
            for place in new
            if unnamed(candidates[place], (*near[place], *others[place]))
            or is_near_another(candidates[place], [candidates[each] for each in new], prepared.vector, least)
        ]
        unresolved, memories = select_for_resolving(
            [candidates[place] for place in asked],
            [near[place] for place in asked],
            MAX_SHOWN,
            [others[place] for place in asked],
            MAX_OTHER_LANGUAGES,
        )
        if unresolved:
            raise NeedsVerdicts(unresolved, memories)
    judged = []
    for each, concerned in zip(candidates, concerns, strict=True):
        verdict = (prepared.verdicts or {}).get(each.candidate_id)
        same = ledger.find_live(verdict.same) if verdict else None
        if verdict is not None and same is not None and not concerned(same):
            same, verdict = None, replace(verdict, same=None, text=None, says_more=False)
        judged.append(apply_verdict(each, verdict, same, policy.one_language))
    return tuple(judged)


def unnamed(candidate: Candidate, memories: Iterable[Memory]) -> list[Memory]:
    """The memories of which the extracting model did not say yet what the candidate is to them."""
    named = {*named_ids(candidate), candidate.repeats}
    return [each for each in memories if each.memory_id not in named]


def is_near_another(
    candidate: Candidate, candidates: Sequence[Candidate], vector_of: Callable[[str], Vector], least: float
) -> bool:
    """Whether the candidate may correct another one, or the other one it."""
    vector = vector_of(candidate.text)
    return any(
        cosine(vector, vector_of(other.text)) >= least or are_other_languages(candidate.language, other.language)
        for other in candidates
        if other is not candidate
    )


def apply_verdict(
    candidate: Candidate, verdict: Verdict | None, same: Memory | None = None, one_language: str | None = None
) -> Candidate:
    """The candidate with the verdict's relations; `same` is the memory that the verdict names. The verdict's text is used
    unless it lacks content of the candidate; it is in that memory's language, or in the policy's. If the verdict's text could not
    be used, the candidate still says more than the memory."""
    if verdict is None:
        return candidate
    ended = [*candidate.supersedes, *verdict.ends, *verdict.untrue]
    corrected = verdict.corrects if candidate.valid_until is None else ()  # a temporary statement takes nothing back
    found = replace(
        candidate,
        contradicts=None if candidate.contradicts == verdict.same else candidate.contradicts,
        supersedes=tuple(dict.fromkeys(each for each in ended if each != verdict.same))[:MAX_NAMED],
        corrects=tuple(dict.fromkeys((*candidate.corrects, *corrected)))[:MAX_NAMED],
    )
    if verdict.same is None:
        return found
    refining = replace(found, refines=verdict.same, repeats=None)
    if verdict.text is None:
        return refining if verdict.says_more else replace(found, repeats=verdict.same, refines=None)
    language = one_language or (same and same.language) or candidate.language
    if not preserves(verdict.text, language, candidate.text, candidate.language):
        return refining
    written = replace(refining, text=verdict.text, language=language)
    crosses = same is not None and (in_other_language(candidate, same) or in_other_language(written, same))
    return as_translated(written) if crosses else written


def with_addition(candidate: Candidate, repeated: Memory | None) -> Candidate:
    """The candidate as a refinement of the memory that it repeats by a model's answer, if it adds words to that memory's and no
    guard objects: a repetition would lose them."""
    if (
        repeated is None
        or in_other_language(candidate, repeated)
        or objection(candidate.text, repeated.text) is not None
    ):
        return candidate
    new, old = statement(candidate.text), statement(repeated.text)
    added = new_words(new, old)
    is_addition = 0 < len(added) <= MAX_ADDED * len(set(new.content))
    return replace(candidate, refines=repeated.memory_id, repeats=None) if is_addition else candidate


def select_for_resolving(
    candidates: Sequence[Candidate],
    near: Sequence[Sequence[Memory]],
    most: int,
    foreign: Sequence[Sequence[Memory]] = (),
    max_foreign: int = 0,
) -> tuple[tuple[Candidate, ...], tuple[Memory, ...]]:
    """The candidates to compare, and the memories to compare them with: those with nearby memories, or all if there are
    several. Memories are the nearest of each first, at most `most`, then at most `max_foreign` in other languages. Empty
    if there is nothing to compare."""
    memories = interleaved(near, most)
    memories |= interleaved(
        [[each for each in found if each.memory_id not in memories] for found in foreign], max_foreign
    )
    if len(candidates) < 2 and not memories:
        return (), ()
    return tuple(candidates), tuple(memories.values())


def interleaved(found: Sequence[Sequence[Memory]], most: int) -> dict[str, Memory]:
    """The first memory of each list, then the second of each, and so on, without duplicates."""
    memories: dict[str, Memory] = {}
    for place in range(max(map(len, found), default=0)):
        for each in found:
            if place < len(each) and len(memories) < most:
                memories.setdefault(each[place].memory_id, each[place])
    return memories


def in_other_languages(candidate: Candidate, latest: Sequence[Memory], most: int) -> list[Memory]:
    """Memories in other languages that may have the candidate's statement, the latest first: embedders rarely find them.
    Those that share names or numbers come first, then those of the same kind."""
    said, figures = long_words(candidate.text), statement(candidate.text).quantities

    def shared(memory: Memory) -> int:
        return len(said & long_words(memory.text)) + len(figures & statement(memory.text).quantities)

    return sorted(latest, key=lambda each: (-shared(each), each.kind != candidate.kind))[:most]


def long_words(text: str) -> set[str]:
    """Words that two languages may share are mostly names; short words are left out."""
    return {each for each in statement(text).tokens if len(each) >= NAME_CHARS}
