"""What a model's verdict makes of a candidate. It stays evidence: the rules hold it to what the namespace is then."""

from collections.abc import Sequence

from msgspec.structs import replace

from agents.curation.rules.merge import says_news
from agents.curation.rules.statement import statement
from agents.models.port import Verdict
from schemas import ids
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory


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
    candidates: Sequence[Candidate], near: Sequence[Sequence[Memory]], most: int
) -> tuple[tuple[Candidate, ...], tuple[Memory, ...]]:
    """The candidates that have something to do with memories, all of them if there are several, and those memories, the
    nearest of each first, `most` at most; nothing where there is nothing to compare."""
    memories: dict[str, Memory] = {}
    for place in range(max(map(len, near), default=0)):
        for found in near:
            if place < len(found) and len(memories) < most:
                memories.setdefault(found[place].memory_id, found[place])
    if len(candidates) < 2 and not memories:
        return (), ()
    return tuple(candidates), tuple(memories.values())
