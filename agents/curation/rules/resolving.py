"""What a model's verdict makes of a candidate. It stays evidence: the rules hold it to what the namespace is then."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.merge import says_news
from agents.curation.rules.statement import statement
from agents.models.port import Verdict
from schemas import ids
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory

NAME_CHARS: Final = 4


def resolved(candidate: Candidate, verdict: Verdict | None) -> Candidate:
    """The candidate with what the verdict says. A text that leaves out what the candidate says is not taken."""
    if verdict is None:
        return candidate
    corrected = (ids.memory_id(each) for each in verdict.corrects)
    ended = [*candidate.supersedes, *verdict.ends, *corrected]
    found = replace(
        candidate,
        contradicts=None if candidate.contradicts == verdict.same else candidate.contradicts,
        supersedes=tuple(dict.fromkeys(each for each in ended if each != verdict.same))[:64],
    )
    if verdict.same is None:
        return found
    if verdict.text is None:
        return replace(found, repeats=verdict.same, refines=None)
    keeps = not says_news(statement(candidate.text), statement(verdict.text))
    return replace(found, refines=verdict.same, repeats=None, text=verdict.text if keeps else candidate.text)


def to_be_resolved(
    candidates: Sequence[Candidate],
    near: Sequence[Sequence[Memory]],
    most: int,
    foreign: Sequence[Sequence[Memory]] = (),
    most_foreign: int = 0,
) -> tuple[tuple[Candidate, ...], tuple[Memory, ...]]:
    """The candidates that have something to do with memories, all of them if there are several, and those memories, the
    nearest of each first, `most` at most, then as many as allowed in other languages; nothing where there is nothing to
    compare."""
    memories = in_turn(near, most)
    memories |= in_turn([[each for each in found if each.memory_id not in memories] for found in foreign], most_foreign)
    if len(candidates) < 2 and not memories:
        return (), ()
    return tuple(candidates), tuple(memories.values())


def in_turn(found: Sequence[Sequence[Memory]], most: int) -> dict[str, Memory]:
    """The first of each, then the second of each, and so on, by their ids."""
    memories: dict[str, Memory] = {}
    for place in range(max(map(len, found), default=0)):
        for each in found:
            if place < len(each) and len(memories) < most:
                memories.setdefault(each[place].memory_id, each[place])
    return memories


def in_other_languages(candidate: Candidate, latest: Sequence[Memory], most: int) -> list[Memory]:
    """Of memories in other languages, the latest first, those that may say what a candidate says: embedders hardly let two
    languages meet. Names and figures are alike in most languages, so those that share some come first; then those of its
    kind."""
    said, figures = long_words(candidate.text), statement(candidate.text).quantities

    def shared(memory: Memory) -> int:
        return len(said & long_words(memory.text)) + len(figures & statement(memory.text).quantities)

    return sorted(latest, key=lambda each: (-shared(each), each.kind != candidate.kind))[:most]


def long_words(text: str) -> set[str]:
    """Words that two languages share are names as a rule, but for short ones."""
    return {each for each in statement(text).tokens if len(each) >= NAME_CHARS}
