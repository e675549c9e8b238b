"""Chooses the statements that a model compares with each other, and reads its answers. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agents.curation.rules.ledger import Ledger, cosine
from agents.curation.rules.normalise import normalise
from agents.models.offline.rules.languages import language_of
from agents.models.one_language import primary
from schemas import ids
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory
from sinks.comparison.port import Pair, Relation
from sinks.vectors.port import Neighbour, Vector

MOST_COMPARED: Final = 8  # per candidate, the nearest first
ENDS: Final = 0.9
LANGUAGE: Final = "en"  # of the statements that the model was trained with
REASON: Final = "the candidate replaces it"


def pairs_to_compare(
    ledger: Ledger,
    candidates: Sequence[Candidate],
    neighbours: Sequence[Sequence[Neighbour]],
    vectors: Mapping[str, Vector],
    comparable: float,
) -> tuple[Pair, ...]:
    """Each new candidate with the live memories, and the other candidates, that have a cosine of at least `comparable`."""
    pairs: dict[Pair, None] = {}
    for candidate, found in zip(candidates, neighbours, strict=True):
        if not is_new(ledger, candidate) or not is_english(candidate.text, candidate.language):
            continue
        near = [*near_memories(ledger, found), *other_candidates(candidate, candidates, vectors)]
        texts = [text for score, text in sorted(near, reverse=True) if score >= comparable]
        others = [text for text in texts if normalise(text) != normalise(candidate.text)]
        pairs |= dict.fromkeys(Pair(text, candidate.text) for text in others[:MOST_COMPARED])
    return tuple(pairs)


def is_new(ledger: Ledger, candidate: Candidate) -> bool:
    return ledger.exact(candidate.text) is None and not ledger.knows(ids.memory_id(candidate.candidate_id))


def near_memories(ledger: Ledger, found: Sequence[Neighbour]) -> Iterator[tuple[float, str]]:
    """Cosines and texts of live English memories."""
    for each in found:
        memory = ledger.find_live(each.memory_id)
        if memory is not None and is_english(memory.text, memory.language):
            yield each.score, memory.text


def other_candidates(
    candidate: Candidate, candidates: Sequence[Candidate], vectors: Mapping[str, Vector]
) -> Iterator[tuple[float, str]]:
    """Cosines and texts of the part's other English candidates, which may become memories before this one is decided."""
    for other in candidates:
        if other is not candidate and is_english(other.text, other.language):
            yield cosine(vectors[candidate.text], vectors[other.text]), other.text


def is_replaced(candidate: Candidate, memory: Memory, relations: Mapping[Pair, Relation]) -> bool:
    """Whether the memory no longer holds once the candidate does, by the model's answer."""
    relation = relations.get(Pair(memory.text, candidate.text))
    return relation is not None and relation.ends >= ENDS


def is_english(text: str, language: str | None) -> bool:
    return (primary(language) if language else language_of(text)) == LANGUAGE
